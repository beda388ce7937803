"""Every array of a Data, declared once: allocation, access, copying, reset, saving and printing follow this list.

`shape` counts one world, and an array has nworld times that many elements, world by world, unless its first dimension
says that all worlds share it: a name in `CAPACITIES` is a list that grows, one in `LENGTHS` has a length that its stage
sets by `Data.scratch`, and `ALL` means one row. The arrays of a Model are declared in tisim/model/fields.py, the tables
made from them in tisim/model/device_model.py, the numbers that kernels ask for in tisim/data/scalars.py.
"""

from .declare import ALL, LENGTHS, Array

# indices into `counts`; a count may exceed its capacity, then nothing was written beyond it and the stage is redone
COUNTS = dict(ncpair=0, nslot=1, ncon=2, nrow=3, nefc=4, nisland=5, nJ=6, ndense=7,
              ntblk=9, ncblk=10, nrblk=11, nsmall=12, nlarge=13, nentry=14, nraykey=18,
              nmid=19, nout=20, nY=21, npart=22, nislandtree=23, nislandcon=24, nislandrow=25, groupsize=26, nbad=27,
              nstale=40, nwritten=41, nwhole=42, nallbox=43, nlivestale=44, nwoken=45, nlive=46, ntawake=47, nbawake=48,
              noawake=49, nvawake=50, nqawake=51, nlawake=52, nfawake=53, nboxawake=54, nslept=55,
              nacted=56, nchanged=57, nlcp=58, nlcpwant=59)  # fmt: skip

# indices into `sweep_scale`: middle and 1 / scale of the sweep, 1 / width of strips and of rows, skin [m]
SCALES = dict(sweep_middle=0, sweep_per_length=1, sweep_per_strip=2, sweep_per_row=3, sweep_skin=4)

QUEUED_ROUNDS = 64  # of the solver on a GPU, that `solver_queue` tells of
QUEUE_BAD = 1 + 2 * QUEUED_ROUNDS  # its places that tell of qacc, and of nlarge and ndense
QUEUE_LARGE, QUEUE_DENSE = QUEUE_BAD + 1, QUEUE_BAD + 2

DATA = {}


def declare(role, rows):
    """Adds arrays given as (name, dtype, shape, unit, stage, meaning), perhaps with the numbers of an element."""
    for name, dtype, shape, unit, stage, doc, *element in rows:
        if name in DATA:
            raise ValueError(f"array {name} is declared twice")
        if shape[0] in LENGTHS and role != "stage":
            raise ValueError(f"array {name} has its stage's length, which resets and copies do not know")
        DATA[name] = Array(name, dtype, shape, role, unit, stage, doc, *element)


declare("state", [
    ("qpos", "w", ("nq",), "m, rad, -", "integrate", "joint positions, quaternions w x y z"),
    ("qvel", "f", ("nv",), "m/s, rad/s", "integrate", "joint velocities"),
    ("act", "f", ("na",), "-", "integrate", "actuator activations"),
    ("qacc_warmstart", "f", ("nv",), "m/s2, rad/s2", "step end", "where the solver starts"),
    ("world_time", "f", (1,), "s", "integrate", "simulation time"),
])  # fmt: skip

declare("input", [
    ("ctrl", "f", ("nu",), "-", "user", "controls"),
    ("qfrc_applied", "f", ("nv",), "N, N m", "user", "applied joint forces"),
    ("xfrc_applied", "f", ("nbody", 6), "N, N m", "user", "applied force, then torque, at the body's inertial frame"),
    ("eq_active", "i", ("neq",), "-", "user", "which equality constraints act"),
    ("mocap_pos", "w", ("nmocap", 3), "m", "user", "positions of mocap bodies"),
    ("mocap_quat", "w", ("nmocap", 4), "-", "user", "orientations of mocap bodies"),
    ("userdata", "f", ("nuserdata",), "-", "user", "free for the user"),
    ("qacc", "f", ("nv",), "m/s2, rad/s2", "constraint", "joint accelerations (an input of inverse)"),
])  # fmt: skip

# smooth dynamics
declare("computed", [
    ("xpos", "w", ("nbody", 3), "m", "kinematics", "body frame positions"),
    ("xquat", "w", ("nbody", 4), "-", "kinematics", "body frame orientations"),
    ("xmat", "f", ("nbody", 9), "-", "kinematics", "the same as rotation matrices"),
    ("xipos", "f", ("nbody", 3), "m", "kinematics", "positions of the inertial frames"),
    ("ximat", "f", ("nbody", 9), "-", "kinematics", "orientations of the inertial frames"),
    ("xanchor", "f", ("njnt", 3), "m", "kinematics", "joint anchors"),
    ("xaxis", "f", ("njnt", 3), "-", "kinematics", "joint axes"),
    ("geom_xpos", "w", ("ngeom", 3), "m", "kinematics", "geom positions"),
    ("geom_xmat", "w", ("ngeom", 9), "-", "kinematics", "geom orientations"),
    ("site_xpos", "f", ("nsite", 3), "m", "kinematics", "site positions"),
    ("site_xmat", "f", ("nsite", 9), "-", "kinematics", "site orientations"),
    ("ten_length", "f", ("ntendon",), "m, rad", "tendon", "lengths of tendons"),
    ("ten_velocity", "f", ("ntendon",), "m/s, rad/s", "tendon", "their rates"),
    ("subtree_com", "f", ("nbody", 3), "m", "comPos", "centre of mass of each subtree"),
    ("cinert", "f", ("nbody", 10), "kg, kg m, kg m2", "comPos",
     "body inertia about the tree's centre of mass: Ixx Iyy Izz Ixy Ixz Iyz, m*offset, m"),
    ("cdof", "f", ("nv", 6), "-", "comPos", "motion axis of each dof, rotation first, about the tree's centre of mass"),
    ("crb", "f", ("nbody", 10), "kg, kg m, kg m2", "crb", "composite inertia of each subtree, as cinert"),
    ("M", "f", ("nC",), "kg, kg m, kg m2", "crb", "inertia matrix, sparse lower triangle by M_rowadr, M_colind"),
    ("qLD", "f", ("nC",), "-", "factorM", "L and D of M = L' D L, in the places of M"),
    ("qLDiagInv", "f", ("nv",), "-", "factorM", "1 / diagonal of D"),
    ("cvel", "f", ("nbody", 6), "rad/s, m/s", "comVel", "body velocity about the tree's centre of mass"),
    ("cdof_dot", "f", ("nv", 6), "1/s", "comVel", "time derivative of cdof"),
    ("qfrc_bias", "f", ("nv",), "N, N m", "rne", "Coriolis, centrifugal and gravity forces"),
    ("qfrc_spring", "f", ("nv",), "N, N m", "passive", "joint springs"),
    ("qfrc_damper", "f", ("nv",), "N, N m", "passive", "joint dampers"),
    ("qfrc_gravcomp", "f", ("nv",), "N, N m", "passive", "gravity compensation"),
    ("qfrc_fluid", "f", ("nv",), "N, N m", "passive", "forces of the medium"),
    ("qfrc_passive", "f", ("nv",), "N, N m", "passive", "sum of the passive forces"),
    ("qfrc_actuator", "f", ("nv",), "N, N m", "actuation", "actuator forces"),
    ("actuator_length", "f", ("nu",), "m, rad", "transmission", "lengths of actuators"),
    ("actuator_velocity", "f", ("nu",), "m/s, rad/s", "transmission", "their rates"),
    ("actuator_force", "f", ("nu",), "N, N m", "actuation", "their forces"),
    ("act_dot", "f", ("na",), "1/s", "actuation", "rates of activations"),
    ("qfrc_smooth", "f", ("nv",), "N, N m", "acceleration", "all forces but those of constraints"),
    ("qacc_smooth", "f", ("nv",), "m/s2, rad/s2", "acceleration", "acceleration without constraints"),
    ("qfrc_constraint", "f", ("nv",), "N, N m", "constraint", "constraint forces"),
    ("qfrc_inverse", "f", ("nv",), "N, N m", "inverse", "force that gives qacc"),
    ("energy", "f", (2,), "J", "energy", "potential and kinetic energy", 2),
    ("solver_fwdinv", "f", (2,), "N, N m", "inverse",
     "norms of what inverse dynamics differ by, with the flag fwdinv: constraint forces, applied forces", 2),
])  # fmt: skip

