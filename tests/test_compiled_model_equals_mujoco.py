"""The compiled model has MuJoCo 3.4.0's fields, with its values to 1e-9, its shapes and its dtypes."""

import pathlib

import mujoco
import numpy as np
import pytest

from tisim.errors import MjcfError
from tisim.model import Model

FOLDER = pathlib.Path(__file__).parent / "testdata" / "compile"
FILES = sorted(FOLDER.glob("*.xml"))

FIELDS = """
nq nv nu na nbody njnt ngeom nsite ncam nlight nmat ntex ntendon neq nsensor nsensordata npair nexclude nmocap nkey
ntree nmesh nhfield nnumeric ntext ngravcomp nuserdata nuser_body nuser_jnt nuser_geom nuser_site nuser_cam njmax
nconmax nM nC
qpos0 qpos_spring
body_parentid body_rootid body_weldid body_mocapid body_jntnum body_jntadr body_dofnum body_dofadr body_geomnum
body_geomadr body_treeid body_simple body_sameframe body_pos body_quat body_ipos body_iquat body_mass body_subtreemass
body_inertia body_invweight0 body_gravcomp body_contype body_conaffinity body_margin body_user
jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_group jnt_limited jnt_actfrclimited jnt_actgravcomp jnt_solref jnt_solimp
jnt_pos jnt_axis jnt_stiffness jnt_range jnt_actfrcrange jnt_margin jnt_user
dof_bodyid dof_jntid dof_parentid dof_treeid dof_Madr dof_simplenum dof_solref dof_solimp dof_frictionloss dof_armature
dof_damping dof_invweight0 dof_M0 dof_length M_rownnz M_rowadr M_colind
tree_bodyadr tree_bodynum tree_dofadr tree_dofnum tree_sleep_policy
geom_type geom_contype geom_conaffinity geom_condim geom_bodyid geom_dataid geom_matid geom_group geom_priority
geom_solmix geom_solref geom_solimp geom_size geom_aabb geom_rbound geom_pos geom_quat geom_sameframe geom_friction
geom_margin geom_gap geom_fluid geom_user geom_rgba
site_type site_bodyid site_matid site_group site_size site_pos site_quat site_sameframe site_user site_rgba
cam_mode cam_bodyid cam_targetbodyid cam_pos cam_quat cam_poscom0 cam_pos0 cam_mat0 cam_orthographic cam_fovy cam_ipd
cam_resolution cam_sensorsize cam_intrinsic cam_user
light_mode light_bodyid light_targetbodyid light_type light_castshadow light_bulbradius light_intensity light_range
light_active light_pos light_dir light_poscom0 light_pos0 light_dir0 light_attenuation light_cutoff light_exponent
light_ambient light_diffuse light_specular
mat_texid mat_texuniform mat_texrepeat mat_emission mat_specular mat_shininess mat_reflectance mat_metallic
mat_roughness mat_rgba tex_type tex_colorspace
pair_dim pair_geom1 pair_geom2 pair_signature pair_solref pair_solreffriction pair_solimp pair_margin pair_gap
pair_friction exclude_signature numeric_adr numeric_size numeric_data
text_adr text_size ntextdata ntuple ntupledata tuple_adr tuple_size tuple_objtype tuple_objid tuple_objprm nuser_sensor
sensor_type sensor_datatype sensor_needstage sensor_objtype sensor_objid sensor_reftype sensor_refid sensor_intprm
sensor_dim sensor_adr sensor_cutoff sensor_noise sensor_user sensor_plugin
key_time key_qpos key_qvel key_act key_mpos key_mquat key_ctrl
eq_type eq_obj1id eq_obj2id eq_objtype eq_active0 eq_solref eq_solimp eq_data nuser_tendon nwrap
tendon_adr tendon_num tendon_matid tendon_group tendon_limited tendon_actfrclimited tendon_width tendon_solref_lim
tendon_solimp_lim tendon_solref_fri tendon_solimp_fri tendon_range tendon_actfrcrange tendon_margin tendon_stiffness
tendon_damping tendon_armature tendon_frictionloss tendon_lengthspring tendon_length0 tendon_invweight0 tendon_treenum
tendon_treeid tendon_user tendon_rgba wrap_type wrap_objid wrap_prm
nuser_actuator actuator_trntype actuator_dyntype actuator_gaintype actuator_biastype actuator_trnid actuator_actadr
actuator_actnum actuator_group actuator_ctrllimited actuator_forcelimited actuator_actlimited actuator_dynprm
actuator_gainprm actuator_biasprm actuator_actearly actuator_ctrlrange actuator_forcerange actuator_actrange
actuator_gear actuator_cranklength actuator_acc0 actuator_length0 actuator_lengthrange actuator_user actuator_plugin
nskin nskinvert nskintexvert nskinface nskinbone nskinbonevert skin_matid skin_group skin_rgba skin_inflate skin_vertadr
skin_vertnum skin_texcoordadr skin_faceadr skin_facenum skin_boneadr skin_bonenum skin_vert skin_texcoord skin_face
skin_bonevertadr skin_bonevertnum skin_bonebindpos skin_bonebindquat skin_bonebodyid skin_bonevertid skin_bonevertweight
""".split()
OPTIONS = """timestep impratio gravity wind magnetic density viscosity o_margin o_solref o_solimp o_friction integrator
cone jacobian solver iterations ls_iterations noslip_iterations ccd_iterations disableflags enableflags tolerance
ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance disableactuator sdf_iterations sdf_initpoints""".split()
STATISTICS = ["meaninertia", "meanmass", "meansize", "extent", "center"]
NAMED = """body joint geom site camera light material texture skin pair exclude equality tendon actuator sensor numeric
text tuple key""".split()


