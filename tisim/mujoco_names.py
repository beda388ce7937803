"""What to say to those who ask for a name that MuJoCo has and tisim has not: what to use instead."""

import functools
import re
import sys

# functions and classes that have another name here than their words joined by underlines, as mj_jacBodyCom would be
# jac_body_com; where they are called otherwise, with the call
OTHERS = dict(
    MjModel="Model", MjData="Data", MjSpec="Spec", FatalError="Error", UnexpectedError="Error",
    mj_resetData="reset", mj_resetDataKeyframe="reset_keyframe",
    mj_makeData="Data",
    mjv_makeConnector="mjv_connector(geom, type, width, from_, to), with points of three numbers",
    mju_muscleGain="muscle_gain", mju_muscleBias="muscle_bias", mju_muscleDynamics="muscle_dynamics",
    mju_muscleGainLength="muscle_gain_length",
)  # fmt: skip
# those that fill an array which the caller gives, and return it here: arguments, what they return
RETURN = dict(
    mj_jac=("jac(m, d, point, body)", "jacp and jacr"), mj_jacBody=("jac_body(m, d, body)", "jacp and jacr"),
    mj_jacBodyCom=("jac_body_com(m, d, body)", "jacp and jacr"), mj_jacGeom=("jac_geom(m, d, geom)", "jacp and jacr"),
    mj_jacSite=("jac_site(m, d, site)", "jacp and jacr"), mj_jacSubtreeCom=("jac_subtree_com(m, d, body)", "jacp"),
    mj_jacPointAxis=("jac_point_axis(m, d, point, axis, body)", "both Jacobians"),
    mj_jacDot=("jac_dot(m, d, point, body)", "both rates"), mj_angmomMat=("angmom_mat(m, d, body)", "the matrix"),
    mj_fullM=("full_m(m, d)", "the matrix"), mj_mulM=("mul_m(m, d, vec)", "the product"),
    mj_mulM2=("mul_m2(m, d, vec)", "the product"), mj_solveM=("solve_m(m, d, y)", "x"),
    mj_solveM2=("solve_m2(m, d, y)", "x"), mj_rne=("rne(m, d, flg_acc)", "the forces"),
    mj_contactForce=("contact_force(m, d, contact)", "the force"),
    mj_objectVelocity=("object_velocity(m, d, objtype, objid, flg_local)", "the velocity"),
    mj_objectAcceleration=("object_acceleration(m, d, objtype, objid, flg_local)", "the acceleration"),
    mj_applyFT=("apply_ft(m, d, force, torque, point, body)", "the joint forces"),
    mj_integratePos=("integrate_pos(m, qpos, qvel, dt)", "the positions"),
    mj_differentiatePos=("differentiate_pos(m, dt, qpos1, qpos2)", "the velocity"),
    mj_local2Global=("local_to_global(m, d, pos, quat, body)", "position and matrix"),
    mj_extractState=("extract_state(m, state, srcsig, dstsig)", "the state"),
    mj_getState=("get_state(m, d, sig)", "the state"), mj_ray=("ray(m, d, pnt, vec)", "distance and geom"),
    mj_multiRay=("multi_ray(m, d, pnt, vec)", "distances and geoms"),
    mj_geomDistance=("geom_distance(m, d, geom1, geom2, distmax)", "the distance and the segment"),
    mjd_transitionFD=("transition_fd(m, d, eps, centered)", "A, B, C and D"),
    mjd_inverseFD=("inverse_fd(m, d, eps, actuation, centered)", "seven matrices"),
)  # fmt: skip
OTHERS |= {name: f"{call}, which returns {what}" for name, (call, what) in RETURN.items()}
RETURNS = {call.partition("(")[0]: (call, what) for call, what in RETURN.values()}
LATER = "a later version will have it"
WINDOW = "tisim.viewer.launch_passive(m, d) and tisim.viewer.view(m, d, step=f) open a window"
PICTURE = "tisim.viewer.render(m, d, width, height, camera=...) returns a picture"
NUMPY = "not part of tisim: NumPy does it, or MuJoCo's own function, which takes NumPy arrays and no model"
ROWS = "not formed here; d.efc_J is the Jacobian of all rows, d.efc_force and the other efc_ vectors are there"