# sensors
declare("computed", [
    ("sensordata", "f", ("nsensordata",), "any", "sensor", "values of the sensors, by sensor_adr"),
    ("cam_xpos", "f", ("ncam", 3), "m", "camera", "camera positions"),
    ("cam_xmat", "f", ("ncam", 9), "-", "camera", "camera orientations: right, up, back"),
    ("subtree_linvel", "f", ("nbody", 3), "m/s", "subtreeVel", "velocity of the centre of mass of each subtree"),
    ("subtree_angmom", "f", ("nbody", 3), "kg m2/s", "subtreeVel", "angular momentum of each subtree about it"),
])  # fmt: skip
declare("scratch", [
    ("sense_num", "i", ("nsensed",), "-", "sensor", "contact sides of each body with sensors of contacts"),
    ("sense_adr", "i", ("nsensed",), "-", "sensor", "first of them in sense_con"),
    ("sense_con", "i", ("nconmax", 2), "-", "sensor", "contact sides by such bodies: 2 * contact + side", 1),
    ("sense_ball", "f", ("nconmax", 4), "m", "sensor", "ball around each block of contacts: centre, radius"),
    ("picked_con", "i", ("nsensordata",), "-", "sensor", "contacts that a contact sensor shows, from sensor_adr on"),
    ("picked_key", "f", ("nsensordata",), "m, N2", "sensor", "their order: distance, or minus force squared"),
    ("pressed_num", "i", ("npressed",), "-", "sensor", "geoms that touch a body with tactile sensors"),
    ("pressed_adr", "i", ("npressed",), "-", "sensor", "first of them in pressed_con"),
    ("pressed_con", "i", ("nconmax", 2), "-", "sensor", "their first contacts: 2 * contact + the body's side", 1),
])  # fmt: skip
declare("stage", [
    ("reach_geom1", "i", ("nreach",), "-", "sensor", "pairs of geoms that sensors of distances ask about, lower type"),
    ("reach_geom2", "i", ("nreach",), "-", "sensor", "their other geoms"),
    ("reach_kind", "i", ("nreach",), "-", "sensor", "their kinds (tisim/stages/colliders.py)"),
    ("reach_flip", "i", ("nreach",), "-", "sensor", "1: the sensor names geom 2 first"),
    ("reach_slot", "i", ("nreach",), "-", "sensor", "first slot in con_slot"),
    ("reach_sensor", "i", ("nreach",), "-", "sensor", "first sensor that asks"),
    ("reach_adr", "i", ("nasked",), "-", "sensor", "first pair of each sensor of a distance"),
    ("reach_num", "i", ("nasked",), "-", "sensor", "its pairs"),
    ("reach_dist", "f", ("nreachall",), "m", "sensor", "distance of a pair"),
    ("reach_from", "f", ("nreachall", 3), "m", "sensor", "its nearest point on what the sensor names first"),
    ("reach_to", "f", ("nreachall", 3), "m", "sensor", "the one on what it names second"),
])  # fmt: skip

# collision: lists over all worlds
declare("computed", [
    ("contact_dist", "f", ("nconmax",), "m", "collision", "distance, negative in penetration"),
    ("contact_pos", "f", ("nconmax", 3), "m", "collision", "midpoint between the surfaces"),
    ("contact_frame", "f", ("nconmax", 9), "-", "collision", "rows: normal from geom 1 to geom 2, two tangents", 3),
    ("contact_includemargin", "f", ("nconmax",), "m", "collision", "margin - gap: force acts below this distance"),
    ("contact_friction", "f", ("nconmax", 5), "-", "collision", "tangential (2), torsional, rolling (2)"),
    ("contact_solref", "f", ("nconmax", 2), "s, -", "collision", "reference of the normal direction"),
    ("contact_solreffriction", "f", ("nconmax", 2), "s, -", "collision", "reference of the frictional directions"),
    ("contact_solimp", "f", ("nconmax", 5), "-", "collision", "impedance"),
    ("contact_dim", "i", ("nconmax",), "-", "collision", "dimension of the contact space: 1, 3, 4, 6"),
    ("contact_geom", "i", ("nconmax", 2), "-", "collision", "geom ids"),
    ("contact_exclude", "i", ("nconmax",), "-", "collision", "0: acts; 1: inside the gap; 2: no degrees of freedom"),
    ("contact_worldid", "i", ("nconmax",), "-", "collision", "world of the contact"),
    ("contact_mu", "f", ("nconmax",), "-", "constraint", "friction of the regularised cone"),
    ("contact_efc_address", "i", ("nconmax",), "-", "constraint", "first row of the contact, -1 if it has none"),
])  # fmt: skip

declare("scratch", [
    ("body_block", "f", ("nbody", 3), "any", "kinematics", "partial sums over fixed blocks of bodies"),
    ("cacc_bias", "f", ("nbody", 6), "rad/s2, m/s2", "rne", "body acceleration at qacc = 0, gravity included"),
    ("qH", "f", ("nC",), "kg, kg m, kg m2", "integrate", "factor of M + timestep * damping, in the places of M"),
    ("qHDiagInv", "f", ("nv",), "-", "integrate", "1 / diagonal of its D"),
    ("qacc_euler", "f", ("nv",), "m/s2, rad/s2", "integrate", "acceleration of an implicit step"),
    ("body_deriv", "f", ("nbody", 6, 6), "any", "integrate",
     "change of each body's wrench with its twist, column by column, then summed over each subtree"),
    ("cdof_rate", "f", ("nv", 6), "1/s", "integrate", "what a dof's velocity adds to accelerations below it"),
    ("qDeriv_row", "f", ("nM",), "any", "integrate", "force on each dof by velocities of its ancestors, by dof_Madr"),
    ("qDeriv_col", "f", ("nM",), "any", "integrate", "forces on its ancestors by its velocity, in the same places"),
    ("qLU_row", "f", ("nM",), "any", "integrate", "M - timestep D, laid out as qDeriv; then its factors U and L"),
    ("qLU_col", "f", ("nM",), "any", "integrate", "the other half"),
    ("rk_open", "i", (1,), "-", "integrate", "1: the state is that of a stage of RK4, within a step"),
    ("rk_qpos", "w", ("nq",), "m, rad, -", "integrate", "qpos at the beginning of a step of RK4"),
    ("rk_qvel", "f", ("nv",), "m/s, rad/s", "integrate", "qvel then"),
    ("rk_time", "f", (1,), "s", "integrate", "time then"),
    ("rk_velocity", "f", ("nv",), "m/s, rad/s", "integrate", "weighted sum of the velocities of its stages"),
    ("rk_act", "f", ("na",), "-", "integrate", "act at the beginning of a step of RK4"),
    ("rk_act_dot", "f", ("na",), "1/s", "integrate", "weighted sum of the rates of activations"),
    ("rk_qacc", "f", ("nv",), "m/s2, rad/s2", "integrate", "weighted sum of their accelerations"),
    ("qacc_inverse", "f", ("nv",), "m/s2, rad/s2", "inverse", "acceleration of which inverse dynamics are taken"),
    ("qfrc_forward", "f", ("nv",), "N, N m", "inverse", "qfrc_constraint of forward dynamics, while it is compared"),
    ("row_forward", "f", ("nrowmax",), "N, N m", "inverse", "row_force of forward dynamics, meanwhile"),
    ("bad", "i", (4,), "-", "check",
     "nq, nv or nu minus the first bad index in qpos, qvel, qacc, ctrl; 0: all are finite", 4),
    ("counts", "i", (ALL, 64), "-", "all", "lengths of the lists over all worlds, by the indices in COUNTS"),
    ("warning", "i", (16,), "-", "check", "warnings by mjtWarning: number, then last info", 16),
])  # fmt: skip

# tendons
declare("scratch", [
    ("ten_J", "f", ("ntendonJ",), "-", "tendon", "Jacobians of tendon lengths, in the places of tendon_Jdof"),
    ("wrap_line", "f", ("nwrap", 2, 6), "m, -", "tendon",
     "straight pieces of paths behind a site: a point, and the direction over the pulleys' divisor"),
    ("wrap_point", "f", ("nwrap", 2, 3), "m", "tendon", "where a path touches a geom"),
    ("wrap_touch", "i", ("nwrap",), "-", "tendon", "1: it touches the geom"),
    ("ten_bias", "f", ("ntendon",), "N, N m", "tendon", "forces by which the tendons' armature resists at qacc = 0"),
    ("heavy_value", "f", ("nheavy",), "kg", "tendon", "what tendons add to the inertia of each pair of dofs"),
    ("ten_spring", "f", ("ntendon",), "N, N m", "passive", "forces of the tendons' springs"),
    ("ten_damper", "f", ("ntendon",), "N, N m", "passive", "forces of their dampers"),
])  # fmt: skip

# actuators
declare("scratch", [
    ("moment", "f", ("nmoment",), "-", "transmission", "moments of actuators, in the places of moment_dof"),
    ("actuator_ctrl", "f", ("nu",), "-", "actuation", "controls within their ranges"),
    ("actuator_gain", "f", ("nu",), "-", "actuation", "gains of muscles and the user's"),
    ("actuator_bias", "f", ("nu",), "N, N m", "actuation", "biases of muscles and the user's"),
    ("bad_ctrl", "i", (1,), "-", "actuation", "nu minus the first bad control, 0: there is none"),
    ("adhesion_ncon", "i", ("nadhesion",), "-", "transmission", "contacts of each adhesion actuator"),
    ("adhesion_speed", "f", ("nadhesion",), "m/s", "transmission", "sum of their normal velocities"),
])  # fmt: skip