def differences(ours, theirs):
    """dict field -> what differs, over everything the compiler of this project defines."""
    out = {}

    def compare(name, a, b, tolerance=1e-9):
        if isinstance(b, np.ndarray) and isinstance(a, np.ndarray) and a.shape != b.shape:
            out[name] = f"shape {a.shape}, expected {b.shape}"
        elif np.size(b) and not np.max(np.abs(np.subtract(a, b, dtype=float))) <= tolerance * max(1, np.max(np.abs(b))):
            out[name] = f"{a}, expected {b}"

    for name in FIELDS:
        a, b = getattr(ours, name), getattr(theirs, name)
        compare(name, a, b)
        if isinstance(b, np.ndarray) and a.dtype != b.dtype:
            out[name] = f"dtype {a.dtype}, expected {b.dtype}"
    if bytes(ours.text_data) != theirs.text_data:
        out["text_data"] = f"{bytes(ours.text_data)}, expected {theirs.text_data}"
    for group, names in (("opt", OPTIONS), ("stat", STATISTICS)):
        for name in names:
            compare(f"{group}.{name}", getattr(getattr(ours, group), name), getattr(getattr(theirs, group), name))
    for section in ("global_", "quality", "headlight", "map", "scale", "rgba"):
        for name, value in getattr(ours.vis, section).items():
            if np.size(expected := getattr(getattr(theirs.vis, section), name)):  # mujoco shows rgba.bv as empty
                compare(f"vis.{section}.{name}", value, expected, 1e-6)
    for kind in NAMED:
        objtype = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        number = len(ours._names.get(objtype, []))
        theirs_names = [mujoco.mj_id2name(theirs, objtype, i) or "" for i in range(number)]
        if [ours.id2name(kind, i) for i in range(number)] != theirs_names:
            out[f"names of {kind}"] = f"expected {theirs_names}"
    return out


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_field_of_a_file(path):
    assert differences(Model.from_xml_path(path), mujoco.MjModel.from_xml_path(str(path))) == {}


@pytest.mark.parametrize("seed", range(4))
def test_every_field_of_random_trees(seed):
    """Random trees of bodies with every joint and shape, turned and offset at random."""
    text = random_model(np.random.default_rng(seed))
    assert differences(Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)) == {}


