"""What a file sets for the whole model: compiler, option, size, statistic, visual."""

import numpy as np

from tisim.enums import mjtDisableBit, mjtEnableBit

COMPILER = dict(
    angle=1, autolimits=1, alignfree=0, balanceinertia=0, boundinertia=0.0, boundmass=0.0, coordinate=0,
    discardvisual=0,
    eulerseq="xyz", fitaabb=0, fusestatic=0, inertiafromgeom=2, inertiagrouprange=[0, 5], saveinertial=0,
    settotalmass=-1.0, strippath=0, usethread=1, assetdir="", meshdir="", texturedir="",
)  # fmt: skip

SIZE = dict(
    memory="-1", nconmax=-1, njmax=-1, nkey=0, nstack=-1, nuserdata=0, nuser_body=-1, nuser_jnt=-1, nuser_geom=-1,
    nuser_site=-1, nuser_cam=-1, nuser_tendon=-1, nuser_actuator=-1, nuser_sensor=-1,
)  # fmt: skip

# larger counts of user data or keys come from a mistake and would not fit in memory
MAX_COUNT = 10_000_000

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)

# mjOption: real numbers, vectors and integers with their defaults; units are SI.
OPTION = dict(
    timestep=0.002, impratio=1.0, tolerance=1e-8, ls_tolerance=0.01, noslip_tolerance=1e-6, ccd_tolerance=1e-6,
    sleep_tolerance=1e-4, gravity=(0.0, 0.0, -9.81), wind=(0.0, 0.0, 0.0), magnetic=(0.0, -0.5, 0.0), density=0.0,
    viscosity=0.0, o_margin=0.0, o_solref=SOLREF, o_solimp=SOLIMP, o_friction=(1.0, 1.0, 0.005, 0.0001, 0.0001),
    integrator=0, cone=0, jacobian=2, solver=2, iterations=100, ls_iterations=50, noslip_iterations=0,
    ccd_iterations=35, disableflags=0, enableflags=0, disableactuator=0, sdf_initpoints=40, sdf_iterations=10,
)  # fmt: skip

# mjVisual, section by section
VISUAL = {
    "global": dict(
        orthographic=0, fovy=45.0, ipd=0.068, azimuth=90.0, elevation=-45.0, linewidth=1.0, glow=0.3, realtime=1.0,
        offwidth=640, offheight=480, ellipsoidinertia=0, bvactive=1, cameraid=-1,
    ),
    "quality": dict(shadowsize=4096, offsamples=4, numslices=28, numstacks=16, numquads=4),
    "headlight": dict(ambient=(0.1,) * 3, diffuse=(0.4,) * 3, specular=(0.5,) * 3, active=1),
    "map": dict(
        stiffness=100.0, stiffnessrot=500.0, force=0.005, torque=0.1, alpha=0.3, fogstart=3.0, fogend=10.0, znear=0.01,
        zfar=50.0, haze=0.3, shadowclip=1.0, shadowscale=0.6, actuatortendon=2.0,
    ),
    "scale": dict(
        forcewidth=0.1, contactwidth=0.3, contactheight=0.1, connect=0.2, com=0.4, camera=0.3, light=0.3,
        selectpoint=0.2,
        jointlength=1.0, jointwidth=0.1, actuatorlength=0.7, actuatorwidth=0.2, framelength=1.0, framewidth=0.1,
        constraint=0.1, slidercrank=0.2, frustum=10.0,
    ),
    "rgba": dict(
        fog=(0.0, 0.0, 0.0, 1.0), haze=(1.0, 1.0, 1.0, 1.0), force=(1.0, 0.5, 0.5, 1.0), inertia=(0.8, 0.2, 0.2, 0.6),
        joint=(0.2, 0.6, 0.8, 1.0), actuator=(0.2, 0.25, 0.2, 1.0), actuatornegative=(0.2, 0.6, 0.9, 1.0),
        actuatorpositive=(0.9, 0.4, 0.2, 1.0), com=(0.9, 0.9, 0.9, 1.0), camera=(0.6, 0.9, 0.6, 1.0),
        light=(0.6, 0.6, 0.9, 1.0), selectpoint=(0.9, 0.9, 0.1, 1.0), connect=(0.2, 0.2, 0.8, 1.0),
        contactpoint=(0.9, 0.6, 0.2, 1.0), contactforce=(0.7, 0.9, 0.9, 1.0), contactfriction=(0.9, 0.8, 0.4, 1.0),
        contacttorque=(0.9, 0.7, 0.9, 1.0), contactgap=(0.5, 0.8, 0.9, 1.0), rangefinder=(1.0, 1.0, 0.1, 1.0),
        constraint=(0.9, 0.0, 0.0, 1.0), slidercrank=(0.5, 0.3, 0.8, 1.0), crankbroken=(0.9, 0.0, 0.0, 1.0),
        frustum=(1.0, 1.0, 0.0, 0.2), bv=(0.0, 1.0, 0.0, 0.5), bvactive=(1.0, 0.0, 0.0, 0.5),
    ),
}  # fmt: skip