# sleeping: who does, and lists of what is awake (kernels/sleep/)
declare("computed", [
    ("tree_asleep", "i", ("ntree",), "-", "sleep",
     "from 0 on: the tree sleeps, this is the next one of its island, or 2^30: it was removed; below: -1 is ready, -11 "
     "has ten steps to go"),
])  # fmt: skip
declare("scratch", [
    ("present_mass", "f", (1,), "kg", "sleep", "mass of all that was not removed"),
    ("tree_slept", "i", ("ntree",), "-", "sleep", "1: it fell asleep in this step, its sensors are still to be made"),
    ("tree_woken", "i", ("ntree",), "-", "sleep", "1: the tree woke since the lists of what is awake were made"),
    ("tree_cycle", "i", ("ntree",), "-", "sleep", "first tree of a sleeping island, -1: the tree is awake"),
    ("awake_task", "i", ("ntask",), "-", "sleep", "tasks of each kind that are awake, world-major places among these"),
    ("task_num", "i", (ALL, "ntaskkindend"), "-", "sleep", "how many of each kind"),
    ("tree_poked", "i", ("ntree",), "-", "sleep", "1: a user moved or pushed the sleeping tree"),
    ("isle_first", "i", ("ntree",), "-", "sleep", "first tree of an island that falls asleep, -2: it does not"),
    ("isle_last", "i", ("ntree",), "-", "sleep", "its last tree so far"),
    ("awake_tree", "i", ("ntree",), "-", "sleep", "world-major trees that are awake"),
    ("awake_body", "i", ("nbody",), "-", "sleep", "their bodies, and the static ones that every step computes"),
    ("awake_object", "i", ("nobject",), "-", "sleep", "of these: bodies, then geoms, then sites of a world"),
    ("awake_dof", "i", ("nv",), "-", "sleep", "their dofs"),
    ("awake_qpos", "i", ("nq",), "-", "sleep", "their places in qpos"),
    ("awake_box", "i", ("nitem",), "-", "sleep", "their places in box_item, plus nitem times the world"),
    ("awake_limited", "i", ("nlimited",), "-", "sleep", "their limited joints"),
    ("awake_lossy", "i", ("nfriction",), "-", "sleep", "their dofs with friction loss"),
    ("cpair_live", "i", ("npairmax",), "-", "sleep", "pairs of which one geom is awake"),
])  # fmt: skip

# constraint rows other than contacts, their Jacobian's entries, and what the solver needs of contacts
declare("scratch", [
    ("eq_row", "i", ("neq",), "-", "constraint", "first row of each equality, -1: it does not act"),
    ("eq_moves", "i", ("neq",), "-", "constraint", "of connect and weld, 1: its Jacobian is not 0"),
    ("eq_adr", "i", ("neq",), "-", "constraint", "first entry of these rows"),
    ("eq_body", "i", ("neq", 2), "-", "constraint", "of connect and weld: world-major moving bodies, -1: static"),
    ("eq_arm", "f", ("neq", 2, 4), "m", "constraint", "its points from each tree's centre of mass"),
    ("eq_hess", "f", ("neq", 8), "kg", "constraint", "world Hessian of its cost, translation, as con_hess"),
    ("eq_hess_rot", "f", ("neq", 6), "kg m2", "constraint", "the same, rotation"),
    ("eq_turn", "f", ("neq", 9), "-", "constraint", "of a weld: rates of its last three rows for turns, by rows"),
    ("eq_wrench", "f", ("neq", 8), "N", "solver", "torque and force on its first body, in a product with the Hessian"),
    ("tenfric_row", "i", ("ntendonfriction",), "-", "constraint", "row of each tendon with friction loss"),
    ("tenfric_adr", "i", ("ntendonfriction",), "-", "constraint", "first entry of this row"),
    ("tenlimit_row", "i", ("ntendonlimited",), "-", "constraint", "first row of each limited tendon"),
    ("tenlimit_adr", "i", ("ntendonlimited",), "-", "constraint", "first entry of these rows"),
    ("limit_row", "i", ("nlimited",), "-", "constraint", "first row of each limited joint, -1: none acts"),
    ("limit_adr", "i", ("nlimited",), "-", "constraint", "first entry of these rows"),
    ("row_type", "i", ("nrowmax",), "-", "constraint", "mjtConstraint"),
    ("row_id", "i", ("nrowmax",), "-", "constraint", "what makes the row: dof, joint, equality, tendon"),
    ("row_pose", "i", ("nrowmax",), "-", "constraint",
     "1 + world-major equality of the first row of a connect or weld, -1 of its others, 0: none of these"),
    ("row_adr", "i", ("nrowmax",), "-", "constraint", "first entry of the row in J and J_dof"),
    ("row_num", "i", ("nrowmax",), "-", "constraint", "entries"),
    ("row_tree", "i", ("nrowmax",), "-", "constraint", "world-major tree of the first entry"),
    ("row_still", "i", ("nrowmax",), "-", "constraint", "1: nothing moves it, and its cost is left out"),
    ("row_coupled", "i", ("nrowmax",), "-", "constraint", "1: its dofs lie in several trees or on several branches"),
    ("J", "f", ("nJmax",), "any", "constraint", "entries of the rows' Jacobians, row by row"),
    ("J_dof", "i", ("nJmax",), "-", "constraint", "world-major dof of each entry, ascending within a row"),
    ("seg_row", "i", ("nJmax",), "-", "constraint", "parts of rows by tree: the row"),
    ("seg_adr", "i", ("nJmax",), "-", "constraint", "first entry of the row in this tree"),
    ("seg_num", "i", ("nJmax",), "-", "constraint", "entries in this tree"),
    ("row_R", "f", ("nrowmax",), "1/kg", "constraint", "regularisation"),
    ("row_aref", "f", ("nrowmax",), "m/s2, rad/s2", "constraint", "reference acceleration"),
    ("row_floss", "f", ("nrowmax",), "N, N m", "constraint", "friction loss"),
    ("row_pos", "f", ("nrowmax",), "m, rad", "constraint", "constraint position"),
    ("row_margin", "f", ("nrowmax",), "m, rad", "constraint", "margin"),
    ("row_diag", "f", ("nrowmax",), "1/kg", "constraint", "approximate diagonal of J M^-1 J'"),
    ("row_K", "f", ("nrowmax",), "1/s2", "constraint", "stiffness"),
    ("row_B", "f", ("nrowmax",), "1/s", "constraint", "damping"),
    ("row_imp", "f", ("nrowmax",), "-", "constraint", "impedance"),
    ("row_vel", "f", ("nrowmax",), "m/s, rad/s", "constraint", "constraint velocity"),
    ("row_Jaref", "f", ("nrowmax",), "m/s2, rad/s2", "solver", "residual Jx - aref"),
    ("row_Jp", "f", ("nrowmax",), "m/s2, rad/s2", "solver", "J p"),
    ("row_force", "f", ("nrowmax",), "N, N m", "solver", "force, or its change in a product with the Hessian"),
    ("row_hess", "f", ("nrowmax",), "kg", "solver", "second derivative of the cost"),
    ("tree_segadr", "i", ("ntree",), "-", "constraint", "first element of each tree in seg_row, seg_adr, seg_num"),
    ("tree_segnum", "i", ("ntree",), "-", "constraint", "rows that act on each tree"),
    ("tree_single", "i", ("ntree",), "-", "constraint", "1: one free body on which no row acts, solved as a twist"),
    ("con_body", "i", ("nconmax", 2), "-", "constraint", "world-major moving bodies of a contact, -1: static"),
    ("con_tree", "i", ("nconmax",), "-", "island", "a world-major tree that the contact acts on, -1: there is none"),
    ("con_arm", "f", ("nconmax", 2, 4), "m", "constraint", "contact point from each tree's centre of mass"),
    ("con_D", "f", ("nconmax",), "kg", "constraint", "1 / regularisation of the normal, of every pyramid edge"),
    ("con_mu", "f", ("nconmax",), "-", "constraint", "mu of the regularised cone"),
    ("con_aref", "f", ("nconmax", 6), "m/s2, rad/s2", "constraint", "reference acceleration, in the contact frame"),
    ("con_Jaref", "f", ("nconmax", 6), "m/s2, rad/s2", "solver", "residual Jx - aref, in the contact frame"),
    ("con_Jp", "f", ("nconmax", 6), "m/s2, rad/s2", "solver", "J p, in the contact frame"),
    ("con_force", "f", ("nconmax", 4), "N", "solver", "world force on body 2 at the contact point"),
    ("con_torque", "f", ("nconmax", 3), "N m", "solver", "world torque on body 2, above dim 3"),
    ("con_hess", "f", ("nconmax", 8), "kg", "solver", "world Hessian of the cost, translation: xx yy zz xy xz yz"),
    ("con_hess_mix", "f", ("nconmax", 9), "kg m", "solver", "above dim 3: the same, of translation and rotation"),
    ("con_hess_rot", "f", ("nconmax", 6), "kg m2", "solver", "above dim 3: the same, rotation"),
    ("body_conadr", "i", ("nbody",), "-", "constraint", "first entry of each body in body_con"),
    ("body_connum", "i", ("nbody",), "-", "constraint", "contact sides of each body"),
    ("body_con", "i", ("nconmax", 2), "-", "constraint", "contact sides by body: 2 * contact + side", 1),
])  # fmt: skip