def random_model(rng):
    def numbers(n, low=-1.0, high=1.0):
        return " ".join(f"{x:.6g}" for x in rng.uniform(low, high, n))

    def geom():
        kind = rng.choice(["sphere", "capsule", "ellipsoid", "cylinder", "box"])
        shell = rng.choice(["true", "false"])
        place = f'pos="{numbers(3)}" quat="{numbers(4)}"'
        return f'<geom type="{kind}" size="{numbers(3, 0.05, 0.5)}" {place} shellinertia="{shell}"/>'

    def joints(top):
        if top and rng.random() < 0.4:
            return "<freejoint/>"
        turns = rng.integers(1, 3)
        out = [f'<joint type="slide" axis="{numbers(3)}" armature="{rng.random():.3g}"/>'] * int(rng.integers(0, 2))
        out += [f'<joint axis="{numbers(3)}" pos="{numbers(3)}" ref="{rng.normal():.3g}"/>' for _ in range(turns)]
        return "".join(out if rng.random() < 0.7 else [f'<joint type="ball" pos="{numbers(3)}"/>'])

    def body(depth):
        inside = "" if depth and rng.random() < 0.25 else joints(depth == 0)
        inside += "".join(geom() for _ in range(rng.integers(1, 4)))
        inside += f'<site pos="{numbers(3)}"/>' * int(rng.integers(0, 2))
        inside += "".join(body(depth + 1) for _ in range(rng.integers(0, 3 - depth if depth < 3 else 1)))
        return f'<body pos="{numbers(3, -5, 5)}" quat="{numbers(4)}">{inside}</body>'

    bodies = "".join(body(0) for _ in range(8))
    return f'<mujoco><worldbody><geom type="plane" size="3 0 1"/>{bodies}</worldbody></mujoco>'


def test_a_file_is_read_the_same_from_a_string_with_assets():
    parts = {f"parts/{p.name}": p.read_text() for p in (FOLDER / "parts").glob("*.xml")}
    text = (FOLDER / "include_main.xml").read_text()
    ours = Model.from_xml_string(text, assets=parts)
    assert differences(ours, mujoco.MjModel.from_xml_path(str(FOLDER / "include_main.xml"))) == {}


def test_what_is_accepted_is_what_mujoco_accepts():
    """Wrong and unusual attributes, one at a time: both accept (and then agree), or both refuse."""
    disagree = {}
    for text in CASES:
        try:
            theirs = mujoco.MjModel.from_xml_string(text)
        except ValueError:
            theirs = None
        try:
            ours = Model.from_xml_string(text)
        except MjcfError:
            ours = None
        if (ours is None) != (theirs is None):
            disagree[text] = "accepted" if ours else "refused"
        elif ours:
            disagree.update({text: bad} if (bad := differences(ours, theirs)) else {})
    assert disagree == {}


def _world(inside, before="", after=""):
    return f"<mujoco>{before}<worldbody>{inside}</worldbody>{after}</mujoco>"


