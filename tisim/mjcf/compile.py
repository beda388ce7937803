"""The compiler: a checked tree becomes the arrays of a model. The order of the work, on one screen."""

import numpy as np

from tisim.device.garbage import unsearched
from tisim.enums import mjtJacobian, mjtJoint, mjtObj, mjtSleepPolicy
from tisim.errors import Problems

from . import rotations, tree
from .assets import hfield, mesh, skin, texture
from .elements import actuator, bodies, custom, equality, geom_assets, keyframe, sensor, tendon
from .elements.cameras import compile_cameras, compile_lights
from .elements.geoms import compile_geoms
from .elements.joints import compile_joints
from .elements.materials import check_materials, compile_materials
from .elements.pairs import compile_contacts
from .elements.sites import compile_sites
from .format import settings
from .lengthrange import lengthrange
from .numbers import MINVAL
from .reduce import discard, fuse
from .reference import setconst
from .reference.set_actuators import set_actuators
from .scene.expand import expand
from .scene.items import column, first, unique_names


class Compiled:
    """What the compiler hands to Model: arrays (dict name -> array), sizes, option, stat, visual, names, textures.

    names  dict mjtObj -> list of names in id order;  nodes  dict "body", "joint", "actuator" -> Nodes in id order;
    scope  the Scope of a specification that gives this model;  texts  dict name -> text of custom texts.
    """

    def __init__(self):
        self.arrays, self.sizes, self.names, self.nodes, self.scope = {}, {}, {}, {}, None
        self.option = self.stat = self.visual = None
        self.textures, self.texts, self.modelname = [], {}, "MuJoCo Model"


def compile_scope(scope):
    """Compiled model of a parsed file (see parse.py). Raises MjcfError where a rule of the format is broken."""
    with np.errstate(all="ignore"), unsearched():
        out = _compile(scope)
    for name, array in out.arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise scope.root.error(f"numbers too large: {name} of the compiled model is not finite")
    return out


def _compile(scope):
    compiler, out, problems = scope.compiler, Compiled(), Problems()
    out.scope, out.modelname, a = scope, scope.root.attrib.get("model", out.modelname), out.arrays
    size, ranges = _settings(scope, out, problems)
    with problems:
        expanded = expand(scope)
    problems.check()
    scene, items = expanded.world, expanded.lists
    with problems:
        check_materials(items["material"])
    if compiler["discardvisual"]:
        discard.discard_materials(scene, items)

    meshes, (dofs, ref, spring_ref, spring_damper) = _elements(scene, items, size, out, problems)
    out.sizes["ntree"] = tree.link(a)
    aligned = _align(scene, a)
    _leave_out(scene, items, meshes, compiler, out)
    bodies.check_bodies(scene, a)
    bodies.check_masses(scene, a)
    for name, values in dofs.items():
        a[f"dof_{name}"] = values[a["dof_jntid"]]
    a["qpos0"], a["qpos_spring"] = _reference(a, ref), _reference(a, spring_ref)
    _same_frames(a)
    a["tree_sleep_policy"] = _sleep(scene, a)

    with problems:
        out.names.update(_names(scene, items))
        _refer(scene, items, size, out, problems)
        coupled = tendon.compile_tendons(a, items["tendon"], items["material"], size["nuser_tendon"], out)
        tendon.keep_awake(a, items["tendon"])
        _drive(scene, items, size, out, problems)
    problems.check()
    tree.simplify(a, coupled)
    out.sizes["nM"], out.sizes["nC"] = tree.inertia_sparsity(a)
    if not compiler["fusestatic"]:  # there MuJoCo compiles cameras and lights once more, and forgets the alignment
        _align_seen(aligned, a)
    _constants(scope, items, ranges, spring_damper, out)

    for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor"):
        out.sizes[f"nuser_{kind}"] = a[f"{kind}_user"].shape[1]
    out.sizes.update(nuserdata=size["nuserdata"], njmax=size["njmax"], nconmax=size["nconmax"], memory=size["memory"])
    lists = {"body": scene.bodies, "joint": scene.joints, "actuator": items["actuator"]}
    out.nodes = {kind: [item.node for item in some] for kind, some in lists.items()}
    return out


def _settings(scope, out, problems):
    """(size, options of lengthrange): dicts of what the file sets for the whole model; the rest goes to `out`."""
    of, size, ranges = scope.of, None, None
    with problems:
        size = settings.read_size(of("size"))
    with problems:
        out.option, out.visual = settings.read_option(of("option")), settings.read_visual(of("visual"))
    with problems:
        ranges = lengthrange.read_options(of("compiler"))
    return size, ranges