# (pattern of a whole name, what to say): the first that fits. Of the module mujoco and its modules:
OF_MODULE = (
    (r"mj_name2id", "use m.name2id('geom', name), or m.geom(name).id"),
    (r"mj_id2name", "use m.id2name('geom', id), or m.geom(id).name"),
    (r"mj_copyData|mj_copyModel", "use copy.copy(d), copy.copy(m)"),
    (r"mj_loadXML|mj_parseXML.*", "use Model.from_xml_path or Model.from_xml_string"),
    (r"mj_saveLastXML", "use m.save('model.xml'), or m.spec().to_xml()"),
    (r"mj_(saveModel|loadModel|sizeModel)", "use m.save('model.npz') and Model.load('model.npz')"),
    (r"mj_versionString|mj_version|mjVERSION_HEADER", "use __version__"),
    (r"mj_(fwd\w+|kinematics|comPos|comVel|camlight|flex|tendon|transmission|crb|makeM|factorM|collision|"
     r"makeConstraint|island|projectConstraint|referenceConstraint|constraintUpdate|passive|check\w+|sensor\w+|"
     r"subtreeVel|Euler|implicit\w*|RungeKutta)",
     "stages are not called one by one; forward(m, d) computes all that a step does, without integrating"),
    (r"mj_energy\w+", "set m.opt.enableflags |= mjtEnableBit.mjENBL_ENERGY; d.energy is computed by forward and step"),
    (r"mj_setLengthRange|mj_setTotalmass|MjLROpt|mj_defaultLROpt",
     "change a Spec and compile it, which computes all that follows from masses and poses"),
    (r"mj_getTotalmass", "use m.body_mass.sum()"),
    (r"mj_isPyramidal", "use m.opt.cone == mjtCone.mjCONE_PYRAMIDAL"),
    (r"mj_isSparse|mj_isDual", "not asked here: matrices are never stored whole; m.opt.solver tells whether it is PGS"),
    (r"mj_print\w+", "print(m), print(d) and print(d.warning) are short; `tisim info FILE` tells about a model"),
    (r"mj_(\w*Cache\w*|\w*[Pp]lugin\w*|resetDataDebug)", "there are no plugins and no cache of assets"),
    (r"mj_(rayHfield|rayMesh)", "use ray(m, d, pnt, vec), which meets all shapes"),
    (r"mj_addContact", "contacts come from colliders: register_collider adds one of your own"),
    (r"mj_default\w+", "a new Spec has the defaults: tisim.Spec().option.timestep"),
    (r"mj_mulJacVec|mj_mulJacTVec", "use d.efc_J @ vec, d.efc_J.T @ vec"),
    (r"mj_(inv[A-Z]\w+|discreteAcc)", "stages are not called one by one; inverse(m, d) computes all of them"),
    (r"mj_compareFwdInv", "set m.opt.enableflags |= mjtEnableBit.mjENBL_FWDINV; step writes d.solver_fwdinv"),
    (r"mjd_(subQuat|quatIntegrate)", NUMPY),
    (r"mj_(addM|normalizeQuat)|mjd_\w+",
     LATER + "; until then MuJoCo's own works on an MjData of the same qpos and qvel"),
    (r"mju_rotVecQuat|mju_\w*(Quat|Pose|Rot|Mat)\w*", NUMPY + " (scipy.spatial.transform.Rotation for rotations)"),
    (r"mju_\w+", NUMPY),
    (r"[gs]et_mjcb_time", "set d.timer.on = True: timers have a clock of their own"),
    (r"[gs]et_mj\w+", "errors are exceptions, and warnings Python's; d.warning counts them"),
    (r"mj_resetCallbacks", "use reset_callbacks()"),
    (r"mjs_\w+|Mjs\w+", "elements of a Spec are made by its methods: spec.worldbody.add_body(...)"),
    (r"renderer", "the name is Renderer: tisim.Renderer(m, height, width)"),
    (r"Mjr\w+|mjr_\w+|GLContext|gl_context|glfw|MjvScene|MjvGeom|MjvLight|MjvGLCamera|mjv_\w*"
     r"(Scene|Geoms?|Lights|Skin)", PICTURE),
    (r"Mjv\w+|mjv_\w+", PICTURE + "; " + WINDOW),
    (r"launch|launch_passive|launch_from_path|launch_repl|run_mjviewer|Handle", WINDOW),
    (r"Rollout", "use tisim.rollout.Rollout()"),
    (r"minimize", "not part of tisim; scipy.optimize.least_squares minimises, too"),
    (r"MjContact|MjWarningStat|MjSolverStat|MjTimerStat", "read d.contact, d.warning, d.solver and d.solver_niter"),
    (r"MjOption|MjStatistic|MjVisual\w*", "a model has them: m.opt, m.stat, m.vis"),
    (r"mj[A-Z]\w+", "a constant or text of MuJoCo's C code, which tisim does not repeat"),
    (r"mjt(Button|DepthMap|Event|Font\w*|Framebuffer|GridPos|Item|Mouse|PluginCapabilityBit|Section|Stereo|"
     r"TaskStatus)", "an enum of what tisim does not do: drawing, input, plugins"),
    (r"from_zip|to_zip", "use Spec.from_file and spec.to_file; assets are files beside it, or Spec.from_string(text, "
                         "assets)"),
    (r"Mj(Byte|Char|Double|Float|Int|String)Vec|MjStruct|PLUGIN\w+|HEADERS_DIR", "a part of MuJoCo's bindings"),
)  # fmt: skip

# functions, asked for as methods of a Model or Data
CALLS = r"step|step1|step2|forward|inverse|reset|reset_keyframe|get_state|set_state|settle"
TOLD = "functions take both, as tisim.step(m, d)"

