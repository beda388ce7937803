"""Default classes: what an element's attributes are where its file does not say.

A class is a dict element -> dict attribute -> value. Classes inherit by copying, so the active class of an element is
one dictionary look-up, however deep the classes nest.
"""

from tisim.enums import mjtTextureRole

from . import actuator_defaults
from .grammar import GRAMMAR
from .names import nearest

SOLREF = [0.02, 1.0]
SOLIMP = [0.9, 0.95, 0.001, 0.5, 2.0]

# MuJoCo's own defaults. Angles are stored as the file gives them; None: not given.
BUILTIN = {
    "joint": dict(
        type=3,
        pos=[0.0] * 3,
        axis=[0.0, 0.0, 1.0],
        limited=2,
        actuatorfrclimited=2,
        actuatorgravcomp=0,
        stiffness=0.0,
        springdamper=[0.0] * 2,
        range=[0.0] * 2,
        actuatorfrcrange=[0.0] * 2,
        margin=0.0,
        ref=0.0,
        springref=0.0,
        armature=0.0,
        damping=0.0,
        frictionloss=0.0,
        group=0,
        user=[],
        align=2,
        solreflimit=SOLREF,
        solimplimit=SOLIMP,
        solreffriction=SOLREF,
        solimpfriction=SOLIMP,
    ),
    "geom": dict(
        type=2,
        pos=[0.0] * 3,
        quat=[1.0, 0.0, 0.0, 0.0],
        alt=None,
        fromto=None,
        size=[0.0] * 3,
        contype=1,
        conaffinity=1,
        condim=3,
        group=0,
        priority=0,
        friction=[1.0, 0.005, 0.0001],
        solmix=1.0,
        solref=SOLREF,
        solimp=SOLIMP,
        margin=0.0,
        gap=0.0,
        mass=None,
        density=1000.0,
        shellinertia=0,
        fluidshape=0,
        fluidcoef=[0.5, 0.25, 1.5, 1.0, 1.0],
        material=None,
        rgba=[0.5, 0.5, 0.5, 1.0],
        mesh=None,
        hfield=None,
        fitscale=1.0,
        user=[],
    ),
    "site": dict(
        type=2,
        pos=[0.0] * 3,
        quat=[1.0, 0.0, 0.0, 0.0],
        alt=None,
        fromto=None,
        size=[0.005] * 3,
        group=0,
        material=None,
        rgba=[0.5, 0.5, 0.5, 1.0],
        user=[],
    ),
    "camera": dict(
        mode=0,
        pos=[0.0] * 3,
        quat=[1.0, 0.0, 0.0, 0.0],
        alt=None,
        fovy=45.0,
        ipd=0.068,
        orthographic=0,
        resolution=[1.0, 1.0],
        sensorsize=[0.0] * 2,
        focal=[0.0] * 2,
        focalpixel=[0.0] * 2,
        principal=[0.0] * 2,
        principalpixel=[0.0] * 2,
        target=None,
        user=[],
    ),
    "light": dict(
        mode=0,
        type=0,
        directional=None,
        active=1,
        castshadow=1,
        pos=[0.0] * 3,
        dir=[0.0, 0.0, -1.0],
        attenuation=[1.0, 0.0, 0.0],
        cutoff=45.0,
        exponent=10.0,
        bulbradius=0.02,
        intensity=0.0,
        range=10.0,
        ambient=[0.0] * 3,
        diffuse=[0.7] * 3,
        specular=[0.3] * 3,
        target=None,
        texture=None,
    ),
    "pair": dict(
        condim=3,
        friction=[1.0, 1.0, 0.005, 0.0001, 0.0001],
        solref=SOLREF,
        solreffriction=[0.0, 0.0],
        solimp=SOLIMP,
        margin=0.0,
        gap=0.0,
    ),
    "mesh": dict(
        file=None,
        content_type=None,
        vertex=[],
        normal=[],
        texcoord=[],
        face=[],
        builtin=None,
        params=None,
        refpos=[0.0] * 3,
        refquat=[1.0, 0.0, 0.0, 0.0],
        scale=[1.0] * 3,
        smoothnormal=0,
        inertia=2,
        maxhullvert=-1,
        material=None,
    ),
    "material": dict(
        texture=None,
        texuniform=0,
        texrepeat=[1.0, 1.0],
        emission=0.0,
        specular=0.5,
        shininess=0.5,
        reflectance=0.0,
        metallic=-1.0,
        roughness=-1.0,
        rgba=[1.0] * 4,
    ),
    "equality": dict(active=1, solref=SOLREF, solimp=SOLIMP),
    "tendon": dict(
        group=0,
        material=None,
        width=0.003,
        limited=2,
        actuatorfrclimited=0,
        range=[0.0] * 2,
        actuatorfrcrange=[0.0] * 2,
        solreflimit=SOLREF,
        solimplimit=SOLIMP,
        solreffriction=SOLREF,
        solimpfriction=SOLIMP,
        margin=0.0,
        stiffness=0.0,
        damping=0.0,
        armature=0.0,
        frictionloss=0.0,
        springlength=[-1.0],
        rgba=[0.5, 0.5, 0.5, 1.0],
        user=[],
    ),
    "general": actuator_defaults.GENERAL,  # of all actuators
}

