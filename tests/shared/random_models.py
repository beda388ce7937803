"""Random models of nested bodies, frames, replicates and attached parts, with elements that refer to all of them."""

import random

import mujoco

KINDS = ("body", "joint", "geom", "site")
SIZES = dict(body="nbody", joint="njnt", geom="ngeom", site="nsite")


class RandomModel:
    """One file: text (str), parts (dict file name -> text of every model it attaches), names (dict kind -> list).

    rng  random.Random;  level  how many models attach this one. Parts are made again until MuJoCo reads them.
    """

    def __init__(self, rng, level=0, parts=None):
        self.rng, self.level, self.parts = rng, level, {} if parts is None else parts
        self.names, self.place, self.path = {kind: [] for kind in KINDS}, {}, []
        self.children, self.count, self.copies, self.attached = [], 0, 0, 0
        if level < 2 and rng.random() < (0.8, 0.4)[level]:
            self.children = [self.part() for _ in range(rng.randint(1, 2))]
        tree = "".join(self.content(0) for _ in range(rng.randint(1, 4))) + self.body(3)
        assets = "".join(f'<model name="{name}" file="{name}.xml"/>' for name, _ in self.children)
        self.text = (
            f'<mujoco model="random"><compiler angle="{rng.choice(["radian", "degree"])}"/>'
            f'<asset><material name="paint"/>{assets}</asset><worldbody>{tree}</worldbody>{self.sections()}</mujoco>'
        )

    def part(self):
        """(name, names that it has for MuJoCo) of a model to attach."""
        while True:
            parts = dict(self.parts)
            name = f"part{len(parts)}"
            parts[f"{name}.xml"] = ""
            model = RandomModel(self.rng, self.level + 1, parts)
            try:
                compiled = mujoco.MjModel.from_xml_string(model.text, {k: v.encode() for k, v in parts.items() if v})
            except ValueError:
                continue
            self.parts.update(parts)
            self.parts[f"{name}.xml"] = model.text
            names = {k: [getattr(compiled, k)(i).name for i in range(getattr(compiled, SIZES[k]))] for k in KINDS}
            return name, {kind: [n for n in found if n not in ("", "world")] for kind, found in names.items()}

    def number(self):
        return f"{self.rng.uniform(-1, 1):.2f}"

    def pose(self):
        turn = f' euler="{self.number()} {self.number()} 0"' if self.rng.random() < 0.5 else ""
        return f'pos="{self.number()} {self.number()} {self.number()}"{turn}'

    def new(self, kind):
        """A new name; now and then one that looks like a copy's."""
        known = self.names[kind]
        name = f"{kind[0]}{len(known)}"
        if known and self.rng.random() < 0.03 and f"{known[0]}_0" not in known:
            name = f"{known[0]}_0"
        return self.note(kind, name)

    def note(self, kind, name):
        self.names[kind].append(name)
        self.place[kind, name] = tuple(self.path)
        return name

    def body(self, depth):
        rng, out = self.rng, f'<body name="{self.new("body")}" {self.pose()}>'
        if rng.random() < 0.6:
            out += f'<joint name="{self.new("joint")}" type="{rng.choice(["hinge", "slide"])}"/>'
        paint = ' material="paint"' if rng.random() < 0.3 else ""
        out += f'<geom name="{self.new("geom")}" size="0.1" {self.pose()}{paint}/>'
        if rng.random() < 0.5:
            out += f'<site name="{self.new("site")}" {self.pose()}/>'
        if rng.random() < 0.1:
            out += f'<camera mode="targetbody" target="{rng.choice(self.names["body"][-2:])}"/>'
        if depth < 3:
            out += "".join(self.content(depth + 1) for _ in range(rng.randint(0, 2)))
        return out + "</body>"

    def content(self, depth):
        """An element of a body."""
        rng, x = self.rng, self.rng.random()
        if x < 0.4 or (depth > 3 and x < 0.75):
            return self.body(depth)
        if x < 0.55:
            return f"<frame {self.pose()}>{self.content(depth + 1)}{self.content(depth + 1)}</frame>"
        if x < 0.75 and len(self.path) < 2:
            count = rng.randint(1, 3)
            self.copies += count
            self.path.append(rng.random())
            inside = "".join(self.content(depth + 1) for _ in range(rng.randint(1, 2)))
            self.path.pop()
            turn = f' euler="0 0 {self.number()}"' if rng.random() < 0.5 else ""
            offset = f"{self.number()} 0 1"
            return f'<replicate count="{count}" sep="{rng.choice("_-")}" offset="{offset}"{turn}>{inside}</replicate>'
        if x < 0.85 and self.children:
            return self.attach()
        kind = rng.choice(["geom", "site"])
        return f'<{kind} name="{self.new(kind)}" size="0.1" {self.pose()}/>'

    def attach(self):
        name, names = self.rng.choice(self.children)
        prefix = f"p{self.attached}"
        self.attached += 1
        body = self.rng.choice(names["body"]) if names["body"] and self.rng.random() < 0.7 else ""
        for kind, found in names.items():
            for own in found:
                if not body or self.rng.random() < 0.5:
                    self.note(kind, prefix + own)
        which = f' body="{body}"' if body else ""
        return f'<attach model="{name}"{which} prefix="{prefix}"/>'

    def pick(self, kind):
        return self.rng.choice(self.names[kind]) if self.names[kind] else "nothing"

    def near(self, kind, other, strict=False):
        """A name that mostly stands where copies of `other` (kind, name) can refer to it too."""
        here, found = self.place.get(other, ()), []
        for name in self.names[kind]:
            there = self.place[kind, name]
            n = min(len(here), len(there))
            if here[:n] == there[:n] and (len(here) == len(there) or not strict):
                found.append(name)
        return self.rng.choice(found) if found and self.rng.random() < 0.95 else self.pick(kind)

    def name(self):
        self.count += 1
        return f'name="n{self.count}"' if self.rng.random() < 0.8 else ""

    def sections(self):
        rng, out = self.rng, {}
        tendons, actuators = [], []

        def add(section, text):
            out.setdefault(section, []).append(text)

        def times(most):
            return range(rng.randint(0, most))

        for _ in times(2):
            a = self.pick("geom")
            b = self.near("geom", ("geom", a))
            if a != b:
                add("contact", f'<pair {self.name()} geom1="{a}" geom2="{b}"/>')
        for _ in times(2):
            a = self.pick("body")
            add("contact", f'<exclude {self.name()} body1="{a}" body2="{self.near("body", ("body", a))}"/>')
        for _ in times(2):
            a, joint = self.pick("body"), self.pick("joint")
            b, other = self.near("body", ("body", a), True), self.near("joint", ("joint", joint), True)
            choices = [f'<connect {self.name()} body1="{a}" anchor="0 0 0"/>']
            choices += [f'<joint {self.name()} joint1="{joint}" joint2="{other}"/>'] * (joint != other)
            choices += [f'<weld {self.name()} body1="{a}" body2="{b}"/>'] * (a != b)
            add("equality", rng.choice(choices))
        for _ in times(2):
            a, joint, tendon = self.pick("site"), self.pick("joint"), f"t{len(tendons)}"
            b, other = self.near("site", ("site", a)), self.near("joint", ("joint", joint))
            path = "".join(f'<joint joint="{j}" coef="1"/>' for j in sorted({joint, other}))
            if a != b and rng.random() < 0.5:
                add("tendon", f'<spatial name="{tendon}"><site site="{a}"/><site site="{b}"/></spatial>')
            else:
                add("tendon", f'<fixed name="{tendon}">{path}</fixed>')
            tendons.append(tendon)
        for _ in times(2):
            actuator = f"a{len(actuators)}"
            choices = [f'joint="{self.pick("joint")}"', f'site="{self.pick("site")}"']
            choices += [f'tendon="{tendon}"' for tendon in tendons]
            add("actuator", f'<{rng.choice(["motor", "position"])} name="{actuator}" {rng.choice(choices)}/>')
            actuators.append(actuator)
        for _ in times(4):
            a, b = rng.choice(["body", "geom", "site"]), rng.choice(["body", "geom", "site"])
            x = self.pick(a)
            y = self.near(b, (a, x))
            choices = [f'framepos {self.name()} objtype="{a}" objname="{x}" reftype="{b}" refname="{y}"']
            choices += [f'framepos {self.name()} objtype="{a}" objname="{x}"', f'jointpos joint="{self.pick("joint")}"']
            choices += [f'tendonpos {self.name()} tendon="{tendon}"' for tendon in tendons]
            choices += [f'actuatorfrc {self.name()} actuator="{actuator}"' for actuator in actuators]
            choices += [f"clock {self.name()}"] * (self.copies < 6)
            add("sensor", f"<{rng.choice(choices)}/>")
        if rng.random() < 0.2 and not self.copies:
            add("custom", f'<tuple name="tuple"><element objtype="body" objname="{self.pick("body")}"/></tuple>')
        if rng.random() < 0.3:
            add("custom", '<numeric name="numeric" data="1 2"/>')
        if rng.random() < 0.4 and (self.level == 0 or (self.level == 1 and not self.copies and not self.attached)):
            qpos = " ".join(self.number() for _ in self.names["joint"])
            given = f'qpos="{qpos}"' if not self.copies and not self.attached else ""
            add("keyframe", f'<key name="key" time="1" {given}/>')
        return "".join(f"<{section}>{''.join(texts)}</{section}>" for section, texts in out.items())


def random_model(seed):
    """(text, dict file name -> text) of the model of a seed."""
    model = RandomModel(random.Random(seed))
    return model.text, model.parts