# islands
declare("computed", [
    ("tree_island", "i", ("ntree",), "-", "island", "island of each tree, -1: unconstrained"),
    ("island_niter", "i", ("ntree",), "-", "solver", "solver iterations of each island"),
    ("island_nproduct", "i", ("ntree",), "-", "solver", "products with the Hessian in them: Newton's method on a CPU"),
    ("island_nnz", "i", ("ntree",), "-", "solver", "numbers of the Hessian's factor, or of Y of PGS"),
    ("island_cost", "f", ("ntree",), "kg m2/s4", "solver", "objective of each island at the solution"),
    ("island_gradient", "f", ("ntree",), "-", "solver", "scaled gradient norm of each island at the solution"),
    ("island_noslip", "i", ("ntree",), "-", "solver", "iterations of the noslip solver on each island"),
])  # fmt: skip
declare("scratch", [
    ("uf_parent", "i", ("ntree",), "-", "island", "union-find over trees of all worlds"),
    ("uf_touched", "i", ("ntree",), "-", "island", "1: the tree has an active constraint"),
    ("island_treeadr", "i", ("ntree",), "-", "island", "first entry of each island in island_tree"),
    ("island_treenum", "i", ("ntree",), "-", "island", "trees"),
    ("island_conadr", "i", ("ntree",), "-", "island", "first entry in island_con"),
    ("island_connum", "i", ("ntree",), "-", "island", "contacts"),
    ("island_rowadr", "i", ("ntree",), "-", "island", "first entry in island_row"),
    ("island_rownum", "i", ("ntree",), "-", "island", "rows"),
    ("island_joined", "i", ("ntree",), "-", "island", "rows over several branches or trees"),
    ("island_meetings", "i", ("ntree",), "-", "island", "pairs of trees that touch"),
    ("island_ties", "i", ("ntree",), "-", "island", "pairs of trees that rows join"),
    ("island_coupled", "i", ("ntree",), "-", "island", "contacts between moving bodies, rows over several branches"),
    ("island_dofnum", "i", ("ntree",), "-", "island", "dofs"),
    ("island_single", "i", ("ntree",), "-", "island", "1: all trees are free bodies without rows"),
    ("island_factored", "i", ("ntree",), "-", "island", "1: there is room for a sparse factor"),
    ("island_partly", "i", ("ntree",), "-", "island", "1: there is room for an incomplete one, a preconditioner"),
    ("island_denseadr", "i", ("ntree",), "-", "island", "address in island_dense"),
    ("island_shared", "i", ("ntree",), "-", "island", "0: one thread solves it; else all do, the first, second, ..."),
    ("island_tree", "i", ("ntree",), "-", "island", "world-major trees by island"),
    ("island_con", "i", ("nconmax",), "-", "island", "contacts by island"),
    ("island_row", "i", ("nrowmax",), "-", "island", "rows by island"),
    ("tree_curve", "i", ("ntree",), "-", "island", "of a tree of a large island: its place on a curve through space"),
    ("curve_count", "i", (ALL, 512), "-", "island", "how many trees have each digit of such a place"),
    ("tree_seat", "i", ("ntree",), "-", "island", "by place in island_tree: the tree whose room it has in the solver"),
    ("con_seat", "i", ("nconmax",), "-", "island", "by place in island_con: the contact whose room it has"),
    ("seat_of_tree", "i", ("ntree",), "-", "island", "the same by tree"),
    ("seat_of_con", "i", ("nconmax",), "-", "island", "the same by contact"),
    ("seat_conadr", "i", ("nbody",), "-", "island", "by place in island_tree: first entry in seat_con"),
    ("tree_dofstart", "i", ("ntree",), "-", "island", "first dof of a tree within its island"),
    ("uf_root", "i", ("ntree",), "-", "island", "on a GPU: first tree of the island, -1: nothing acts on the tree"),
    ("uf_number", "i", ("ntree",), "-", "island", "on a GPU: number of the island of which it is the first tree"),
    ("island_dofadr", "i", ("ntree",), "-", "island", "on a GPU: dofs of all islands before"),
    ("part_sum", "i", (ALL, 65536), "-", "island", "sums over blocks"),
    ("island_dense", "f", ("ndensemax",), "kg", "solver", "Hessians of small islands: triangles, blocks of factors"),
])  # fmt: skip
declare("stage", [
    ("part_key", "i", ("npartall",), "-", "island", "on a GPU, things sorted by owner: this, in two halves"),
    ("part_value", "i", ("npartall",), "-", "island", "what they are, in two halves"),
    ("part_count", "i", ("npartcount",), "-", "island", "how many keys of each digit a block of that sort has"),
])  # fmt: skip

# sparse factors of small islands
declare("scratch", [
    ("island_nodeadr", "i", ("ntree",), "-", "island", "first entry of each island in island_node and node_order"),
    ("island_nodenum", "i", ("ntree",), "-", "island", "nodes: free bodies, and up to six dofs of a branch of a tree"),
    ("island_bodynum", "i", ("ntree",), "-", "island", "bodies, for each of which there is room in island_node"),
    ("island_node", "i", ("nbody",), "-", "solver", "nodes by island: their first bodies, world-major"),
    ("node_order", "i", ("nbody",), "-", "solver", "the same, in the order of elimination"),
    ("node_rank", "i", ("nbody",), "-", "solver", "place of a node in that order, -1: not yet eliminated"),
    ("node_linknum", "i", ("nbody",), "-", "solver", "nodes behind it in that order that it is linked to"),
    ("node_linkadr", "i", ("nbody",), "-", "solver", "its first block among those of the island"),
    ("node_link", "i", ("nbody", 32), "-", "solver", "nodes that it is linked to"),
    ("node_joint", "i", ("nbody", 5), "-", "solver",
     "of a node that is a body: the body above it; first dof between them, and how many; 1, 0 and less: see "
     "kernels/solver/body_order.py; where its matrix is in island_dense"),
    ("node_mark", "i", ("nbody",), "-", "solver",
     "in an incomplete factor: twice its half, 2 for the seam between them, and 1 more if it goes first in its half"),
    ("node_border", "i", ("nbody",), "-", "solver", "nodes of the halves that are linked to the seam, by island"),
    ("part_link", "i", ("nbody", 6), "-", "solver", "of each block of one: place of the link in node_order", 1),
    ("part_z", "f", ("nbody", 8), "-", "solver", "vector at hand of its nodes in that order"),
    ("island_half", "i", ("ntree", 4), "-", "solver",
     "one past the first half in node_order, and past the second; 1: the factor is there; one past node_border's"),
])  # fmt: skip

# solver vectors and per-body work space
declare("scratch", [
    ("twist", "f", ("nbody", 8), "rad/s2, m/s2", "solver", "body accelerations of the vector at hand"),
    ("wrench", "f", ("nbody", 8), "N m, N", "rne",
     "body wrenches, summed towards the root: bias forces, then the solver's"),
    ("body_hess", "f", ("nbody", 21), "kg", "solver", "Hessian of each body's twist: rotation 6, coupling 9, linear 6"),
    ("seat_con", "i", ("nconmax", 2), "-", "solver", "contact sides by tree: 2 * seat of the contact + side", 1),
    ("seat_body", "i", ("nconmax", 2), "-", "solver", "of a contact by its seat: bodies by theirs, 0: static"),
    ("seat_inert", "f", ("nbody", 10), "kg, kg m, kg m2", "solver", "of a body by its seat: cinert"),
    ("dof_wrench", "f", ("nv", 8), "kg", "solver", "wrenches on a contact's other body by those that move one"),
    ("tree_hess", "f", ("nM",), "kg", "solver", "Hessian of each tree by dof_Madr, then its L' D L factor"),
    ("lane_hess", "f", ("nlane", 4), "kg", "solver", "factors of four alike trees side by side, each as tree_hess"),
    ("lane_x", "f", ("nlanedof", 4), "m/s2, rad/s2", "solver", "vectors of these, dof by dof"),
    ("sol_Ma", "f", ("nv",), "N, N m", "solver", "M times qacc"),
    ("sol_p", "f", ("nv",), "m/s2, rad/s2", "solver", "search direction"),
    ("sol_Mp", "f", ("nv",), "N, N m", "solver", "M times the search direction"),
    ("sol_r", "f", ("nv",), "N, N m", "solver", "residual of the linear system"),
    ("sol_z", "f", ("nv",), "m/s2, rad/s2", "solver", "preconditioned residual"),
    ("sol_q", "f", ("nv",), "m/s2, rad/s2", "solver", "conjugate direction of the linear system"),
    ("sol_Hq", "f", ("nv",), "N, N m", "solver", "Hessian times that direction"),
    ("sol_y", "f", ("nv",), "m/s2, rad/s2", "solver", "Hessian times the conjugate direction, preconditioned"),
    ("sol_Hy", "f", ("nv",), "N, N m", "solver", "Hessian times sol_y"),
    ("sol_Hz", "f", ("nv",), "N, N m", "solver", "Hessian times the preconditioned residual"),
    ("sol_v", "f", ("nv",), "m/s2, rad/s2", "solver", "what the next product is with"),
])  # fmt: skip

# solver: memory of workers that solve islands side by side
declare("stage", [
    ("abreast_hess", "f", ("nabreasthess", 4), "kg", "solver", "of a worker: as tree_hess, of four islands abreast"),
    ("abreast_cdof", "f", ("nabreastaxes", 4), "any", "solver", "cdof of their trees"),
    ("abreast_body", "f", ("nabreastbody", 4), "kg", "solver", "as body_hess of their bodies"),
    ("abreast_x", "f", ("nabreastdof", 4), "m/s2, rad/s2", "solver", "their directions"),
    ("abreast_tree", "f", ("nabreasttree", 4), "any", "smooth", "of a worker: what four trees abreast are made of"),
])  # fmt: skip