# of an MjData
OF_DATA = (
    (CALLS, TOLD),
    (r"copy", "copy.copy(d) makes a copy"),
    (r"render", "tisim.viewer.render(m, d, width, height) draws a picture"),
    (r"efc_J_\w+", "d.efc_J is a sparse matrix of SciPy: indptr, indices, data"),
    (r"efc_AR\w*|iefc_\w+|nJ|nA", ROWS),
    (r"iM\w*|iLD\w*", "the inertia matrix is d.M, with m.M_rownnz, m.M_rowadr and m.M_colind"),
    (r"light_\w+", LATER + "; until then a light's place follows from d.xpos, d.xmat, m.light_pos and m.light_dir"),
    (r"ten_J_\w+", "d.ten_J is a matrix, (ntendon, nv)"),
    (r"ten", "use d.tendon(name)"),
    (r"tendon_efcadr|nJmom", "d.efc_type and d.efc_id tell the rows of tendons, d.moment_rowadr the rows of actuators"),
    (r"\w*awake\w*", "d.body_awake and d.tree_asleep tell who is awake"),
    (r"\w*island\w*|map_\w+|nidof|ifrc_\w+|iacc\w*|tree\w*",
     "d.tree_island, d.dof_island and d.efc_island tell who is in which of the d.nisland islands"),
    (r"solver\w*", "d.solver_niter counts the iterations of each island, d.solver and d.solver_nnz tell more"),
    (r"maxuse_\w+|narena|nbuffer|parena|pbase|pstack|threadpool", "lists grow as needed; d.memory() tells the bytes of "
                                                                  "each array"),
    (r"bvh_\w+|signature|bind\w*", "not for users of tisim; d.body(name) and its like give the values of an element"),
    (r"flex\w+|\w*plugin\w*", "flexes and plugins are not part of tisim"),
)  # fmt: skip

# of an MjModel
OF_MODEL = (
    (CALLS, TOLD),
    (r"copy", "copy.copy(m) makes a copy"),
    (r"timestep|gravity|integrator|solver|cone|iterations|tolerance|enableflags|disableflags|dynamics",
     "options are in m.opt, as m.opt.timestep"),
    (r"from_binary_path", "MuJoCo's .mjb is not read; Model.from_mujoco(mj_model) takes what MuJoCo loaded, m.save and "
                          "Model.load are tisim's own"),
    (r"names\w*|name_\w+|nnames\w*", "m.id2name('body', id) and m.name2id('body', name) tell names and ids"),
    (r"\w*bvh\w*|noct|\w*oct(_\w+|adr|num)", "boxes around meshes are made by tisim itself"),
    (r"\w*paths?\w*", "where assets came from is not kept"),
    (r"[BDM]_\w+|map\w+|n[BDJ]\w*|nbuffer|narena|nemax", "a part of MuJoCo's own bookkeeping"),
    (r"signature|bind\w*", "m.body(name) and its like give the fields of an element"),
    (r"\w*flex\w*|\w*plugin\w*", "flexes and plugins are refused when a file is read, so no model has them"),
)  # fmt: skip

# of an MjSpec
OF_SPEC = (
    (r"from_zip|to_zip", OF_MODULE[-2][1]),
    (r"\w*[Pp]lugins?\w*|\w*flex\w*", "flexes and plugins are not part of tisim"),
    (r"copy_during_attach|parent|override_assets|comment|modelfiledir|nemax|resolve_orientation",
     "not in tisim's Spec: attach always copies, orientations may be euler, axisangle, xyaxes or zaxis"),
)  # fmt: skip


def instead(name, table=OF_MODULE):
    """What to use for a name of MuJoCo's, after a semicolon; "" for a name that MuJoCo has not, either."""
    for pattern, words in table:
        if re.fullmatch(pattern, name):
            return f"; {words}"
    return ""


def told(name, function):
    """The function; one of RETURN tells what it takes and returns where it is called with other arguments."""
    if name not in RETURNS:
        return function

    @functools.wraps(function)
    def call(*args, **values):
        try:
            return function(*args, **values)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:  # from inside the function
                raise
            takes, what = RETURNS[name]
            text = f"{error}; tisim.{takes} returns {what} and fills no array"
        from tisim.errors import CallError

        raise CallError(text)

    call.__module__ = "tisim"  # where pickle finds it
    return call


def missing(module, name, there, own=()):
    """The error for a name that a module of tisim has not, called by its __getattr__.

    there  names that it has;  own  those of them that are a function or class of MuJoCo's.
    """
    if name.startswith("_"):
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    from tisim.errors import FieldError, MissingNameError
    from tisim.mjcf.format.names import nearest

    words = name.removeprefix("mj_")
    ours = OTHERS.get(name) or "".join(f"_{c.lower()}" if c.isupper() else c for c in words)
    hint = f"; the name is {ours}" if ours.partition("(")[0] in own else instead(name)
    # `from tisim import x` asks first whether there is an x, and would put its own words in place of the hint
    imports = sys._getframe(2).f_code.co_name == "_handle_fromlist"
    kind = MissingNameError if hint and imports else FieldError
    return kind(f"module '{module}' has no attribute '{name}'{hint or nearest(name, there)}")
