"""Random articulated models with every type of constraint row at once, to be simulated: trees, branches, all joints,
limits, friction losses, equalities, fixed tendons, contacts of every dimension, odd solver parameters."""

import numpy as np


def text(seed):
    """MJCF text of the model of a seed."""
    return _Model(np.random.default_rng(seed)).text()


class _Model:
    def __init__(self, rng):
        self.rng, self.joints, self.bodies, self.sites = rng, [], [], []
        self.count = 0  # of bodies; those without joints get no equalities, which would hold for ever or never

    def numbers(self, n, low=-1.0, high=1.0):
        return " ".join(f"{x:.4f}" for x in self.rng.uniform(low, high, n))

    def maybe(self, text, chance=0.5):
        return text if self.rng.random() < chance else ""

    def solref(self, name="solref"):
        rng = self.rng
        time, ratio = rng.uniform(0.005, 0.06), rng.uniform(0.4, 1.3)
        direct = rng.random() < 0.3
        values = (-1 / (time * ratio) ** 2, -2 / time) if direct else (time, ratio)
        return f'{name}="{values[0]:.4f} {values[1]:.4f}"'

    def solimp(self, name="solimp"):
        rng = self.rng
        low, high = sorted(rng.uniform(0.3, 0.97, 2))
        return (f'{name}="{low:.3f} {high:.3f} {rng.uniform(0.001, 0.3):.4f} {rng.uniform(0.1, 0.9):.3f} '
                f'{rng.integers(1, 5)}"')  # fmt: skip

    def soft(self, suffix=""):
        return self.maybe(self.solref("solref" + suffix)) + " " + self.maybe(self.solimp("solimp" + suffix))

    def joint(self, kind):
        rng, name = self.rng, f"j{len(self.joints)}"
        limit = {"hinge": '"-20 25"', "slide": '"-.05 .04"', "ball": '"0 25"'}[kind]
        out = f'<joint name="{name}" type="{kind}" axis="{self.numbers(3)}" pos="{self.numbers(3, -0.1, 0.1)}"'
        out += f' damping="{rng.uniform(0, 0.3):.3f}" armature="{rng.uniform(0, 0.05):.3f}"'
        out += self.maybe(f' range={limit} margin="{rng.uniform(0, 0.2):.3f}" {self.soft("limit")}')
        out += self.maybe(f' frictionloss="{rng.uniform(0.01, 0.5):.3f}" {self.soft("friction")}', 0.4)
        out += self.maybe(f' stiffness="{rng.uniform(0, 3):.3f}" springref="{rng.uniform(-0.2, 0.2):.3f}"', 0.3)
        self.joints.append((name, kind))
        return out + "/>"

    def geom(self):
        rng = self.rng
        kind, size = [("sphere", 1), ("capsule", 2), ("box", 3)][rng.integers(3)]
        out = f'<geom type="{kind}" size="{self.numbers(size, 0.05, 0.12)}" pos="{self.numbers(3, -0.1, 0.1)}"'
        out += f' condim="{rng.choice([1, 3, 4, 6])}" friction="{self.numbers(1, 0.2, 1)} .02 .005"'
        return out + f' quat="{self.numbers(4)}" {self.soft()} margin="{self.maybe(".01", 0.3) or 0}"/>'

    def body(self, depth, pos):
        rng, name = self.rng, f"b{self.count}"
        self.count += 1
        inside = self.geom()
        if depth == 0 and rng.random() < 0.4:
            inside += "<freejoint/>"
            self.bodies.append(name)
        elif rng.random() < 0.9:
            self.bodies.append(name)
            kinds = [["hinge"], ["hinge", "hinge"], ["slide"], ["ball"], ["slide", "hinge"]][rng.integers(5)]
            inside += "".join(self.joint(kind) for kind in kinds)
        if name in self.bodies and rng.random() < 0.6:
            self.sites.append(f"s{len(self.sites)}")
            inside += f'<site name="{self.sites[-1]}" pos="{self.numbers(3, -0.2, 0.2)}" quat="{self.numbers(4)}"/>'
        if depth < 3:
            place = self.numbers(3, -0.3, 0.3)
            inside += "".join(self.body(depth + 1, place) for _ in range(rng.choice([0, 1, 1, 2])))
        return f'<body name="{name}" pos="{pos}" quat="{self.numbers(4)}">{inside}</body>'

    def equality(self):
        rng = self.rng
        a, b = rng.choice(self.bodies, 2, replace=False)
        choices = [f'connect body1="{a}" body2="{b}" anchor="{self.numbers(3, -0.2, 0.2)}"',
                   f'weld body1="{a}" body2="{b}" torquescale="{rng.uniform(0.2, 2):.3f}"',
                   f'weld body1="{a}" anchor="{self.numbers(3, -0.2, 0.2)}" relpose="{self.numbers(7)}"']  # fmt: skip
        if len(self.sites) > 1:
            s, t = rng.choice(self.sites, 2, replace=False)
            choices += [f'{kind} site1="{s}" site2="{t}"' for kind in ("connect", "weld")]
        scalar = [name for name, kind in self.joints if kind != "ball"]
        if len(scalar) > 1:
            i, j = rng.choice(scalar, 2, replace=False)
            choices += [f'joint joint1="{i}" joint2="{j}" polycoef="{self.numbers(5, -0.5, 0.5)}"']
            choices += [f'joint joint1="{i}" polycoef="{self.numbers(1, -0.2, 0.2)}"']
            second = self.maybe('tendon2="t1"')
            choices += [f'tendon tendon1="t0" {second}']
        acts = self.maybe('active="false"', 0.1)
        return f"<{rng.choice(choices)} {self.soft()} {acts}/>"

    def tendon(self, k, scalar):
        rng = self.rng
        some = rng.choice(scalar, min(len(scalar), int(rng.integers(1, 5))), replace=False)
        inside = "".join(f'<joint joint="{j}" coef="{rng.uniform(-2, 2):.3f}"/>' for j in some)
        limits = self.maybe(f'range="-.05 .05" margin="{rng.uniform(0, 0.1):.3f}" {self.soft("limit")}')
        rubs = self.maybe(f'frictionloss="{rng.uniform(0.01, 0.4):.3f}" {self.soft("friction")}')
        return f'<fixed name="t{k}" {limits} {rubs}>{inside}</fixed>'

    def text(self):
        rng = self.rng
        tree = "".join(self.body(0, f"{0.25 * k:.2f} {rng.uniform(-0.2, 0.2):.2f} .15") for k in range(4))
        scalar = [name for name, kind in self.joints if kind != "ball"]
        tendons = "".join(self.tendon(k, scalar) for k in range(2)) if len(scalar) > 1 else ""
        equalities = "".join(self.equality() for _ in range(int(rng.integers(1, 5))))
        cone, jacobian = rng.choice(["pyramidal", "elliptic"]), rng.choice(["dense", "sparse"])
        return f"""<mujoco><option cone="{cone}" jacobian="{jacobian}" impratio="{rng.uniform(0.5, 3):.3f}"/>
        <worldbody><geom type="plane" size="5 5 1" condim="{rng.choice([1, 3, 4, 6])}"/>{tree}
        </worldbody><tendon>{tendons}</tendon><equality>{equalities}</equality></mujoco>"""