_DISABLE = {
    name: mjtDisableBit[f"mjDSBL_{name.upper()}"]
    for name in """constraint equality frictionloss limit contact spring damper gravity clampctrl warmstart filterparent
    actuation refsafe sensor midphase eulerdamp autoreset nativeccd island""".split()
}
_ENABLE = {
    name: mjtEnableBit[f"mjENBL_{name.upper()}"] for name in "override energy fwdinv invdiscrete multiccd sleep".split()
}


def _update(values, sections):
    for node in sections:
        for name, value in node.attrib.items():
            base = values.get(name)
            if isinstance(base, (tuple, list)) and len(value) < len(base):
                value = [*value, *base[len(value) :]]
            values[name] = value
    return values


def read_compiler(sections):
    """dict of compiler settings; later sections override earlier ones attribute by attribute, as in MuJoCo."""
    compiler = dict(COMPILER)
    for node in sections:
        sequence = node.attrib.get("eulerseq")
        if sequence is not None and (len(sequence) != 3 or set(sequence) - set("xyzXYZ")):
            raise node.error(f"'eulerseq' is three of the letters xyzXYZ, found '{sequence}'")
        if node.attrib.get("coordinate"):
            raise node.error("global coordinates are no longer part of MJCF")
        _update(compiler, [node])
        if "assetdir" in node.attrib:
            compiler.update({k: node.attrib.get(k, node.attrib["assetdir"]) for k in ("meshdir", "texturedir")})
    return compiler | {k: compiler[k].replace("\\", "/") for k in ("assetdir", "meshdir", "texturedir")}


def read_option(sections):
    """dict of mjOption's fields; vectors are arrays."""
    option = dict(OPTION)
    for node in sections:
        attrib = dict(node.attrib)
        groups = attrib.pop("actuatorgroupdisable", None)
        if groups is not None:
            if any(not 0 <= g <= 30 for g in groups):
                raise node.error("'actuatorgroupdisable' holds groups from 0 to 30")
            option["disableactuator"] = sum(1 << g for g in set(groups))
        for name, value in attrib.items():
            base = option[name]
            option[name] = [*value, *base[len(value) :]] if isinstance(base, (tuple, list)) else value
        for flag in node.children:
            for name, value in flag.attrib.items():
                field, bit, on = (
                    ("disableflags", _DISABLE[name], not value)
                    if name in _DISABLE
                    else ("enableflags", _ENABLE[name], value)
                )
                option[field] = option[field] | int(bit) if on else option[field] & ~int(bit)
    return {k: np.array(v, float) if isinstance(v, (tuple, list)) else v for k, v in option.items()}


def read_size(sections):
    """dict of the size section; `memory` in bytes, -1 where it is not given."""
    size = dict(SIZE)
    for node in sections:
        _update(size, [node])
        for name in {"njmax", "nstack"} & set(node.attrib):
            if size["memory"].strip() != "-1" and size[name] != -1:
                raise node.error(f"'memory' and '{name}' exclude each other")
        for name, value in node.attrib.items():
            # a negative number means nothing, but only -1 may say so for user data and nconmax
            if name not in ("memory", "nkey", "njmax", "nstack") and value < (0 if name == "nuserdata" else -1):
                raise node.error(f"'{name}' is too small: {value}")
            if name not in ("memory", "njmax", "nconmax", "nstack") and value > MAX_COUNT:
                raise node.error(f"'{name}' is too large: {value}")
    text = size["memory"].strip()
    if text == "-1":
        size["memory"] = -1
        return size
    unit = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}.get(text[-1:].upper())
    digits = text[:-1] if unit else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise sections[-1].error(
            f"'memory' is a number with an optional suffix K, M, G, T, P or E, found '{text[:40]}'"
        )
    size["memory"] = int(digits) << (unit or 0)
    if size["memory"] >= 2**63:
        raise sections[-1].error(f"'memory' is too large: {text}")
    return size


def read_visual(sections):
    """dict section -> dict of mjVisual's fields; colours and light intensities are arrays."""
    visual = {name: dict(values) for name, values in VISUAL.items()}
    for node in sections:
        for child in node.children:
            visual[child.tag].update(child.attrib)
    return {
        name: {k: np.array(v, float) if isinstance(v, (tuple, list)) else v for k, v in values.items()}
        for name, values in visual.items()
    }
