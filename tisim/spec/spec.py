"""tisim.Spec: a model as a tree that can be built, edited, attached, written and compiled."""

import os

from tisim.device.whole_file import whole
from tisim.errors import Error, FieldError, brief
from tisim.mjcf.compile import compile_scope
from tisim.mjcf.format import parse, write
from tisim.mjcf.format.grammar import GRAMMAR
from tisim.mjcf.format.names import nearest
from tisim.mjcf.format.scope import Scope
from tisim.mjcf.format.xmltext import Node, Source
from tisim.model.model import Model
from tisim.mujoco_names import OF_SPEC, instead

from . import many
from .attach import attach, copied, drop_dangling, names_below
from .bodies import SpecBody, SpecFrame, SpecSite
from .decompose import decompose
from .element import SpecElement
from .elements import SpecDefault, equality_tag, sensor_tag
from .state import Keys, recompile
from .tree import KINDS, PLURALS, Tree


class Spec(Tree):
    """A model specification in the manner of mujoco.MjSpec, the same tree that reading a file gives.

        spec = tisim.Spec()
        body = spec.worldbody.add_body(name="box", pos=[0, 0, 1])
        body.add_freejoint()
        body.add_geom(type="box", size=[0.1, 0.1, 0.1], rgba=[1, 0, 0, 1])
        m = spec.compile()

    spec.body("box"), spec.geom(...), ... find an element by name (Error with the near names where there is none;
    find(kind, name) gives None); spec.bodies, spec.geoms, ... list all of a kind in the model's order. spec.option,
    .compiler, .visual, .stat and .size are the settings; spec.assets holds files by name, as bytes or str.

    Differences to MjSpec: default classes act when the model is compiled, as in MJCF, so changing one changes elements
    that exist already; an element of a frame stands in the model's order where the frame stands; a new element in a
    frame with a childclass has that class; attaching copies, and leaves the attached Spec as it was.
    """

    def __init__(self, scope=None):
        if not isinstance(scope, (Scope, type(None))):
            raise Error("Spec() is empty; Spec.from_file and Spec.from_string read a model")
        super().__init__(Scope(Node("mujoco", {}), Source()) if scope is None else scope)

    def __getattr__(self, name):
        near = (n for n in dir(self) if n[0] != "_")
        hint = "" if name.startswith("_") else instead(name, OF_SPEC) or nearest(name, near)
        raise FieldError(f"Spec has no attribute '{name}'{hint}")

    @classmethod
    def from_file(cls, path, assets=None):
        """Spec of an MJCF file; assets maps names of meshes, textures, ... that are not on disk to their contents.

        Raises MjcfError or UnsupportedError with file, line and column.
        """
        spec = cls(parse.parse_file(path))
        spec.assets.update(assets or {})
        return spec

    @classmethod
    def from_string(cls, text, assets=None, include=None):
        """Spec of an MJCF text; assets, and include for included files, map file names to contents (bytes or str)."""
        return cls(parse.parse_string(text, {**(assets or {}), **(include or {})}))

    @classmethod
    def from_scope(cls, scope):
        """Spec of a copy of a Scope (see parse.py)."""
        return cls(_copy_of(scope))

    def copy(self):
        """An independent copy."""
        return type(self)(self._scope(copied(self._root)[0]))

    __copy__ = copy  # elements are known by the ids of their nodes, which what copies attributes would get wrong

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return type(self), (self._scope(self._root),)

    def __repr__(self):
        counts = ", ".join(f"{len(nodes)} {PLURALS[kind]}" for kind, nodes in self._all().items() if nodes)
        return f"<tisim.Spec '{self.modelname}': {counts}>"

    # the model as a whole

    @property
    def modelname(self):
        """Name of the model."""
        return self._root.attrib.get("model", "MuJoCo Model")

    @modelname.setter
    def modelname(self, name):
        self._handle(self._root)._set("model", name)

    @property
    def assets(self):
        """dict name -> bytes or str of files that are not on disk."""
        return self._source.assets

    @assets.setter
    def assets(self, files):
        if not isinstance(files, dict):
            raise Error(f"assets is a dict of contents by name, found {brief(files)}")
        self._source.assets = dict(files)

    @property
    def worldbody(self):
        """The world body."""
        return self._handle(self._section("worldbody"))

    @property
    def default(self):
        """The top default class."""
        return self._handle(self._section("default"))

    @property
    def stat(self):
        """Statistics that override the computed ones."""
        return self._handle(self._section("statistic"))

    def compile(self):
        """The Model. Raises MjcfError at the line of the file, or of the Python code, where something is wrong."""
        self._check()
        compiled = compile_scope(self._scope(self._root))
        compiled.scope = self._scope(copied(self._root)[0])
        return Model(compiled)

    def recompile(self, m, d):
        """(Model, Data) after an edit, with the state of what is still there: qpos, qvel, act, ctrl, mocap, time.

        m, d  a Model that this Spec compiled and its Data. What was added starts at its reference state.
        """
        return recompile(self, m, d)

    def to_xml(self):
        """MJCF text. Loaded from a string, with the same assets, it compiles to the same model."""
        return write.to_text(self._scope(self._root))

    def to_file(self, path):
        """Writes MJCF to a file, from where files on disk are found again; assets stay in `assets`."""
        path = os.fspath(path)
        text = write.to_text(self._scope(self._root), os.path.dirname(path))
        with whole(path) as part:
            part.write_text(text, encoding="utf-8")

    # finding

    def find(self, kind, name):
        """The element of a kind ("body", "geom", "actuator", ...) and name, or None."""
        if not isinstance(kind, str) or kind not in KINDS:
            raise Error(f"unknown kind of element '{kind}'{nearest(kind, KINDS)}")
        if self._names is None:
            self._names = {word: {} for word in KINDS}
            for word, nodes in self._all().items():
                for node in nodes:
                    self._names[word].setdefault("world" if node.tag == "worldbody" else node.attrib.get("name"), node)
        node = self._names[kind].get(name) if isinstance(name, str) else None
        return None if node is None or not name else self._handle(node)

    def find_default(self, name):
        """The default class of a name; Error with the near names where there is none."""
        found = {("main" if node in self._root.children else node.attrib.get("class")): node
                 for node in reversed(self._default_nodes())}  # fmt: skip
        if not isinstance(name, str) or name not in found:
            if name == "main":
                return self.default
            raise Error(f"there is no default class '{name}'{nearest(name, found)}")
        return self._handle(found[name])

    def _found(self, kind, name):
        element = self.find(kind, name)
        if element is None:
            raise Error(f"the specification has no {kind} named '{name}'{nearest(name, self._names[kind])}")
        return element

    # adding

    def _add(self, section, tag, default, values):
        return self._handle(self._section(section))._add(tag, default, values.items())

    def add_mesh(self, default=None, **values):
        """A mesh asset: file, or vertex (uservert) and face (userface). default  its class, a SpecDefault or a name."""
        return self._add("asset", "mesh", default, values)

    def add_hfield(self, **values):
        """A height field: size, and file or nrow, ncol and userdata."""
        return self._add("asset", "hfield", None, values)

    def add_skin(self, **values):
        """A skin: file, or vertex, face and texcoord. Bones: skin.add_bone(body=..., vertid=...)."""
        return self._add("asset", "skin", None, values)

    def add_texture(self, **values):
        """A texture."""
        return self._add("asset", "texture", None, values)

    def add_material(self, default=None, **values):
        """A material. default  its class, a SpecDefault or a name."""
        return self._add("asset", "material", default, values)

    def add_pair(self, default=None, **values):
        """A contact pair of two geoms: geom1, geom2 (geomname1, geomname2). default  as in add_material."""
        return self._add("contact", "pair", default, values)

    def add_exclude(self, **values):
        """Excludes contacts between two bodies: body1, body2 (bodyname1, bodyname2)."""
        return self._add("contact", "exclude", None, values)

    def add_equality(self, default=None, type="connect", **values):
        """An equality constraint, by name1, name2 and objtype, or MJCF's attributes.

        type  an mjtEq or its word;  default  as in add_material.
        """
        return self._add("equality", equality_tag(type), default, values)

    def add_tendon(self, default=None, **values):
        """A tendon, spatial or fixed by what wrap_site, wrap_geom, wrap_joint, wrap_pulley add to it.

        default  as in add_material.
        """
        return self._add("tendon", "spatial", default, values)

    def add_actuator(self, default=None, **values):
        """A general actuator: target and trntype, or joint, tendon, site, ...; see set_to_position and its like.

        default  as in add_material.
        """
        return self._add("actuator", "general", default, values)

    def add_sensor(self, type, **values):
        """A sensor. type is an mjtSensor or its word; objtype and objname, or MJCF's attributes, say of what."""
        return self._add("sensor", sensor_tag(type), None, values)

    def add_numeric(self, **values):
        """A custom list of numbers: name, data, size."""
        return self._add("custom", "numeric", None, values)

    def add_text(self, **values):
        """A custom text: name, data."""
        return self._add("custom", "text", None, values)

    def add_tuple(self, **values):
        """A custom tuple of elements: name, and the lists objtype, objname, objprm."""
        return self._add("custom", "tuple", None, values)

    def add_key(self, **values):
        """A keyframe."""
        return self._add("keyframe", "key", None, values)

    def add_default(self, name, parent=None):
        """A default class that inherits from `parent` (a SpecDefault or its name), or from the top one."""
        if any(node.attrib.get("class") == name for node in self._default_nodes()) or name == "main" or not name:
            raise Error(f"default class '{name}' is already defined" if name else "a default class needs a name")
        above = self.default if parent is None else parent
        if not isinstance(above, SpecDefault):
            above = self.find_default(parent)
        new = above._add("default")
        try:
            new._set("class", name)
        except Error:
            self._drop(new._node)
            raise
        return new

    # many at once

    def add_bodies(self, template, pos, quat=None):
        """Copies of a body in the world, at many poses; returns them, a list of n SpecBody.

        template  a body of this Spec or another one, left as it is; of another one its assets and classes come along.
        pos (n, 3) [m], quat (n, 4)  poses of the copies in the world; without quat they are turned as the template is.
        Names get "_0", "_1", ... What refers to the template from elsewhere, such as a sensor, is not copied.
        """
        return many.add_bodies(self, template, pos, quat)

    def scatter(self, template, n, low, high, seed=0, turn=True, size=(1.0, 1.0)):
        """n copies of a body at random places of a box, none of which overlap; returns them, a list of SpecBody.

        template   a body as for add_bodies, or a list of bodies of which each copy is one by chance.
        low, high  (3,) corners of the box [m]; bodies are inside with all their geoms.
        turn       random orientations;  size  least and greatest factor by which copies are scaled, at their density.
        seed       of all that is random. Raises Error where they do not fit, and tells how many do.
        """
        return many.scatter(self, template, n, low, high, seed, turn, size)

    def decompose(self, meshes=None, threshold=0.05, maxhulls=-1, seed=0, show=None):
        """Lets concave meshes collide as convex parts, which CoACD finds (the extra tisim[decompose]).

        meshes     name of a mesh, several, or None: all that geoms collide as.
        threshold  concavity that a part may keep, 0.01 to 1, of a mesh scaled to an extent of 2.
        maxhulls   most parts of a mesh;  seed  of the search.
        show       a function of (meshes done, meshes, name of the next).
        Geoms of a mesh that has more than one part are seen and weigh as before, in group 2, and do not collide any
        more; beside each stand massless geoms of the parts, in group 3. Parts are kept in the cache.
        Returns dict name -> number of parts. Raises Error where CoACD is not installed, and for a mesh that no geom
        collides as.
        """
        return decompose(self, meshes, threshold, maxhulls, seed, show)

    # taking away, attaching

    def delete(self, element):
        """Takes an element away. With a body goes all below it and whatever refers to that; keyframes keep the rest.

        What refers to another element stays, as in MjSpec, and is told by compile().
        """
        node = element._node if isinstance(element, SpecElement) else None
        if id(node) not in self._parents or node.tag == "worldbody" or node in self._root.children:
            raise Error(f"{element!r} cannot be deleted: it is not, or no longer, an element of this specification")
        kind = node.tag
        if kind == "default":
            self._unused(node)
        if kind != "body":
            return self._drop(node)
        gone, keys = names_below(self, node), Keys(self, strict=False)
        self._drop(node)
        drop_dangling(self, gone)
        keys.write(self, None)

    def attach(self, child, prefix="/", suffix="", site=None, frame=None):
        """Copies everything of another Spec to a frame or site of this one; returns the frame that holds the copy.

        child  a Spec, left as it is;  prefix, suffix  put around all names, as MuJoCo's a "/" where no prefix is given;
        site, frame  an element or its name.
        Assets, custom data and classes come along, and contacts, equalities, tendons, actuators, sensors and keyframes
        whose elements do. Raises Error where settings of the compiler differ in a way that a file cannot hold.
        """
        if not isinstance(child, Spec):
            raise Error(f"attach() needs a Spec, found {brief(child)}")
        if (frame is None) == (site is None):
            raise Error("attach() needs one of frame and site")
        kind, target = ("frame", frame) if site is None else ("site", site)
        target = self._found(kind, target) if isinstance(target, str) else target
        if site is None and not isinstance(target, SpecFrame):
            raise Error(f"expected a frame, found {brief(target)}")
        holder = target if site is None else self._frame_at(target)
        return self._attach(child.worldbody, holder, "/" if prefix is None else prefix, suffix)

    def _attach(self, element, holder, prefix, suffix):
        if not isinstance(element, (SpecBody, SpecFrame)):
            raise Error(f"expected a body or frame of a Spec, found {element!r}")
        return attach(element._spec, element._node, self, holder, prefix or "", suffix or "")

    def _frame_at(self, site):
        """A new frame with the pose of a site, in the site's place."""
        if not isinstance(site, SpecSite):
            raise Error(f"expected a site, found {brief(site)}")
        at = self._handle(self._parent(site._node)).add_frame(pos=site.pos)
        for name in ("quat", "axisangle", "xyaxes", "zaxis", "euler"):
            if name in site._node.attrib:
                setattr(at, name, site._node.attrib[name])
        return at


