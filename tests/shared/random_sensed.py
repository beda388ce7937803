"""Random articulated models with tendons, actuators of every transmission and kind, and sensors of each type."""

import xml.etree.ElementTree as ET

import numpy as np

from shared import random_articulated

FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
OF_SITE = ("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder")
DATA = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")


def text(seed):
    """MJCF text of the model of a seed."""
    return _Model(seed).text()


class _Model:
    """names  kind -> names of what sensors, tendons and actuators can be attached to."""

    def __init__(self, seed):
        self.rng = np.random.default_rng([seed, 1])
        self.root = ET.fromstring(random_articulated.text(seed))
        self.names = {kind: [] for kind in "body geom site scalar ball limited tendon limitedtendon actuator".split()}
        self.root.find("worldbody").find("geom").set("name", "floor")
        self._name(self.root.find("worldbody"))

    def _name(self, node):
        """Names all that can be named below a body; adds sites and a camera."""
        rng = self.rng
        for child in list(node):
            if child.tag == "body":
                self.names["body"].append(child.get("name"))
                for _ in range(int(rng.integers(1, 3))):
                    site = ET.SubElement(child, "site", pos=self.numbers(3, 0.15), euler=self.numbers(3, 90))
                    site.attrib.update(type=str(rng.choice(SHAPES)), size=self.numbers(3, 0.2, 0.05))
                if rng.random() < 0.3:
                    ET.SubElement(child, "camera", name=f"cam{child.get('name')}", resolution="32 24")
                self._name(child)
        for child in node:
            if child.tag in ("geom", "site"):
                names = self.names[child.tag]
                child.set("name", child.get("name") or f"{child.tag}{len(names)}")
                names.append(child.get("name"))
            elif child.tag == "joint":
                ball = child.get("type") == "ball"
                self.names["ball" if ball else "scalar"].append(child.get("name"))
                if child.get("range"):
                    self.names["limited"].append(child.get("name"))

    def numbers(self, n, high, low=None):
        low = -high if low is None else low
        return " ".join(f"{x:.4f}" for x in self.rng.uniform(low, high, n))

    def one(self, kind):
        return str(self.rng.choice(self.names[kind]))

    def tendons(self):
        """Limits, springs and dampers of the fixed ones; two spatial ones."""
        section = self.root.find("tendon")
        for k in range(2):
            spatial = ET.SubElement(section, "spatial", name=f"rope{k}", stiffness=self.numbers(1, 5, 0))
            spatial.attrib.update(damping=self.numbers(1, 0.5, 0), springlength="0 .2")
            if self.rng.random() < 0.5:
                spatial.attrib.update(range="0 .4", margin=".05")
            for site in self.rng.choice(self.names["site"], 3, replace=False):
                ET.SubElement(spatial, "site", site=str(site))
        for tendon in section:
            self.names["tendon"].append(tendon.get("name"))
            if tendon.get("range"):
                self.names["limitedtendon"].append(tendon.get("name"))

    def actuators(self):
        rng, section = self.rng, ET.SubElement(self.root, "actuator")
        for k in range(int(rng.integers(3, 7))):
            tag = str(rng.choice(["motor", "position", "velocity", "damper", "cylinder", "general", "intvelocity"]))
            node = ET.SubElement(section, tag, name=f"act{k}", ctrlrange="0 1", gear=self.numbers(6, 2))
            way = str(rng.choice(["joint", "jointinparent", "tendon", "site", "refsite", "crank", "body"]))
            if way in ("joint", "jointinparent") and (joints := self.names["scalar"] + self.names["ball"]):
                node.set(way, str(rng.choice(joints)))
            elif way == "body" and tag == "general":
                node.attrib.update(body=self.one("body"), gainprm="3")
            elif way == "crank":
                node.attrib.update(cranksite=self.one("site"), slidersite=self.one("site"), cranklength="5")
                if node.get("cranksite") == node.get("slidersite"):
                    node.set("slidersite", next(s for s in self.names["site"] if s != node.get("cranksite")))
            elif way in ("site", "refsite"):
                one, two = rng.choice(self.names["site"], 2, replace=False)
                node.set("site", str(one))
                if way == "refsite":
                    node.set("refsite", str(two))
            else:
                node.set("tendon", self.one("tendon"))
            if tag == "general":
                kind = str(rng.choice(["none", "integrator", "filter", "filterexact"]))
                node.attrib.update(dyntype=kind, dynprm=".1", biastype="affine", biasprm=self.numbers(3, 1))
                node.set("gainprm", self.numbers(1, 3))
            elif tag == "intvelocity":
                node.set("actrange", "-1 1")
            if rng.random() < 0.4:
                node.set("forcerange", "-2 3")
            self.names["actuator"].append(node.get("name"))

    def frame(self):
        """(mjtObj's word, name) of something with a frame."""
        kind = str(self.rng.choice(["body", "xbody", "geom", "site"]))
        return kind, self.one("body" if kind == "xbody" else kind)

    def ends(self):
        """Attributes of the two objects of a contact sensor."""
        rng, found = self.rng, {}
        for side in "12":
            kinds = ["", "geom", "body", "subtree", "site"] if side == "1" else ["", "geom", "body", "subtree"]
            kind = str(rng.choice(kinds))
            if kind == "site":
                found["site"] = self.one("site")
            elif kind:
                whole = "floor" if kind == "geom" else "world"
                found[kind + side] = whole if rng.random() < 0.1 else self.one("geom" if kind == "geom" else "body")
        return found

    def contact(self):
        rng = self.rng
        data = [word for word in DATA if rng.random() < 0.4] or ["found"]
        reduce = str(rng.choice(["none", "mindist", "maxforce", "netforce"]))
        return dict(self.ends(), data=" ".join(data), reduce=reduce, num=str(rng.integers(1, 6)))

    def sensor(self):
        """(tag, attributes) of a random sensor, None where the model has nothing for it."""
        rng, names = self.rng, self.names
        families = (
            "site frame acc joint limit tendon tlimit actuator ball subtree inside distance contact plain user cam"
        )
        family = str(rng.choice(families.split()))
        simple = dict(
            site=(OF_SITE, "site", "site"), joint=(("jointpos", "jointvel", "jointactuatorfrc"), "joint", "scalar"),
            limit=(("jointlimitpos", "jointlimitvel", "jointlimitfrc"), "joint", "limited"),
            tendon=(("tendonpos", "tendonvel", "tendonactuatorfrc"), "tendon", "tendon"),
            tlimit=(("tendonlimitpos", "tendonlimitvel", "tendonlimitfrc"), "tendon", "limitedtendon"),
            actuator=(("actuatorpos", "actuatorvel", "actuatorfrc"), "actuator", "actuator"),
            ball=(("ballquat", "ballangvel"), "joint", "ball"),
            subtree=(("subtreecom", "subtreelinvel", "subtreeangmom"), "body", "body"),
        )  # fmt: skip
        if family in simple:
            tags, word, kind = simple[family]
            return (str(rng.choice(tags)), {word: self.one(kind)}) if names[kind] else None
        kind, name = self.frame()
        if family in ("frame", "acc"):
            attributes = dict(objtype=kind, objname=name)
            if family == "frame" and rng.random() < 0.5:
                attributes.update(zip(("reftype", "refname"), self.frame()))
            return str(rng.choice(FRAMES if family == "frame" else ("framelinacc", "frameangacc"))), attributes
        if family == "inside":
            return "insidesite", dict(objtype=kind, objname=name, site=self.one("site"))
        if family == "distance":
            a, b = rng.choice(names["geom"], 2, replace=False)
            return str(rng.choice(["distance", "normal", "fromto"])), dict(geom1=str(a), geom2=str(b), cutoff=".5")
        if family == "contact":
            return "contact", self.contact()
        if family == "cam":
            cams = [node.get("name") for node in self.root.iter("camera")]
            return ("camprojection", dict(site=self.one("site"), camera=str(rng.choice(cams)))) if cams else None
        if family == "user":
            return "user", dict(dim="2")
        return str(rng.choice(["clock", "e_potential", "e_kinetic"])), {}

    def text(self):
        self.tendons()
        self.actuators()
        section, count = ET.SubElement(self.root, "sensor"), 0
        while count < 40:
            made = self.sensor()
            if made is not None:
                tag, attributes = made
                if tag in OF_SITE and self.rng.random() < 0.3:
                    attributes["cutoff"] = "1.5"
                ET.SubElement(section, tag, attributes)
                count += 1
        return ET.tostring(self.root, encoding="unicode")
