"""URDF: a tree of links and joints becomes the MJCF tree that MuJoCo makes of it.

Rules after MuJoCo's reader of URDF (Apache-2.0): links are bodies, their poses stand in the joints; `collision` geoms
touch, `visual` ones do not (and are left out while discardvisual is true, as it is by default here, like fusestatic
and strippath); angles are radians. The extension element `mujoco` may hold compiler, option and size. What URDF has and
physics has not (transmission, gazebo, ...) is ignored, as in MuJoCo, with one warning that names it.
"""

import warnings

import numpy as np

from .. import rotations
from .attribute import Attribute
from .grammar import GRAMMAR
from .names import nearest
from .xmltext import Node

JOINTS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
KNOWN = {
    "robot": {"mujoco", "link", "joint", "material"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"parent", "child", "origin", "axis", "limit", "dynamics"},
}
SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
EXTENSION = ("compiler", "option", "size")
NUMBERS = {n: Attribute(str(n)).convert for n in (1, 3, 4)}


def to_mjcf(robot):
    """The root Node of an MJCF tree, attributes as texts, as if it had been read from an MJCF file.

    robot  root Node of a URDF file. Raises MjcfError or UnsupportedError with the place in that file.
    """
    return _Robot(robot).root


def _new(tag, source, **attrib):
    """A Node at the place of `source`; numbers become the texts that read back exactly."""
    return Node(tag, {k: _written(v) for k, v in attrib.items()}, source.file, source.line, source.column)


def _written(value):
    if isinstance(value, str):
        return value
    return " ".join(repr(float(v)) for v in np.atleast_1d(value))


def _child(node, tag, required=False):
    """The only child of a tag, or None."""
    found = [child for child in node.children if child.tag == tag]
    if len(found) > 1:
        raise found[1].error(f"element '{tag}' may stand only once in '{node.tag}'")
    if not found and required:
        raise node.error(f"'{node.tag}' needs a child element '{tag}'")
    return found[0] if found else None


def _text(node, name, required=True):
    value = node.attrib.get(name, "")
    if required and not value:
        raise node.error(f"'{node.tag}' needs the attribute '{name}'{_near(name, node)}")
    return value


def _near(name, node):
    """Words about attributes that may have been meant, but for the one that is there and empty."""
    return nearest(name, [other for other in node.attrib if other != name])


def _numbers(node, name, count=1, default=None):
    """A number, or a list of them, of an attribute; without a default it is required."""
    text = node.attrib.get(name, "")
    if not text.strip():
        if default is None:
            raise node.error(f"'{node.tag}' needs the attribute '{name}'{_near(name, node)}")
        return default
    try:
        return NUMBERS[count](text)
    except ValueError as e:
        raise node.error(f"attribute '{name}' of '{node.tag}': {e}") from None


def _pose(node):
    """(pos, quat) of the `origin` in a node, lists; roll, pitch and yaw turn about fixed axes."""
    origin = _child(node, "origin")
    if origin is None:
        return [0.0] * 3, [1.0, 0.0, 0.0, 0.0]
    quat = [1.0, 0.0, 0.0, 0.0]
    if origin.attrib.get("rpy", "").strip():
        quat = rotations.from_alternative("euler", [_numbers(origin, "rpy", 3)], 0, "XYZ")[0][0].tolist()
    return _numbers(origin, "xyz", 3, [0.0] * 3), quat