_GEOM, _FREE = '<geom size=".1"/>', '<body><freejoint/><geom size=".1"/></body>'
_GEOMS = [
    'size=".1" condim="2"', 'size=".1" friction="-1"', 'size=".1" density="-1"', 'type="plane"', 'size=".1" pos=""',
    'type="plane" size="1 1 0"', 'type="capsule" size=".1"', 'type="box" size="1 1 0"',
    'size=".1" fromto="0 0 0 1 1 1"',
    'type="capsule" size=".1" fromto="0 0 0 1 1 1" pos="1 0 0"', 'type="capsule" size=".1" fromto="0 0 0 0 0 0"',
    'type="box" fromto="0 0 0 1 0 0"', 'size=".1" quat="0 0 0 0"', 'size=".1" axisangle="0 0 0 1"', 'size="1,1"',
    'size=".1" zaxis="0 0 0"', 'size=".1" xyaxes="1 0 0 2 0 0"', 'size=".1" euler="1 0 0" quat="0 1 0 0"', 'size=""',
    'size=".1" euler="1 0"', 'size="1 1 1 1"', 'size=".1" type="mesh"', 'size=".1" material="none"', 'size="+.1"',
    'size=".1" class="none"', 'size=".1" class=""', 'size=".1" contype="1.5"', 'size=".1" contype="-1"',
    'type="hfield"',
    'size=".1" friction=".3"', 'size=".1" solimp=".1 .2 .3 .4 .5 .6"', 'type="pyramid" size="1"', 'size=".1" name=""',
]  # fmt: skip
_JOINTS = [
    'range="1 0"', 'range="1 0" limited="true"', 'limited="true"', 'type="ball" range="1 2"',
    'type="ball" range="0 90"',
    'type="free" range="0 1"', 'type="free" limited="true" range="0 1"', 'axis="0 0 0"', 'type="free" axis="0 0 0"',
    'springdamper="1 0"', 'springdamper=".1 1"', 'stiffness="-1"', 'armature="-.001"', 'actuatorfrcrange="1 0"',
    'actuatorfrcrange="1 0" actuatorfrclimited="true"', 'type="slide" ref="2" springref="3"', 'limited="maybe"',
]  # fmt: skip
_KEYS = [
    'qpos="1 2"',
    'qpos="1 2 3 0 0 0 0"',
    'qpos="1 2 3 4 5 6 7 8"',
    'qvel="1"',
    'ctrl="1"',
    'mpos="1"',
    'time="3"',
    'act="0"',
]
_BODIES = [
    '<joint type="ball"/><joint/>', '<joint type="ball"/><joint type="slide"/>', '<joint type="slide"/>' * 7,
    "<inertial/>",
    "<freejoint/><joint/>", '<inertial pos="0 0 0" mass="1"/>', '<freejoint/><inertial pos="0 0 0" mass="1"/>',
    '<inertial pos="0 0 0" mass="1" diaginertia="1 .1 .1"/>', '<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>',
    '<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/>', f"<body><freejoint/>{_GEOM}</body>",
    '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>', '<body mocap="true"/>',
    f'<freejoint/><body sleep="never"><joint/>{_GEOM}</body>', f"<joint/><body>{_GEOM}</body>",
]  # fmt: skip
_CONTACTS = [
    '<pair geom1="a" geom2="a"/>', '<pair geom1="a" geom2="b"/><pair geom1="b" geom2="a"/>',
    '<pair geom1="a" geom2="c"/>',
    '<pair geom1="a" geom2="b" condim="2"/>', '<pair geom1="a" geom2="b" friction="-1"/>', '<exclude body1="B"/>',
    '<exclude body1="B" body2="B"/>', '<exclude body1="B" body2="world"/>' * 2, '<exclude body1="B" body2="C"/>',
    '<pair geom1="a"/>', '<pair geom1="a" geom2="b" name="p"/><pair geom1="a" geom2="b" name="p"/>',
]  # fmt: skip
_TWO = '<geom name="a" size=".1"/><body name="B"><freejoint/><geom name="b" size=".1"/></body>'
CASES = [
    *[_world(f"<geom {a}/>") for a in _GEOMS],
    *[_world(f'<body><joint {a}/><geom size=".1" pos=".2 0 0"/></body>') for a in _JOINTS],
    *[_world(_FREE, "", f"<keyframe><key {a}/></keyframe>") for a in _KEYS],
    *[_world(f"<body>{a}{_GEOM}</body>") for a in _BODIES],
    *[_world(f"<body>{a}</body>") for a in _BODIES],
    *[_world(_TWO, "", f"<contact>{a}</contact>") for a in _CONTACTS],
    *[_world(f"<camera {a}/>") for a in ('fovy="180"', 'fovy="-1"', 'target="x"', 'focal="1 1"', 'sensorsize="1 1"')],
    *[_world(f"<site {a}/>") for a in ('type="plane"', 'size="0"', 'type="box" size="1"', 'type="box" size="1 0 1"')],
    *[_world(f"<light {a}/>") for a in ('dir="0 0 0"', 'type="spot" directional="true"', 'target="x"', 'mode="track"')],
    *[_world(a * 2) for a in ('<geom name="a" size=".1"/>', '<body name="a"/>', '<site name="a"/>',
    '<body name="world"/>')],
    *[_world(a) for a in ("<joint/>", "<freejoint/>", '<body childclass="x"/>', '<frame childclass="x"/>',
    "<replicate/>")],
    *[
        _world(_FREE, a)
        for a in (
            '<default class="x"/>', "<default><default/></default>",
            '<default><default class="a"/><default class="a"/></default>',
            '<option timestep="0"/>', "<option><flag/><flag/></option>", '<option><flag gravity="off"/></option>',
            '<size nkey="2"/>', '<size nuser_geom="-2"/>', '<size memory="1 M"/>', '<size memory="1m"/>',
            '<statistic extent="0"/>',
            '<compiler eulerseq="xy"/>', '<compiler coordinate="global"/>', '<compiler boundmass="9"/>',
            "<compiler/><compiler/>",
            '<compiler settotalmass="0"/>', '<custom><numeric name="a"/></custom>',
            '<custom><text name="a" data=""/></custom>',
            '<asset><material/></asset>', '<asset><material name="a" texture="b"/></asset>',
            "<actuator/><sensor/><tendon/>",
        )
    ],
]  # fmt: skip