# solver: memory of workers for PGS on small islands
declare("stage", [
    ("small_X", "f", ("nsmallX", 4), "any", "solver", "of a worker: Y of a small island, dof by dof, four forces each"),
    ("small_A", "f", ("nsmallA", 4), "1/kg", "solver", "J M^-1 J' + R of it over minus its diagonal"),
    ("small_vec", "f", ("nsmallvec", 4), "any", "solver", "its steps, forces, diagonal, bounds and states"),
])  # fmt: skip

# what solvers tell of each round, read as `solver`
declare("scratch", [
    ("stat_improvement", "f", (ALL, 4000), "-", "solver", "scaled improvement by islands and rounds, of 20 and of 200"),
    ("stat_gradient", "f", (ALL, 4000), "-", "solver", "scaled gradient"),
    ("stat_lineslope", "f", (ALL, 4000), "-", "solver", "scaled slope at the end of the line search"),
    ("stat_nactive", "i", (ALL, 4000), "-", "solver", "rows that act"),
    ("stat_nchange", "i", (ALL, 4000), "-", "solver", "rows that came or went"),
    ("stat_neval", "i", (ALL, 4000), "-", "solver", "evaluations in the line search"),
    ("stat_nupdate", "i", (ALL, 4000), "-", "solver", "factors made"),
])  # fmt: skip

# the dual problem, of PGS and noslip
declare("scratch", [
    ("dof_mark", "i", ("nv",), "-", "solver", "1 + last row that is moved by this dof or one behind it"),
    ("row_Yadr", "i", ("nrowmax",), "-", "solver", "first entry of each row in Y"),
    ("row_Ynum", "i", ("nrowmax",), "-", "solver", "entries"),
    ("row_A", "f", ("nrowmax",), "1/kg", "solver", "diagonal of J M^-1 J'"),
    ("row_b", "f", ("nrowmax",), "m/s2, rad/s2", "solver", "J qacc_smooth - aref"),
    ("con_Yadr", "i", ("nconmax",), "-", "solver", "first entry of each contact in Y"),
    ("con_Ynum", "i", ("nconmax",), "-", "solver", "entries of each component"),
    ("con_A", "f", ("nconmax", 36), "1/kg", "solver", "rows: 6 x 6 block of J M^-1 J' of each contact", 6),
    ("con_b", "f", ("nconmax", 6), "m/s2, rad/s2", "solver", "J qacc_smooth - aref, in the contact frame"),
    ("con_edge", "f", ("nconmax", 10), "N, N m", "solver", "force on each row of a contact"),
    ("con_state", "i", ("nconmax",), "-", "solver", "which of them act, see kernels/solver/statistics.py"),
    ("tree_colors", "i", ("ntree",), "-", "solver", "bits of the colours that a tree has"),
    ("color_adr", "i", (ALL, 64), "-", "solver", "first group of each colour: of rows, then of contacts"),
    ("row_group", "i", ("nrowmax", 5), "-", "solver", "groups of rows: first, end, colour; by colour: first, end", 1),
    ("con_group", "i", ("nconmax", 5), "-", "solver", "the same of its contacts", 1),
    ("row_gain", "f", ("nrowmax",), "-", "solver", "by how much a group of rows lowers the cost"),
    ("con_gain", "f", ("nconmax",), "-", "solver", "the same of contacts"),
    ("row_state", "i", ("nrowmax",), "-", "solver", "the same of a row"),
    ("Y", "f", ("nYmax",), "any", "solver", "J L^-1 D^-1/2 for M = L' D L, row by row"),
    ("Y_dof", "i", ("nYmax",), "-", "solver", "world-major dof of each entry, descending within a row"),
    ("dual_y", "f", ("nv",), "any", "solver", "Y' f of the forces at hand"),
])  # fmt: skip

# the second dynamics (kernels/lcp/): drift, what it goes on from, and its records
declare("computed", [
    ("lcp_drift", "f", ("nbody", 2), "m, rad", "lcp", "how far a body is from where its parent and qpos have it"),
    ("lcp_eq_drift", "f", ("neq", 2), "m, rad", "lcp", "how far what a connect or weld makes equal is apart"),
])  # fmt: skip
declare("scratch", [
    ("lcp_warm", "i", (1,), "-", "lcp", "1: the lists of the last step hold for the world"),
    ("lcp_geom", "i", ("nlcpmax", 2), "-", "lcp", "contacts of the last step: world-major geom 1, geom 2"),
    ("lcp_pos", "f", ("nlcpmax", 3), "m", "lcp", "their places"),
    ("lcp_impulse", "f", ("nlcpmax", 3), "N s", "lcp", "their world impulses on body 2 in its last substep"),
    ("lcp_stranger", "i", (ALL, 1), "-", "lcp", "1: there are contacts of which no force is known"),
    ("lcp_place", "i", ("nconmax",), "-", "lcp", "where contacts go in that list, among those of sleepers"),
    ("lcp_slept_geom", "i", ("nlcpmax", 2), "-", "lcp", "contacts of sleepers, from that list to that list"),
    ("lcp_slept_pos", "f", ("nlcpmax", 3), "m", "lcp", "their places"),
    ("lcp_slept_impulse", "f", ("nlcpmax", 3), "N s", "lcp", "their impulses"),
    ("lcp_slept_place", "i", ("nlcpmax",), "-", "lcp", "where they go in it"),
    ("lcp_start", "f", ("nconmax", 3), "N s", "lcp", "the impulses with which the contacts of this step begin"),
    ("lcp_used", "i", ("nbody",), "-", "lcp", "bits of the colours that a body has"),
    ("lcp_seen", "i", ("nbody",), "-", "lcp", "in ODE's order, 1: the search for islands has come to this body"),
    ("lcp_stack", "i", ("nbody",), "-", "lcp", "bodies that it goes on from"),
    ("lcp_next", "i", ("nconmax", 2), "-", "lcp", "of each contact side, the one of its body before it, -1: none", 1),
    ("lcp_link", "i", ("nconmax", 4), "-", "lcp", "with joints, of each contact, see kernels/lcp/ode_trees.py", 1),
    ("lcp_link_joint", "i", ("nbody", 4), "-", "lcp", "the same of what holds a body to its parent", 1),
    ("lcp_link_eq", "i", ("neq", 4), "-", "lcp", "the same of connects and welds", 1),
    ("lcp_pull", "f", ("nbody", 48), "N s, N m s", "lcp", "impulses of what acts along a body's motions", 1),
    ("lcp_slot", "i", ("nconmax",), "-", "lcp", "slot of each contact; in the order of ODE, 1: it was found"),
    ("lcp_head", "i", (ALL, 1024), "-", "lcp", "first slots of colours, see kernels/lcp/lists.py"),
    ("lcp_first", "i", ("nconmax",), "-", "lcp", "the first contact of each manifold, in list order"),
    ("lcp_order", "i", ("nconmax",), "-", "lcp", "the contact in each slot"),
    ("lcp_pair", "i", ("nconmax", 2), "-", "lcp", "world-major bodies of a slot; before, slots of manifolds", 1),
    ("lcp_rec", "f", ("nconmax", 48), "any", "lcp", "records of slots, see kernels/lcp/contacts.py", 1),
    ("lcp_held", "f", (ALL, 6144), "any", "lcp", "of each worker: bodies of the contacts that it visits side by side"),
    ("lcp_body", "f", ("nbody", 16), "any", "lcp", "scaled velocity, from 8 on the scaled way since the step began", 1),
    ("lcp_from", "f", ("nbody", 8), "any", "lcp", "scaled velocity when the substep began", 1),
    ("lcp_push", "f", ("nbody", 8), "any", "lcp", "change of it by forces in a substep", 1),
    ("lcp_pose", "f", ("nbody", 8), "m, -", "lcp", "of a body of a tree: position and quaternion of its frame", 1),
    ("lcp_twist", "f", ("nbody", 8), "m/s, rad/s", "lcp", "its velocity at the centre of mass, angular velocity", 1),
    ("lcp_qpos", "f", ("nq",), "m, rad, -", "lcp", "qpos as it was measured last"),
    ("lcp_qvel", "f", ("nv",), "m/s, rad/s", "lcp", "qvel as it was measured last"),
    ("lcp_new", "i", ("ntree",), "-", "lcp", "bits: its poses, its twists follow from what the user wrote"),
    ("lcp_now", "f", ("nbody", 8), "m, -", "lcp", "within a step: centre of mass, quaternion of the frame", 1),
    ("lcp_joint", "f", ("nbody", 256), "any", "lcp", "rows of a body and its parent, see kernels/lcp/joints.py", 1),
    ("lcp_nrow", "i", ("nbody",), "-", "lcp", "how many hold it"),
    ("lcp_nlaw", "i", ("nbody",), "-", "lcp", "how many more have forces along its motions"),
    ("lcp_law", "f", ("nbody", 192), "any", "lcp", "these forces, see kernels/lcp/laws.py", 1),
    ("lcp_mass", "f", ("nbody", 36), "-", "lcp", "scaled mass at the place of a body, factored", 1),
    ("lcp_change", "f", ("nbody", 8), "any", "lcp", "change of a body's scaled velocity by rows of its tree", 1),
    ("lcp_scale", "f", ("nbody", 4), "any", "lcp", "1 / sqrt(mass), 1 / sqrt(principal moments of inertia)", 1),
    ("lcp_eq_impulse", "f", ("neq", 6), "N s, N m s", "lcp", "of connects and welds on body 1 in the last substep", 1),
    ("lcp_eq", "f", ("neq", 128), "any", "lcp", "their rows, see kernels/lcp/loops.py", 1),
    ("lcp_eq_nrow", "i", ("neq",), "-", "lcp", "how many they are"),
    ("lcp_eq_body", "i", ("neq", 2), "-", "lcp", "world-major bodies of the objects", 1),
    ("lcp_eq_color", "i", ("neq",), "-", "lcp", "colour of an equality, -1: it has no rows"),
    ("lcp_eq_head", "i", (ALL, 64), "-", "lcp", "first slot of each colour, at 62 the number of colours"),
    ("lcp_eq_order", "i", ("neq",), "-", "lcp", "the equality in each slot"),
    ("lcp_cg", "f", ("nconmax", 6), "N s", "lcp", "of a slot: impulse when a sweep began, way of the search", 1),
    ("lcp_cg_sum", "f", ("nconmax",), "N2 s2", "lcp", "square of what a sweep changed, of each block of slots"),
    ("lcp_cg_body", "f", ("nbody", 32), "any", "lcp", "velocities then, and their ways, see kernels/lcp/search.py", 1),
    ("lcp_cg_eq", "f", ("neq", 12), "any", "lcp", "the same as lcp_cg of connects and welds", 1),
])  # fmt: skip
declare("stage", [
    ("lcp_pivot", "f", ("nlcppivot",), "any", "lcp", "of each worker: tableau of an island, see kernels/lcp/direct.py"),
    ("lcp_basis", "i", ("nlcpbasis",), "-", "lcp", "its unknowns by row, then by column"),
])  # fmt: skip