class _Robot:
    """The conversion of one file; `root` is the result."""

    def __init__(self, robot):
        self.robot, self.ignored = robot, set()
        self.root = _new("mujoco", robot)
        if _text(robot, "name", required=False):
            self.root.attrib["model"] = robot.attrib["name"]
        self.compiler = _new("compiler", robot, fusestatic="true", discardvisual="true", strippath="true")
        self.root.children.append(self.compiler)
        self._extension()
        self.asset, self.meshes = _new("asset", robot), {}
        self.world = _new("worldbody", robot)
        self.root.children += [self.asset, self.world]
        self.colors, self.names = self._materials(), set()
        self.discard = self.compiler.attrib["discardvisual"] == "true"
        self.strip = self.compiler.attrib["strippath"] == "true"
        self._skip_unknown(robot)
        links = self._links()
        bodies = self._tree(links)
        for link in links.values():
            self._link(link, bodies[link.attrib["name"]])
        if self.ignored:
            words = ", ".join(sorted(self.ignored))
            warnings.warn(f"{robot.file}: elements of URDF that have no effect here: {words}", stacklevel=2)

    def _skip_unknown(self, node):
        self.ignored |= {child.tag for child in node.children} - KNOWN[node.tag]

    def _extension(self):
        extension = _child(self.robot, "mujoco")
        for node in extension.children if extension is not None else ():
            if node.tag not in EXTENSION and node.tag in GRAMMAR.children:
                self.ignored.add(f"{node.tag} (of the element 'mujoco')")
                continue
            if node.tag not in EXTENSION:
                message = f"in URDF, the element 'mujoco' may hold {', '.join(EXTENSION)}, found '{node.tag}'"
                raise node.unsupported(message + ", which MuJoCo ignores", node.tag)
            _child(extension, node.tag)
            if node.tag == "compiler":
                self.compiler.attrib.update(node.attrib)
                self.compiler.children = node.children
                self.compiler.line, self.compiler.column = node.line, node.column
            else:
                self.root.children.append(node)
        self.compiler.attrib["angle"] = "radian"

    def _materials(self):
        """dict name -> rgba of the materials with a colour, wherever they stand; the first one of a name counts."""
        colors, todo = {}, [self.robot]
        while todo:
            node = todo.pop()
            todo.extend(reversed(node.children))
            color = _child(node, "color") if node.tag == "material" else None
            if color is not None and node.attrib.get("name"):
                colors.setdefault(node.attrib["name"], _numbers(color, "rgba", 4))
        return colors

    def _links(self):
        links = {}
        for node in self.robot.children:
            if node.tag == "link":
                name = _text(node, "name")
                if name in links:
                    raise node.error(f"the name '{name}' is already used by another link")
                links[name] = node
        return links

    def _tree(self, links):
        """dict link name -> its body Node, all of them placed below worldbody; a link named world is the worldbody."""
        bodies = {name: _new("body", node, name=name) for name, node in links.items()}
        if "world" in bodies:
            bodies["world"] = self.world
        children, parent = {name: [] for name in links}, {}
        for joint in self.robot.children:
            if joint.tag != "joint":
                continue
            ends = [_text(_child(joint, tag, required=True), "link") for tag in ("parent", "child")]
            for tag, name in zip(("parent", "child"), ends):
                if name not in links:
                    raise _child(joint, tag).error(f"link '{name}' is not defined{nearest(name, links)}")
            if ends[1] in parent:
                raise joint.error(f"link '{ends[1]}' has more than one parent")
            parent[ends[1]] = joint
            children[ends[0]].append(ends[1])
            self._joint(joint, bodies[ends[1]])
        if "world" in parent:
            raise parent["world"].error("the link 'world' stands still and cannot be the child of a joint")
        todo, placed = [name for name in reversed(links) if name not in parent], set()
        while todo:
            name = todo.pop()
            placed.add(name)
            if name not in parent and name != "world":
                self.world.children.append(bodies[name])
            bodies[name].children += [bodies[child] for child in children[name]]
            todo.extend(children[name])
        for name, node in links.items():
            if name not in placed:
                raise node.error(f"link '{name}' is its own ancestor: the joints form a loop")
        return bodies

    def _joint(self, node, body):
        self._skip_unknown(node)
        kind = _text(node, "type")
        if kind not in JOINTS:
            raise node.error(f"'type' of a joint: expected one of {', '.join(JOINTS)}, found '{kind[:40]}'")
        name = _text(node, "name")
        if body is not self.world:
            body.attrib["pos"], body.attrib["quat"] = map(_written, _pose(node))
        axis = _child(node, "axis")
        axis = [1.0, 0.0, 0.0] if axis is None else _numbers(axis, "xyz", 3)
        if kind == "fixed":
            return
        if kind == "planar":
            x, y = rotations.matrix(rotations.from_z(np.array([axis])))[0].T[:2].tolist()
            joints = [("_TX", "slide", x), ("_TY", "slide", y), ("_RZ", "hinge", axis)]
        else:
            joints = [("", dict(prismatic="slide", floating="free", spherical="ball").get(kind, "hinge"), axis)]
        joints = [_new("joint", node, name=name + suffix, type=t, axis=a) for suffix, t, a in joints]
        dynamics, limit = _child(node, "dynamics"), _child(node, "limit")
        if dynamics is not None:
            for joint in joints:
                joint.attrib["damping"] = _written(_numbers(dynamics, "damping", 1, 0.0))
                joint.attrib["frictionloss"] = _written(_numbers(dynamics, "friction", 1, 0.0))
        if limit is not None:
            low, high = _numbers(limit, "lower", 1, 0.0), _numbers(limit, "upper", 1, 0.0)
            joints[0].attrib["range"] = _written([low, high])
            given = [limit.attrib.get(end, "").strip() != "" for end in ("lower", "upper")]
            if given[0] != given[1] or low > high:
                joints[0].attrib["limited"] = "false"
            effort = abs(_numbers(limit, "effort", 1, 0.0))
            if effort:
                joints[0].attrib["actuatorfrcrange"] = _written([-effort, effort])
        body.children[:0] = joints

    def _link(self, link, body):
        self._skip_unknown(link)
        own = []
        inertial = _child(link, "inertial")
        if inertial is not None:
            inertia = self._inertial(inertial)
            if body is not self.world:
                own.append(inertia)
            else:  # MuJoCo keeps it as body_mass[0], ..., which moves nothing
                self.ignored.add("inertial (of the link 'world')")
        rgba = None
        for node in link.children:
            if node.tag == "visual":
                rgba = self._color(node) or rgba
            if node.tag == "collision" or (node.tag == "visual" and not self.discard):
                own.append(self._geom(node, rgba))
        place = sum(child.tag == "joint" for child in body.children)
        body.children[place:place] = own

    def _inertial(self, node):
        pos, quat = _pose(node)
        inertia = _child(node, "inertia", required=True)
        full = [_numbers(inertia, name) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
        mass = _numbers(_child(node, "mass", required=True), "value")
        if not any(full):  # not known, says many a file: the compiler complains only where inertia is needed
            return _new("inertial", node, pos=pos, mass=mass, quat=quat)
        # MuJoCo 3.4.0 takes the matrix in the link's own axes: it forgets the turn of the origin
        return _new("inertial", node, pos=pos, mass=mass, fullinertia=full)

    def _color(self, visual):
        """rgba of a visual's material, None where it has none or an unknown one."""
        material = _child(visual, "material")
        if material is None:
            return None
        color = _child(material, "color")
        return _numbers(color, "rgba", 4) if color is not None else self.colors.get(_text(material, "name"))

    def _geom(self, node, rgba):
        pos, quat = _pose(node)
        geom = _new("geom", node, pos=pos, quat=quat, **self._shape(_child(node, "geometry", required=True)))
        if node.tag == "visual":
            geom.attrib.update(contype="0", conaffinity="0", group="1", density="0")
        if rgba is not None and rgba[0] >= 0:
            geom.attrib["rgba"] = _written(rgba)
        name = node.attrib.get("name", "")
        if name and name not in self.names:
            geom.attrib["name"] = name
            self.names.add(name)
        return geom

    def _shape(self, geometry):
        """Attributes type and size, or type and mesh, of a geometry."""
        for tag in SHAPES:  # of several, MuJoCo takes the first in this order
            shape = _child(geometry, tag)
            if shape is None:
                continue
            if tag == "box":
                return dict(type="box", size=[s / 2 for s in _numbers(shape, "size", 3)])
            if tag == "sphere":
                return dict(type="sphere", size=[_numbers(shape, "radius")])
            if tag == "mesh":
                return dict(type="mesh", mesh=self._mesh(shape))
            return dict(type=tag, size=[_numbers(shape, "radius"), _numbers(shape, "length") / 2])
        raise geometry.error(f"'geometry' needs one of {', '.join(SHAPES)}")

    def _mesh(self, shape):
        """Name of the mesh asset of a file and scale; the same file in another scale gets a number after its name.

        When that other scale is used once more, MuJoCo 3.4.0 takes the first mesh of the file; so does this.
        """
        file, scale = _text(shape, "filename"), _numbers(shape, "scale", 3, [1.0] * 3)
        bare = file.replace("\\", "/").rpartition("/")[2]
        stem = bare.rpartition(".")[0] or bare
        scales = self.meshes.setdefault(stem, [])
        if scale in scales:
            if scale != scales[0]:
                warnings.warn(f"{shape.file}:{shape.line}: MuJoCo 3.4.0 takes the scale of the first use of '{bare}' "
                              "here, and so does this model", stacklevel=2)  # fmt: skip
            return stem
        name = stem + (str(len(scales)) if scales else "")
        scales.append(scale)
        self.asset.children.append(_new("mesh", shape, name=name, file=bare if self.strip else file, scale=scale))
        return name