def _elements(scene, items, size, out, problems):
    """Arrays of meshes, height fields, geoms, joints, sites and bodies, each as if it stood alone.

    Returns the meshes and what joints know of their dofs: (dict of dof values, ref, springref, springdamper).
    """
    a = out.arrays
    with problems:  # geoms first: bodies take their inertia from them
        a["body_parentid"], weld = bodies.body_tree(scene)
        infer = bodies.inferred(scene)
        meshes = mesh.compile_meshes(a, items["mesh"], scene.geoms, items["pair"], out)
        hfield.compile_hfields(a, items["hfield"], out)
        assets = geom_assets.Assets(meshes, a["hfield_size"], out.names)
        geoms, mass, inertia = compile_geoms(scene.geoms, assets, items["material"], size["nuser_geom"], weld, infer)
    with problems:
        joints, *of_dofs = compile_joints(scene.joints, size["nuser_jnt"])
    with problems:
        sites = compile_sites(scene.sites, items["material"], size["nuser_site"])
    problems.check()
    a.update(bodies.compile_bodies(scene, size["nuser_body"], infer, geoms, mass, inertia))
    for arrays in (geoms, joints, sites):
        a.update(arrays)
    return meshes, of_dofs


def _leave_out(scene, items, meshes, compiler, out):
    """What fusestatic and discardvisual take out of the model, and the contact flags of the bodies in between."""
    a, less = out.arrays, compiler["fusestatic"] or compiler["discardvisual"]
    if less:
        _names(scene, items)  # even what will be gone needs a name of its own
    if compiler["fusestatic"]:
        fuse.fuse_static(a, scene, items)
    _body_contact(a, column(scene.geoms, "margin"))
    if compiler["discardvisual"]:
        discard.discard_visual(a, scene, items, meshes, out)
    if less:
        out.sizes["ntree"] = tree.link(a)


def _same_frames(a):
    """geom_sameframe, site_sameframe and body_sameframe."""
    for kind in ("geom", "site"):
        owner = a[f"{kind}_bodyid"]
        a[f"{kind}_sameframe"] = bodies.same_frame(
            a[f"{kind}_pos"], a[f"{kind}_quat"], a["body_ipos"][owner], a["body_iquat"][owner]
        )
    nbody = len(a["body_parentid"])
    at_zero = np.zeros((nbody, 3)), np.tile(rotations.IDENTITY, (nbody, 1))
    a["body_sameframe"] = bodies.same_frame(a["body_ipos"], a["body_iquat"], *at_zero)


def _constants(scope, items, ranges, spring_damper, out):
    """The constants of the reference pose, what actuators and springs take from them, and the statistics."""
    a, total = out.arrays, scope.compiler["settotalmass"]
    if total > 0:
        scale = total / max(MINVAL, float(a["body_mass"][1:].sum()))
        a["body_mass"] *= scale
        a["body_inertia"] *= scale
    blocks = [] if items["actuator"] or items["tendon"] else None
    sparse = _is_sparse(out, a)
    out.stat = setconst.set_const(a, blocks, sparse)
    if items["actuator"]:
        set_actuators(a, items["actuator"], blocks, sparse)
    setconst.spring_damper(a, spring_damper)
    lengthrange.set_length_range(a, items["actuator"], ranges, out.option, out.stat["meaninertia"], sparse)
    for node in scope.of("statistic"):
        if node.attrib.get("extent", 1.0) <= 0:
            raise node.error("'extent' must be positive")
        out.stat.update({k: np.array(v) if isinstance(v, list) else v for k, v in node.attrib.items()})


def _refer(scene, items, size, out, problems):
    """What refers to bodies, geoms and joints by name and does not need the tendons."""
    a, materials = out.arrays, items["material"]
    with problems:
        texture.compile_textures(a, items["texture"], out)
        compile_materials(a, materials, out)
        skin.compile_skins(a, items["skin"], materials, out)
    with problems:
        compile_cameras(a, scene.cameras, size["nuser_cam"], out)
    with problems:
        compile_lights(a, scene.lights, out)
    with problems:
        compile_contacts(a, items["pair"], items["exclude"], out)
    with problems:
        custom.compile_custom(a, items["numeric"], items["text"], out)