# blocks of large islands: the units of parallel work and of fixed-order sums
declare("scratch", [
    ("island_small", "i", ("ntree",), "-", "island", "islands solved by one thread each"),
    ("island_large", "i", ("ntree",), "-", "island", "islands solved by all threads"),
    ("island_tblkadr", "i", ("ntree",), "-", "island", "first tree block of each large island"),
    ("island_tblkend", "i", ("ntree",), "-", "island", "one past its last"),
    ("island_cblkadr", "i", ("ntree",), "-", "island", "first contact block"),
    ("island_cblkend", "i", ("ntree",), "-", "island", "one past the last"),
    ("island_rblkadr", "i", ("ntree",), "-", "island", "first row block"),
    ("island_rblkend", "i", ("ntree",), "-", "island", "one past the last"),
    ("tblk_island", "i", ("ntree",), "-", "island", "island of each tree block"),
    ("tblk_begin", "i", ("ntree",), "-", "island", "where it begins in island_tree"),
    ("tblk_end", "i", ("ntree",), "-", "island", "one past its last"),
    ("cblk_island", "i", ("nconmax",), "-", "island", "island of each contact block"),
    ("cblk_begin", "i", ("nconmax",), "-", "island", "where it begins in island_con"),
    ("cblk_end", "i", ("nconmax",), "-", "island", "one past its last"),
    ("rblk_island", "i", ("nrowmax",), "-", "island", "island of each row block"),
    ("rblk_begin", "i", ("nrowmax",), "-", "island", "where it begins in island_row"),
    ("rblk_end", "i", ("nrowmax",), "-", "island", "one past its last"),
    ("tblk_sum", "f", ("ntree", 4), "-", "solver", "sums over a tree block"),
    ("cblk_sum", "f", ("nconmax", 3), "-", "solver", "sums over a contact block"),
    ("rblk_sum", "f", ("nrowmax", 3), "-", "solver", "sums over a row block"),
    ("isl_cost", "f", ("ntree",), "kg m2/s4", "solver", "cost of each large island"),
    ("isl_alpha", "f", ("ntree",), "-", "solver", "step along the direction"),
    ("isl_lo", "f", ("ntree",), "-", "solver", "a step known to be too short"),
    ("isl_hi", "f", ("ntree",), "-", "solver", "a step known to be too long, -1: none yet"),
    ("isl_first", "f", ("ntree",), "-", "solver", "derivative at the start of the line search"),
    ("isl_d1", "f", ("ntree",), "-", "solver", "Gauss term of the derivative along the direction"),
    ("isl_d2", "f", ("ntree",), "-", "solver", "Gauss term of the second derivative"),
    ("tblk_group", "f", ("ntree", 4), "-", "solver", "sums over neighbouring tree blocks"),
    ("cblk_group", "f", ("nconmax", 3), "-", "solver", "sums over neighbouring contact blocks"),
    ("rblk_group", "f", ("nrowmax", 3), "-", "solver", "sums over neighbouring row blocks"),
    ("isl_go", "i", ("ntree", 2), "-", "solver", "conjugate gradients: 1 before this, or the next, iteration"),
    ("isl_rz", "f", ("ntree", 2), "-", "solver", "r'z of the last iteration before this, or the next; 0, -1: none"),
    ("isl_rz0", "f", ("ntree",), "-", "solver", "its first value"),
    ("isl_step", "f", ("ntree", 2), "-", "solver", "step along the conjugate direction then"),
    ("isl_reduction", "f", ("ntree",), "-", "solver", "by how much the linear residual is reduced"),
    ("isl_slope", "f", ("ntree",), "-", "solver", "derivative where the line search evaluated it last"),
    ("isl_evals", "i", ("ntree",), "-", "solver", "how often it did"),
    ("isl_pass", "i", ("ntree", 2), "-", "solver", "conjugate gradients: iterations before this, or the next"),
    ("isl_round", "i", ("ntree",), "-", "solver", "Newton's round, -1: the first direction"),
    ("isl_phase", "i", ("ntree",), "-", "solver", "what is due next, see kernels/solver/rounds.py"),
    ("solver_queue", "i", (ALL, QUEUE_DENSE + 1), "-", "solver",
     "large islands that are not done; the most iterations and evaluations that each round took; 1 if qacc is bad"),
])  # fmt: skip

# teams of workers, and their sums over blocks of large islands
declare("scratch", [
    ("team", "i", (ALL, 66, 32), "-", "solver", "by what workers find each other, see kernels/team.py"),
    ("tree_sum", "f", (ALL, 4096), "-", "solver", "sums over blocks of a large island's trees, by columns; twice"),
    ("con_sum", "f", (ALL, 2560), "-", "solver", "sums over blocks of contacts"),
    ("row_sum", "f", (ALL, 2560), "-", "solver", "sums over blocks of rows"),
])  # fmt: skip

# collision: boxes, the sweep, candidate pairs, sorted pairs (cpair) and their contact slots
declare("scratch", [
    ("item_boxlo", "f", ("nitem", 3), "m", "collision",
     "lower corners of the margin-inflated world boxes of moving geoms, then of bodies with many geoms"),
    ("item_boxhi", "f", ("nitem", 3), "m", "collision", "upper corners"),
    ("item_fatlo", "f", ("nitem", 3), "m", "collision", "lower corners of the boxes of the last search, enlarged"),
    ("item_fathi", "f", ("nitem", 3), "m", "collision", "upper corners"),
    ("item_from", "f", ("nitem", 3), "m", "collision", "positions of the geoms then"),
    ("item_ball", "f", ("nitem", 4), "m", "collision", "balls that they are expected to stay in: centre, radius"),
    ("ahead", "f", ("nbody", 4), "m", "collision",
     "way of a body's centre of mass within a step, and at most of its surface about that"),
    ("ahead_turn", "f", ("nbody", 3), "rad", "collision", "its turn"),
    ("mid_item1", "i", ("npairmax",), "-", "collision", "what the sweep finds: world*nitem + item 1"),
    ("mid_item2", "i", ("npairmax",), "-", "collision", "the same, item 2"),
    ("entry_lo", "f", ("nentrymax", 3), "m", "collision",
     "boxes in the order of the sweep: lower ends along its axis, that of the strips, that of the rows"),
    ("entry_hi", "f", ("nentrymax", 3), "m", "collision", "upper ends"),
    ("entry_strip", "i", ("nentrymax",), "-", "collision", "first strip of each entry, before wrapping round"),
    ("entry_row", "i", ("nentrymax",), "-", "collision", "first row"),
    ("sort_key", "i", ("npairmax", 2), "-", "collision", "keys of the radix sort, two halves used in turn", 1),
    ("sort_value", "i", ("npairmax", 2), "-", "collision", "what the keys belong to", 1),
    ("scan_sum", "i", ("npairmax",), "-", "collision", "block sums of scans"),
    ("cand_geom1", "i", ("npairmax",), "-", "collision", "candidate pairs in no order: world*ngeom + geom 1"),
    ("cand_geom2", "i", ("npairmax",), "-", "collision", "geom 2"),
    ("cand_listed", "i", ("npairmax",), "-", "collision", "index in the model's pairs, -1 if not from there"),
    ("cpair_geom1", "i", ("npairmax",), "-", "collision", "pairs sorted by world and geoms: world*ngeom + geom 1"),
    ("cpair_geom2", "i", ("npairmax",), "-", "collision", "geom 2"),
    ("cpair_listed", "i", ("npairmax",), "-", "collision", "index in the model's pairs, -1 if not from there"),
    ("cpair_kind", "i", ("npairmax",), "-", "collision", "collider: kind_of in tisim/stages/colliders.py"),
    ("cpair_margin", "f", ("npairmax",), "m", "collision", "distance below which contacts are listed"),
    ("cpair_slot", "i", ("npairmax",), "-", "collision", "first contact slot"),
    ("cpair_ncon", "i", ("npairmax",), "-", "collision", "number of contacts"),
    ("cpair_adr", "i", ("npairmax",), "-", "collision", "first contact, by place in cpair_live where some sleep"),
    ("cpair_bin", "i", ("npairmax",), "-", "collision", "pairs by collider"),
    ("con_slot", "f", ("nslotmax", 8), "m, -", "collision", "distance, midpoint, normal of a pair's contacts", 1),
])  # fmt: skip

