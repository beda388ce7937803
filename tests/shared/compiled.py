"""What tests of the compiler share: compiled models compared, and texts that MuJoCo or both engines refuse."""

import mujoco
import numpy as np
import pytest

from tisim import Model
from tisim.errors import MjcfError

# what differences() compares
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
text tuple key mesh hfield""".split()


def differences(ours, theirs):
    """dict field -> what differs, over everything the compiler of this project defines but the arrays of assets."""
    out = array_differences(ours, theirs, FIELDS)

    def compare(name, a, b, tolerance=1e-9):
        if not _close(a, b, tolerance):
            out[name] = f"{a}, expected {b}"

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


def array_differences(ours, theirs, names, single=1e-9):
    """dict field -> how it differs: its shape, its dtype, or a value by more than 1e-9 of the largest one.

    single  tolerance for float32 in place of 1e-9.
    """
    out = {}
    for name in names:
        a, b = getattr(ours, name), getattr(theirs, name)
        if np.shape(a) != np.shape(b):
            out[name] = f"shape {np.shape(a)}, expected {np.shape(b)}"
        elif isinstance(b, np.ndarray) and a.dtype != b.dtype:
            out[name] = f"dtype {a.dtype}, expected {b.dtype}"
        elif not _close(a, b, single if np.asarray(b).dtype == np.float32 else 1e-9):
            out[name] = f"{a}, expected {b}"
    return out


def _close(a, b, tolerance):
    return not np.size(b) or np.max(np.abs(np.subtract(a, b, dtype=float))) <= tolerance * max(1, np.max(np.abs(b)))


def bit_differences(ours, theirs):
    """Names of the fields of two Compiled that are not equal bit by bit."""

    def equal(a, b, key):
        a, b = np.asarray(a.get(key)), np.asarray(b.get(key))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()

    out = [name for name in ours.arrays.keys() | theirs.arrays.keys() if not equal(ours.arrays, theirs.arrays, name)]
    for group in ("sizes", "names", "texts", "modelname"):
        out += [group] * (getattr(ours, group, None) != getattr(theirs, group, None))
    for name in ("option", "stat"):
        a, b = getattr(ours, name), getattr(theirs, name)
        out += [f"{name}.{key}" for key in a.keys() | b.keys() if not equal(a, b, key)]
    for name, section in ours.visual.items():
        out += [f"visual.{name}.{key}" for key in section if not equal(section, theirs.visual[name], key)]
    return out


def their_model(text, assets=None):
    """MuJoCo's model of a text, None where it refuses the text."""
    try:
        return mujoco.MjModel.from_xml_string(text, assets)
    except ValueError:
        return None


def disagreements(texts, differences=differences):
    """dict text -> what differs, of the texts that only one engine accepts or that give models which differ."""
    out = {}
    for text in texts:
        theirs = their_model(text)
        try:
            ours = Model.from_xml_string(text)
        except MjcfError:
            ours = None
        if (ours is None) != (theirs is None):
            out[text] = "accepted" if ours else "refused"
        elif ours and (bad := differences(ours, theirs)):
            out[text] = bad
    return out


def refusal(text, words, assets=None):
    """The MjcfError of a text that MuJoCo refuses too; its message holds all of `words`."""
    assert their_model(text, assets) is None
    with pytest.raises(MjcfError) as info:
        Model.from_xml_string(text, assets)
    missing = [word for word in words if word not in str(info.value)]
    assert not missing, f"{missing} not in: {info.value}"
    return info.value