def _drive(scene, items, size, out, problems):
    """What refers to tendons too: equalities, actuators, keyframes, sensors, tuples."""
    a = out.arrays
    with problems:
        equality.compile_equalities(a, items["equality"], out)
    with problems:
        actuator.compile_actuators(a, items["actuator"], size["nuser_actuator"], out)
    with problems:
        keyframe.compile_keys(a, items["key"], scene, size["nkey"], out)
    problems.check()  # sensors need the arrays of all they refer to
    with problems:
        custom.name_tuples(items["tuple"], out)
        sensor.compile_sensors(a, items["sensor"], size["nuser_sensor"], out)
        custom.compile_tuples(a, items["tuple"], out)


def _align(scene, a):
    """Aligns free joints where asked, and moves what is fixed to their bodies."""
    aligned = bodies.align_free(scene, a)
    if len(aligned[0]):
        for kind in ("geom", "site"):
            bodies.into_aligned(aligned, a[f"{kind}_bodyid"], a[f"{kind}_pos"], a[f"{kind}_quat"])
    return aligned


def _is_sparse(out, a):
    """Whether MuJoCo would use sparse Jacobians (mj_isSparse)."""
    jacobian = out.option["jacobian"]
    auto = jacobian == mjtJacobian.mjJAC_AUTO and len(a["dof_bodyid"]) >= 60
    return jacobian == mjtJacobian.mjJAC_SPARSE or auto


def _align_seen(aligned, a):
    """Moves cameras and lights with the aligned bodies that they are fixed to."""
    if len(aligned[0]):
        bodies.into_aligned(aligned, a["cam_bodyid"], a["cam_pos"], a["cam_quat"])
        rows, back = bodies.into_aligned(aligned, a["light_bodyid"], a["light_pos"], None)
        a["light_dir"][rows] = rotations.rotate(back, a["light_dir"][rows])


def _reference(a, scalar):
    """qpos (nq,) with `scalar` (njnt,) in hinges and slides, the body's pose in free joints, no turn in balls."""
    kind, adr, body = a["jnt_type"], a["jnt_qposadr"], a["jnt_bodyid"]
    qpos = np.zeros(int(tree.NQ[kind].sum()))
    one = kind >= mjtJoint.mjJNT_SLIDE
    qpos[adr[one]] = scalar[one]
    qpos[adr[kind == mjtJoint.mjJNT_BALL]] = 1
    free = kind == mjtJoint.mjJNT_FREE
    place = adr[free][:, None]
    qpos[place + np.arange(3)] = a["body_pos"][body[free]]
    qpos[place + np.arange(3, 7)] = a["body_quat"][body[free]]
    return qpos


def _body_contact(a, margin):
    """body_contype, body_conaffinity and body_margin: the union over a body's geoms."""
    n, owner = len(a["body_parentid"]), a["geom_bodyid"]
    a["body_contype"], a["body_conaffinity"] = np.zeros(n, np.int32), np.zeros(n, np.int32)
    a["body_margin"] = np.zeros(n)
    np.bitwise_or.at(a["body_contype"], owner, a["geom_contype"])
    np.bitwise_or.at(a["body_conaffinity"], owner, a["geom_conaffinity"])
    np.maximum.at(a["body_margin"], owner, margin)


def _sleep(scene, a):
    """Policy of each tree: what the root body says, `auto` where it says nothing, which here means allowed."""
    policy = np.full(len(a["tree_bodyadr"]), int(mjtSleepPolicy.mjSLEEP_AUTO_ALLOWED), np.int32)
    said = np.zeros(len(scene.bodies), np.int32)
    said[1:] = column(scene.bodies[1:], "sleep", dtype=np.int32)
    root = np.zeros(len(said), bool)
    root[a["tree_bodyadr"]] = True
    first(scene.bodies, (said != mjtSleepPolicy.mjSLEEP_AUTO) & ~root, "'sleep' belongs to the root of a moving tree")
    given = said[a["tree_bodyadr"]]
    return np.where(given == mjtSleepPolicy.mjSLEEP_AUTO, policy, given).astype(np.int32)


def _names(scene, items):
    """dict mjtObj -> names; MjcfError where a name is used twice for one type."""
    lists = {
        mjtObj.mjOBJ_BODY: scene.bodies, mjtObj.mjOBJ_JOINT: scene.joints, mjtObj.mjOBJ_GEOM: scene.geoms,
        mjtObj.mjOBJ_SITE: scene.sites, mjtObj.mjOBJ_CAMERA: scene.cameras, mjtObj.mjOBJ_LIGHT: scene.lights,
        mjtObj.mjOBJ_MATERIAL: items["material"],
    }  # fmt: skip
    return {kind: unique_names(some, kind) for kind, some in lists.items()}