# collision: what its stages make for a model's geoms, and lists whose length only they know
declare("stage", [
    ("box_item", "i", ("nbox",), "-", "collision",
     "items that have boxes: geoms, and ngeom + number of a body with many geoms"),
    ("plane_geom", "i", ("nplane",), "-", "collision", "planes that can collide"),
    ("static_geom", "i", ("nstatic",), "-", "collision", "other geoms of static bodies that can collide"),
    ("listed_geom1", "i", ("nlisted",), "-", "collision", "lower geoms of the pairs that the model lists, sorted"),
    ("listed_geom2", "i", ("nlisted",), "-", "collision", "their other geoms"),
    ("exclude_body1", "i", ("nexclude",), "-", "collision", "lower bodies of excluded pairs, sorted"),
    ("exclude_body2", "i", ("nexclude",), "-", "collision", "their other bodies"),
    ("type_kind", "i", (ALL, 64), "-", "collision", "kind of a pair by 8 * type 1 + type 2, see stages/colliders.py"),
    ("kind_slots", "i", (ALL, 16), "-", "collision", "slots that a pair of each kind needs"),
    ("bin_adr", "i", (ALL, 64), "-", "collision", "where each kind begins in cpair_bin, then where its next pair goes"),
    ("override_solref", "f", (ALL, 2), "s, -", "collision", "solref of all contacts, where it is overridden"),
    ("override_solimp", "f", (ALL, 5), "-", "collision", "solimp"),
    ("override_friction", "f", (ALL, 5), "-", "collision", "friction"),
    ("sweep_axis", "i", (ALL, 2), "-", "collision", "axis of the sweep, axis of the strips"),
    ("sweep_sample", "f", (ALL, 96), "m", "collision", "sorted coordinates of a few items, for each axis"),
    ("sweep_median", "f", (ALL, 3), "m", "collision", "median of the items along each axis"),
    ("sweep_spread", "f", (ALL, 3), "m", "collision", "from their 10 % to their 90 % quantile"),
    ("sweep_extent", "f", (ALL, 3), "m", "collision", "their mean extent"),
    ("sweep_scale", "f", (ALL, len(SCALES)), "m", "collision", "numbers of the last search, by the indices in SCALES"),
    ("sweep_found", "i", ("nfound", 2), "-", "collision", "pairs whose boxes meet, by thread: entries, then items"),
    ("plane_pos", "f", ("nworldplane", 3), "m", "collision", "place of each plane in the last search"),
    ("plane_normal", "f", ("nworldplane", 3), "-", "collision", "its normal"),
    ("group_pos", "f", ("nworldgroup", 3), "m", "collision", "place of each body with many geoms then"),
    ("group_mat", "f", ("nworldgroup", 9), "-", "collision", "its orientation"),
    ("sort_count", "i", ("nsortcount",), "-", "collision", "how many keys of each digit a block of the sort has"),
    ("sort_sum", "i", ("nsortsum",), "-", "collision", "sums over blocks of these"),
    ("ccd_f", "w", ("nccdreal",), "any", "collision", "shapes, vertices, faces of each worker, see convex/memory.py"),
    ("ccd_i", "i", ("nccdint",), "-", "collision", "the whole numbers among them"),
])  # fmt: skip

# rays, when they are cast
declare("stage", [
    ("ray_pnt", "f", ("nray", 3), "m", "rays", "where each ray starts"),
    ("ray_vec", "f", ("nray", 3), "m", "rays", "its direction, of any length"),
    ("ray_dist", "f", ("nray",), "-", "rays", "where it hits, as a multiple of its direction; -1: nowhere"),
    ("ray_geomid", "i", ("nray",), "-", "rays", "what it hits, or -1"),
    ("ray_sample", "f", (ALL, 198), "m", "rays", "sorted coordinates of a few geoms, median, spread, for each axis"),
    ("ray_leaf", "i", ("nleafall",), "-", "rays", "geom of each leaf of the trees of boxes, or -1"),
    ("ray_node", "f", ("nnodeall", 2, 3), "m", "rays", "lower and upper corner of each node's box"),
])  # fmt: skip