# Elements that have no default class.
PLAIN = {
    "sensor": dict(cutoff=0.0, noise=0.0, user=[]),
    "hfield": dict(file=None, content_type=None, nrow=0, ncol=0, elevation=[]),
    "skin": dict(
        file=None, vertex=[], texcoord=[], face=[], group=0, inflate=0.0, material=None, rgba=[0.5, 0.5, 0.5, 1.0],
    ),
    "texture": dict(
        type=1, builtin=0, colorspace=0, width=0, height=0, nchannel=3, rgb1=[0.8] * 3, rgb2=[0.5] * 3, mark=0,
        markrgb=[0.0] * 3, random=0.01, file="", content_type=None, hflip=0, vflip=0, gridsize=[1, 1], gridlayout=None,
        fileright=None, fileleft=None, fileup=None, filedown=None, filefront=None, fileback=None,
    ),
}  # fmt: skip

_ALTERNATIVES = ("axisangle", "xyaxes", "zaxis", "euler")
_PARTIAL = frozenset(
    name
    for tag in BUILTIN
    for name, attribute in GRAMMAR.children["default"].children[tag].attributes.items()
    if attribute.partial and name != "springlength"  # one number of it stands for both
)


def merge(base, own, node):
    """The attributes of an element: those of its class, overridden by its own.

    Fewer numbers than the full length override the first ones only. Of the orientation specifiers at most one may be
    given; `alt` holds the one in force, which a class passes on even to elements that give a `quat`, as in MuJoCo.
    """
    out = {**base, **own}
    count = "quat" in own
    for name in own:
        if name in _PARTIAL:
            default, value = base.get(name), own[name]
            if isinstance(default, list) and len(value) < len(default):
                out[name] = value + default[len(value) :]
        elif name in _ALTERNATIVES:
            count += 1
            out["alt"] = (name, own[name])
    if node.tag == "light" and "type" in own and "directional" not in own:
        out["directional"] = None  # what a class said of it before
    if node.tag == "material" and base.get("layers"):
        rgb = mjtTextureRole.mjTEXROLE_RGB  # which is that of `texture`
        kept = [layer for layer in base["layers"] if "texture" not in own or layer.attrib["role"] != rgb]
        out["layers"] = [*kept, *own.get("layers", ())]
    if count > 1:
        raise node.error("multiple orientation specifiers are not allowed")
    return out


def classes(sections):
    """dict class name -> dict element -> attributes, from the top-level `default` sections of a file."""
    table = {"main": BUILTIN}
    todo = [(node, None) for node in reversed(sections)]
    while todo:
        node, parent = todo.pop()
        name = node.attrib.get("class")
        if parent is None:
            if name not in (None, "main"):
                raise node.error("the top-level default class is 'main' and cannot be renamed")
            name, inherited = "main", table["main"]
        else:
            if not name:
                raise node.error("a nested default needs a class name")
            if name in table:
                raise node.error(f"default class '{name}' is already defined")
            inherited = table[parent]
        own = dict(inherited)
        for child in node.children:
            if child.tag in actuator_defaults.SHORTCUTS:
                own["general"] = actuator_defaults.apply(own["general"], child.tag, child.attrib, child)
            elif child.tag in BUILTIN:
                attrib = child.attrib
                if child.tag == "material" and child.children:
                    attrib = {**attrib, "layers": child.children}
                own[child.tag] = merge(own[child.tag], attrib, child)
        table[name] = own
        todo.extend((child, name) for child in reversed(node.children) if child.tag == "default")
    return table


def class_of(table, name, node):
    """The class of a name; MjcfError at node where there is none."""
    if name not in table:
        raise node.error(f"unknown default class '{name}'{nearest(name, table)}")
    return table[name]