def _copy_of(scope):
    copy = Scope(copied(scope.root)[0], Source(scope.source.folder, scope.source.assets))
    copy.models = dict(scope.models)
    return copy


def _finder(kind):
    def find(self, name):
        return self._found(kind, name)

    find.__name__, find.__doc__ = kind, f"The {kind} of a name; Error with the near names where there is none."
    return find


def _lister(kind):
    def elements(self):
        return [self._handle(node) for node in self._all()[kind]]

    elements.__doc__ = f"All elements of kind {kind}, in the model's order."
    return property(elements)


def _setting(section, name):
    def read(self):
        return getattr(self._handle(self._section(section)), name)

    def write_(self, value):
        setattr(self._handle(self._section(section)), name, value)

    return property(read, write_, doc=f"The attribute '{name}' of the section '{section}'.")


def _settings(section):
    def settings(self):
        return self._handle(self._section(section))

    settings.__doc__ = f"The settings of the section '{section}'."
    return property(settings)


for _kind, _plural in PLURALS.items():
    setattr(Spec, _kind, _finder(_kind))
    setattr(Spec, _plural, _lister(_kind))
for _name in ("compiler", "option", "size", "visual"):
    setattr(Spec, _name, _settings(_name))
for _name in GRAMMAR.children["size"].attributes:
    setattr(Spec, _name, _setting("size", _name))
for _name in ("meshdir", "texturedir", "strippath"):
    setattr(Spec, _name, _setting("compiler", _name))