# pictures, when they are drawn; views: a camera (0), a lamp (1), lamps of the sky
declare("stage", [
    ("pic_pos", "f", ("npicrecord", 3), "m", "pictures", "place of each record: a geom, a site, part of a mark"),
    ("pic_mat", "f", ("npicrecord", 9), "-", "pictures", "its orientation"),
    ("pic_size", "f", ("npicrecord", 3), "m", "pictures", "its sizes, as a geom's"),
    ("pic_kind", "i", ("npicrecord",), "-", "pictures", "its shape, mjtGeom; -1: it is not drawn"),
    ("pic_data", "i", ("npicrecord",), "-", "pictures", "its mesh or height field"),
    ("pic_rgba", "f", ("npicrecord", 4), "-", "pictures", "its colour, as light, and its opacity"),
    ("pic_second", "f", ("npicrecord", 3), "-", "pictures", "second colour of a plane's chequer"),
    ("pic_tex", "i", ("npicrecord",), "-", "pictures", "its texture, or -1"),
    ("pic_map", "f", ("npicrecord", 3), "-", "pictures", "how that lies: scale across x, y, 0; around it; -1: mesh"),
    ("pic_matter", "f", ("npicrecord", 3), "-", "pictures", "emission, specular part, exponent of the highlight"),
    ("pic_color", "f", ("npicgeom", 4), "-", "pictures", "colour of each geom, by the mode that was asked for"),
    ("pic_byte", "i", ("npicgeom",), "-", "pictures", "the same as bytes, red first"),
    ("pic_thing", "i", ("npicrecord", 2), "-", "pictures", "what it shows: id and mjtObj; -1: no thing of the model"),
    ("pic_ink", "f", ("npicink", 4), "-", "pictures", "colours of no such things, behind the look without material"),
    ("pic_chunk", "i", ("npicchunk",), "-", "pictures", "contacts of a world before each block of all; in the end all"),
    ("pic_contact", "i", ("npicpress",), "-", "pictures", "places of these contacts"),
    ("pic_press", "f", ("npicpress",), "N", "pictures", "normal force of each contact"),
    ("pic_edged", "i", ("npicgeom",), "-", "pictures", "first edge of a geom's hull among all that are drawn, or -1"),
    ("pic_hull", "i", ("npichull",), "-", "pictures", "first edge of each mesh's hull, and one more"),
    ("pic_rim", "f", ("npicrim", 6), "m", "pictures", "begin and end of these edges, in the frame of the mesh"),
    ("pic_measure", "f", ("npicbody",), "m/s, N", "pictures", "speed, or sum of the normal forces, of each body"),
    ("pic_most", "i", (ALL, 1), "m/s, N", "pictures", "the greatest of them, in bits of f32"),
    ("pic_before_tree", "i", ("npictree",), "-", "pictures", "tree before each in its circle of sleepers, or -1"),
    ("pic_label", "i", ("npictree",), "-", "pictures", "first tree of that circle, or the tree itself"),
    ("pic_touch", "i", ("npicchunk",), "-", "pictures", "contacts of a body: of all blocks, then of each"),
    ("pic_member", "i", ("npicinstance", 3), "-", "pictures", "geoms that a window draws by Vulkan: which, first word, "
     "1 if it throws a shadow"),
    ("pic_extent", "f", ("npicextent", 3), "m", "pictures", "corners of a box around their places, around those that "
     "throw shadows, 1 if such have moved; of all, then of each block"),
    ("pic_drawn", "i", ("npicdrawn",), "-", "pictures", "their records as words, and shadow maps behind: raster.py"),
    ("pic_span", "i", ("npicview", 8), "pixel, m", "pictures", "what each record covers in each view: columns x0, x1, "
     "rows y0, y1, nearest depth, in bits of f32; columns and rows of tiles, last << 16 | first; key by that depth"),
    ("pic_order", "i", ("npicorder",), "-", "pictures", "records of each view by half a key; then nearest first"),
    ("pic_digit", "i", ("npicdigit",), "-", "pictures", "how many have each value of a half, of each view"),
    ("pic_place", "i", ("npicplace",), "-", "pictures", "records of a class in each block; where the next one goes"),
    ("pic_class", "i", ("npicclass",), "-", "pictures", "first record of each class that a window draws; all"),
    ("pic_shown", "i", ("npicshown",), "-", "pictures", "words of the records besides geoms that a window draws"),
    ("pic_page", "i", ("npicpage",), "-", "pictures", "geoms that a page shows, batch by batch"),
    ("pic_batch", "i", ("npicbatch",), "-", "pictures", "first of each batch, and one more"),
    ("pic_pose", "i", ("npicpage", 8), "m, -", "pictures", "bits of f32: places, quaternions, 1 if it is there"),
    ("pic_hue", "i", ("npicpage",), "-", "pictures", "their colours as bytes, red first"),
    ("pic_change", "i", ("npicbatch",), "-", "pictures", "what has changed of it: bits of tisim/data/pictures.py"),
    ("pic_plane", "i", ("npicrecord",), "-", "pictures", "those that are planes"),
    ("pic_start", "i", ("npictile",), "-", "pictures", "where each tile's list begins; one more for each view"),
    ("pic_item", "i", ("npicitem",), "-", "pictures", "records of each tile, nearest first"),
    ("pic_need", "i", ("npiceye",), "-", "pictures", "entries that the lists of a view need"),
    ("pic_aim", "i", ("npicview", 6), "-", "pictures", "the way to each lamp in each record's frame, 1 / way; bits"),
    ("pic_beam", "i", ("npiceye", 13), "-", "pictures", "a far lamp along the camera's axes, see records.py; bits"),
    ("pic_eye", "f", ("npiceye", 3), "m", "pictures", "where each view is seen from"),
    ("pic_axes", "f", ("npiceye", 9), "-", "pictures", "its axes: rows right, up, backward"),
    ("pic_lens", "f", ("npiceye", 4), "pixel", "pictures", "focal length, width, height; 1: parallel rays"),
    ("pic_grid", "i", ("npiceye", 4), "-", "pictures", "columns, rows of tiles, side of one, place of the first"),
    ("pic_look", "f", ("npiceye",), "m, -", "pictures", "side of a chequer's tile; where far ground fades; sum of "
     "differences in colour that is no edge on the first plane"),
    ("pic_light", "f", ("npiclight", 3), "-", "pictures", "light of sun, of sky; colour of the sky low, its change"),
    ("pic_lamp", "f", ("npiclamp", 3), "-", "pictures", "a model's lamp: diffuse, specular light, attenuation, "
     "direction, cosine of its cone with exponent; then ambient light of all"),
    ("pic_texinfo", "i", ("npictex", 4), "-", "pictures", "of each texture: first texel, width, height, levels"),
    ("pic_texel", "i", ("npictexel",), "-", "pictures", "colours of texels, a byte for each part"),
    ("pic_tone", "i", ("npictone",), "-", "pictures", "light as a picture shows it, over its root, in bits of f32"),
    ("pic_seen", "i", ("npicrecord", 16), "-", "pictures",
     "the camera in each record's frame: rotation from its axes, place, sizes; all in bits of f32"),
    ("pic_block", "i", ("npicblock", 4), "-", "pictures", "first sample, end and tile of each block"),
    # of each sample, in bits of f32 but for what counts or names something
    ("pic_x", "i", ("npicsample",), "pixel", "pictures", "column of each sample"),
    ("pic_y", "i", ("npicsample",), "pixel", "pictures", "row"),
    ("pic_depth", "i", ("npicsample",), "m", "pictures", "depth along the view of what it shows"),
    ("pic_record", "i", ("npicsample",), "-", "pictures", "the record, or -1"),
    ("pic_face", "i", ("npicsample",), "-", "pictures", "place of the face of a mesh, see face_corner"),
    ("pic_before", "i", ("npicsample",), "m", "pictures", "depth behind which it is looked for"),
    ("pic_last", "i", ("npicsample",), "-", "pictures", "the record that was met there"),
    ("pic_nx", "i", ("npicsample",), "-", "pictures", "normal along the camera's axes"),
    ("pic_ny", "i", ("npicsample",), "-", "pictures", "upward"),
    ("pic_nz", "i", ("npicsample",), "-", "pictures", "backward"),
    ("pic_r", "i", ("npicsample",), "-", "pictures", "red of the surface, then of its light"),
    ("pic_g", "i", ("npicsample",), "-", "pictures", "green"),
    ("pic_b", "i", ("npicsample",), "-", "pictures", "blue"),
    ("pic_alpha", "i", ("npicsample",), "-", "pictures", "its opacity"),
    ("pic_fade", "i", ("npicsample",), "-", "pictures", "by how much far ground fades"),
    ("pic_tile", "i", ("npicsample",), "-", "pictures", "tile of the lamp's view, or -1"),
    ("pic_cosine", "i", ("npicsample",), "-", "pictures", "light of a lamp; then share of the sky seen"),
    ("pic_shine", "i", ("npicsample",), "-", "pictures", "what comes of it"),
    ("pic_lit", "i", ("npicsample",), "-", "pictures", "light of lamps that it gets, as a sum of cosines"),
    ("pic_weight", "i", ("npicsample",), "-", "pictures", "that it would get without shadows"),
    ("pic_gain", "f", ("npicsample", 3), "-", "pictures", "diffuse light of the model's lamps that it gets"),
    ("pic_gloss", "f", ("npicsample", 3), "-", "pictures", "their light that it throws back as a mirror would"),
    ("pic_tint", "f", ("npicsample", 3), "-", "pictures", "colour of its texture, in the light of the model's lamps"),
    ("pic_red", "i", ("npicsample",), "-", "pictures", "its colour so far, from 0 to 1"),
    ("pic_green", "i", ("npicsample",), "-", "pictures", "green"),
    ("pic_blue", "i", ("npicsample",), "-", "pictures", "blue"),
    ("pic_through", "i", ("npicsample",), "-", "pictures", "the share that comes from behind"),
    ("pic_front", "i", ("npicsample",), "-", "pictures", "the first record that it shows"),
    ("pic_away", "i", ("npicsample",), "m", "pictures", "its depth, infinite for none"),
    ("pic_edge", "i", ("npicsample",), "-", "pictures", "1: the pixel differs from a neighbour"),
    ("pic_first", "i", ("npictile",), "-", "pictures", "pixels on edges of a tile; then its first place in pic_pick"),
    ("pic_pick", "i", ("npicsample",), "-", "pictures", "bytes of pic_word before the pixels on edges"),
    ("pic_word", "i", ("npicsample",), "-", "pictures", "bytes of colours, row after row of the picture"),
    ("pic_sky", "i", ("npicsample",), "-", "pictures", "share of the sky's lamps seen, at half size"),
    ("pic_owner", "i", ("npicsample",), "-", "pictures", "record of those samples"),
])  # fmt: skip

# products and solves with the inertia matrix, when they are asked for
declare("stage", [
    ("vec_in", "f", ("nvecall",), "any", "inertia", "vectors that a user gives, world by world"),
    ("vec_out", "f", ("nvecall",), "any", "inertia", "what becomes of them"),
])  # fmt: skip

# what acts on bodies and between them, computed when a user reads it
declare("computed", [
    ("cacc", "f", ("nbody", 6), "rad/s2, m/s2", "rnePostConstraint",
     "body acceleration about the tree's centre of mass, minus gravity"),
    ("cfrc_int", "f", ("nbody", 6), "N m, N", "rnePostConstraint", "torque and force of the parent on the body"),
    ("cfrc_ext", "f", ("nbody", 6), "N m, N", "rnePostConstraint",
     "torque and force of contacts, of connect and weld, and applied to the body"),
])  # fmt: skip

# constraint rows as MuJoCo lists them (all but J), written when a user reads them
declare("computed", [
    ("efc_type", "i", ("nefcmax",), "-", "rows", "mjtConstraint"),
    ("efc_id", "i", ("nefcmax",), "-", "rows", "dof, joint or contact of the row"),
    ("efc_state", "i", ("nefcmax",), "-", "rows", "mjtConstraintState"),
    ("efc_pos", "f", ("nefcmax",), "m, rad", "rows", "distance or angle to the constraint"),
    ("efc_margin", "f", ("nefcmax",), "m, rad", "rows", "distance at which it acts"),
    ("efc_frictionloss", "f", ("nefcmax",), "N, N m", "rows", "friction loss"),
    ("efc_diagApprox", "f", ("nefcmax",), "1/kg", "rows", "approximate diagonal of J M^-1 J'"),
    ("efc_KBIP", "f", ("nefcmax", 4), "1/s2, 1/s, -, -", "rows", "stiffness, damping, impedance, its derivative (0)"),
    ("efc_D", "f", ("nefcmax",), "kg", "rows", "1 / R"),
    ("efc_R", "f", ("nefcmax",), "1/kg", "rows", "regularisation"),
    ("efc_vel", "f", ("nefcmax",), "m/s, rad/s", "rows", "velocity J qvel"),
    ("efc_aref", "f", ("nefcmax",), "m/s2, rad/s2", "rows", "reference acceleration"),
    ("efc_force", "f", ("nefcmax",), "N, N m", "rows", "constraint force"),
])  # fmt: skip
