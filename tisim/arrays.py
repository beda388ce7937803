"""Every array of a Data, declared once: allocation, access, copying, reset, saving and printing follow this list.

`shape` counts one world, and an array has nworld times that many elements, world by world, unless its first dimension
says that all worlds share it: a name in `CAPACITIES` is a list that grows, one in `LENGTHS` has a length that its stage
sets by `Data.scratch`, and `ALL` means one row. The arrays of a Model are declared in tisim/model_fields.py, the tables
made from them in tisim/device_model.py, the numbers that kernels ask for in tisim/scalars.py.
"""

import dataclasses
import math

CAPACITIES = ("npairmax", "nslotmax", "nconmax", "nefcmax", "ndensemax", "nrowmax")

# lengths that the stages set: name -> meaning
LENGTHS = dict(
    nbox="moving geoms with boxes of their own, bodies with many geoms, and the geoms of these",
    nplane="planes", nstatic="bounded static geoms", nlisted="different pairs of geoms that the model lists",
    nexclude="pairs of bodies that the model excludes", nworldplane="planes of all worlds",
    nworldgroup="bodies with many geoms of all worlds", nsortcount="blocks of the sort times values of a digit",
    nfound="places for what the threads of a sweep find", nccdreal="real numbers of all workers on convex shapes",
    nccdint="whole numbers of all workers on convex shapes", nray="rays of all worlds",
    nleafall="leaves of the rays' trees of all worlds", nnodeall="nodes of the rays' trees of all worlds",
)  # fmt: skip
ALL = "all"

# indices into `counts`; a count may exceed its capacity, then nothing was written beyond it and the stage is redone
COUNTS = dict(ncpair=0, nslot=1, ncon=2, nrow=3, nefc=4, nisland=5, ndense=7,
              ntblk=9, ncblk=10, nrblk=11, nsmall=12, nlarge=13, nentry=14, nrun=16, nseek=17, nraykey=18,
              nmid=19, nout=20)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Array:
    """One array: name, dtype "f" (running precision) or "i" (int32), shape, role, unit, writing stage, meaning.

    role  "state" and "input": the user writes it; "computed": a stage writes it, users only read; "scratch": not
          shown to users; "stage": neither, and a reset leaves it, since its stage keeps something in it.
    """

    name: str
    dtype: str
    shape: tuple
    role: str
    unit: str
    stage: str
    doc: str

    @property
    def is_list(self):
        return self.shape[0] in CAPACITIES

    @property
    def is_shared(self):
        """True if there is one for all worlds."""
        return self.is_list or self.shape[0] in LENGTHS or self.shape[0] == ALL

    @property
    def hidden(self):
        return self.role in ("scratch", "stage")

    def dims(self, sizes):
        """Shape in numbers, without ALL; sizes maps a dimension's name to its value."""
        return tuple(s if isinstance(s, int) else int(sizes(s)) for s in self.shape if s != ALL)

    def size(self, sizes):
        return math.prod(self.dims(sizes))


DATA = {}


def declare(role, rows):
    """Adds arrays given as (name, dtype, shape, unit, stage, meaning)."""
    for name, dtype, shape, unit, stage, doc in rows:
        if name in DATA:
            raise ValueError(f"array {name} is declared twice")
        DATA[name] = Array(name, dtype, shape, role, unit, stage, doc)


declare("state", [
    ("qpos", "f", ("nq",), "m, rad, -", "integrate", "joint positions, quaternions w x y z"),
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
    ("mocap_pos", "f", ("nmocap", 3), "m", "user", "positions of mocap bodies"),
    ("mocap_quat", "f", ("nmocap", 4), "-", "user", "orientations of mocap bodies"),
    ("userdata", "f", ("nuserdata",), "-", "user", "free for the user"),
    ("qacc", "f", ("nv",), "m/s2, rad/s2", "constraint", "joint accelerations (an input of inverse)"),
])  # fmt: skip

# smooth dynamics
declare("computed", [
    ("xpos", "f", ("nbody", 3), "m", "kinematics", "body frame positions"),
    ("xquat", "f", ("nbody", 4), "-", "kinematics", "body frame orientations"),
    ("xmat", "f", ("nbody", 9), "-", "kinematics", "the same as rotation matrices"),
    ("xipos", "f", ("nbody", 3), "m", "kinematics", "positions of the inertial frames"),
    ("ximat", "f", ("nbody", 9), "-", "kinematics", "orientations of the inertial frames"),
    ("xanchor", "f", ("njnt", 3), "m", "kinematics", "joint anchors"),
    ("xaxis", "f", ("njnt", 3), "-", "kinematics", "joint axes"),
    ("geom_xpos", "f", ("ngeom", 3), "m", "kinematics", "geom positions"),
    ("geom_xmat", "f", ("ngeom", 9), "-", "kinematics", "geom orientations"),
    ("site_xpos", "f", ("nsite", 3), "m", "kinematics", "site positions"),
    ("site_xmat", "f", ("nsite", 9), "-", "kinematics", "site orientations"),
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
    ("qfrc_smooth", "f", ("nv",), "N, N m", "acceleration", "all forces but those of constraints"),
    ("qacc_smooth", "f", ("nv",), "m/s2, rad/s2", "acceleration", "acceleration without constraints"),
    ("qfrc_constraint", "f", ("nv",), "N, N m", "constraint", "constraint forces"),
    ("qfrc_inverse", "f", ("nv",), "N, N m", "inverse", "force that gives qacc"),
    ("energy", "f", (2,), "J", "energy", "potential and kinetic energy"),
])  # fmt: skip

# collision: lists over all worlds
declare("computed", [
    ("contact_dist", "f", ("nconmax",), "m", "collision", "distance, negative in penetration"),
    ("contact_pos", "f", ("nconmax", 3), "m", "collision", "midpoint between the surfaces"),
    ("contact_frame", "f", ("nconmax", 9), "-", "collision", "rows: normal from geom 1 to geom 2, two tangents"),
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
    ("cfrc_bias", "f", ("nbody", 6), "N m, N", "rne", "bias wrench, summed over each subtree"),
    ("qH", "f", ("nC",), "kg, kg m, kg m2", "integrate", "factor of M + timestep * damping, in the places of M"),
    ("qHDiagInv", "f", ("nv",), "-", "integrate", "1 / diagonal of its D"),
    ("qacc_euler", "f", ("nv",), "m/s2, rad/s2", "integrate", "acceleration with implicit damping"),
    ("bad", "i", (3,), "-", "check", "nq or nv minus the first bad index in qpos, qvel, qacc; 0: all are finite"),
    ("counts", "i", (ALL, 32), "-", "all", "lengths of the lists over all worlds, by the indices in COUNTS"),
    ("warning", "i", (16,), "-", "check", "warnings by mjtWarning: number, then last info"),
])  # fmt: skip

# constraint rows other than contacts (friction loss, limits), and what the solver needs of contacts
declare("scratch", [
    ("limit_row", "i", ("nlimited",), "-", "constraint", "first row of each limited joint"),
    ("row_int", "i", ("nrowmax", 6), "-", "constraint", "mjtConstraint, dof or joint, number of dofs, those dofs"),
    ("row_f", "f", ("nrowmax", 13), "-", "constraint",
     "Jacobian at those dofs (3), R, aref, frictionloss, pos, margin, diagApprox, K, B, impedance, velocity"),
    ("row_sol", "f", ("nrowmax", 4), "-", "solver", "residual Jx - aref, J p, force (or Hessian product), Hessian"),
    ("tree_rowadr", "i", ("ntree",), "-", "constraint", "first entry of each tree in tree_row"),
    ("tree_rownum", "i", ("ntree",), "-", "constraint", "rows of each tree"),
    ("tree_row", "i", ("nrowmax",), "-", "constraint", "rows by tree"),
    ("con_body", "i", ("nconmax", 2), "-", "constraint", "world-major moving bodies of a contact, -1: static"),
    ("con_arm", "f", ("nconmax", 2, 3), "m", "constraint", "contact point from each tree's centre of mass"),
    ("con_par", "f", ("nconmax", 7), "kg, -", "constraint",
     "1 / regularisation of the normal (of every pyramid edge), mu of the regularised cone, friction (5)"),
    ("con_acc", "f", ("nconmax", 3, 6), "m/s2, rad/s2", "solver",
     "in the contact frame: reference acceleration aref, residual Jx - aref, J p"),
    ("con_force", "f", ("nconmax", 3), "N", "solver", "world force on body 2 at the contact point"),
    ("con_torque", "f", ("nconmax", 3), "N m", "solver", "world torque on body 2, above dim 3"),
    ("con_hess", "f", ("nconmax", 6), "kg", "solver", "world Hessian of the contact's cost, translation"),
    ("con_hess_rot", "f", ("nconmax", 15), "kg m, kg m2", "solver", "the same, coupling and rotation"),
    ("body_conadr", "i", ("nbody",), "-", "constraint", "first entry of each body in body_con"),
    ("body_connum", "i", ("nbody",), "-", "constraint", "contact sides of each body"),
    ("body_con", "i", ("nconmax", 2), "-", "constraint", "contact sides by body: 2 * contact + side"),
])  # fmt: skip

# islands
declare("computed", [
    ("tree_island", "i", ("ntree",), "-", "island", "island of each tree, -1: unconstrained"),
    ("island_niter", "i", ("ntree",), "-", "solver", "solver iterations of each island"),
    ("island_cost", "f", ("ntree",), "kg m2/s4", "solver", "objective of each island at the solution"),
    ("island_gradient", "f", ("ntree",), "-", "solver", "scaled gradient norm of each island at the solution"),
])  # fmt: skip
declare("scratch", [
    ("uf_parent", "i", ("ntree",), "-", "island", "union-find over trees of all worlds"),
    ("uf_touched", "i", ("ntree",), "-", "island", "1: the tree has an active constraint"),
    ("island_info", "i", ("ntree", 10), "-", "island",
     "address and number in island_tree, in island_con, in island_row; contacts between moving bodies; dofs; "
     "address in island_dense; 0: one thread solves it, 1: all do"),
    ("island_tree", "i", ("ntree",), "-", "island", "world-major trees by island"),
    ("island_con", "i", ("nconmax",), "-", "island", "contacts by island"),
    ("island_row", "i", ("nrowmax",), "-", "island", "rows by island"),
    ("tree_dofstart", "i", ("ntree",), "-", "island", "first dof of a tree within its island"),
    ("island_dense", "f", ("ndensemax",), "kg", "solver", "dense Hessians of small islands, lower triangle by rows"),
])  # fmt: skip

# solver vectors and per-body work space
declare("scratch", [
    ("twist", "f", ("nbody", 6), "rad/s2, m/s2", "solver", "body accelerations of the vector at hand"),
    ("wrench", "f", ("nbody", 6), "N m, N", "solver", "body wrenches, summed towards the root"),
    ("body_hess", "f", ("nbody", 21), "kg", "solver", "Hessian of each body's twist: rotation 6, coupling 9, linear 6"),
    ("tree_hess", "f", ("nM",), "kg", "solver", "Hessian of each tree by dof_Madr, then its L' D L factor"),
    ("sol_Ma", "f", ("nv",), "N, N m", "solver", "M times qacc"),
    ("sol_p", "f", ("nv",), "m/s2, rad/s2", "solver", "search direction"),
    ("sol_Mp", "f", ("nv",), "N, N m", "solver", "M times the search direction"),
    ("sol_r", "f", ("nv",), "N, N m", "solver", "residual of the linear system"),
    ("sol_z", "f", ("nv",), "m/s2, rad/s2", "solver", "preconditioned residual"),
    ("sol_q", "f", ("nv",), "m/s2, rad/s2", "solver", "conjugate direction of the linear system"),
    ("sol_Hq", "f", ("nv",), "N, N m", "solver", "Hessian times that direction"),
])  # fmt: skip

# blocks of large islands: the units of parallel work and of fixed-order sums
declare("scratch", [
    ("island_small", "i", ("ntree",), "-", "island", "islands solved by one thread each"),
    ("island_large", "i", ("ntree",), "-", "island", "islands solved by all threads"),
    ("island_tblk", "i", ("ntree", 2), "-", "island", "range of tree blocks of each large island"),
    ("island_cblk", "i", ("ntree", 2), "-", "island", "range of contact blocks of each large island"),
    ("island_rblk", "i", ("ntree", 2), "-", "island", "range of row blocks of each large island"),
    ("tblk", "i", ("ntree", 3), "-", "island", "tree block: island, range in island_tree"),
    ("cblk", "i", ("nconmax", 3), "-", "island", "contact block: island, range in island_con"),
    ("rblk", "i", ("nrowmax", 3), "-", "island", "row block: island, range in island_row"),
    ("tblk_sum", "f", ("ntree", 4), "-", "solver", "sums over a tree block"),
    ("cblk_sum", "f", ("nconmax", 2), "-", "solver", "sums over a contact block"),
    ("rblk_sum", "f", ("nrowmax", 2), "-", "solver", "sums over a row block"),
    ("isl", "f", ("ntree", 16), "-", "solver", "scalars of each large island, see kernels/solve_large.py"),
    ("isl_phase", "i", ("ntree", 4), "-", "solver", "which phase of the solver each large island is in"),
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
    ("mid_item1", "i", ("npairmax",), "-", "collision", "what the sweep finds: world*nitem + item 1"),
    ("mid_item2", "i", ("npairmax",), "-", "collision", "the same, item 2"),
    ("entry_box", "f", ("npairmax", 6), "m", "collision",
     "in the order of the sweep: lower and upper end of the box along each of its axes"),
    ("entry_cell", "i", ("npairmax", 2), "-", "collision", "first strip and row of each entry, before wrapping round"),
    ("sort_key", "i", ("npairmax", 2), "-", "collision", "keys of the radix sort, two halves used in turn"),
    ("sort_value", "i", ("npairmax", 2), "-", "collision", "what the keys belong to"),
    ("scan_sum", "i", ("npairmax",), "-", "collision", "block sums of scans"),
    ("cand_geom1", "i", ("npairmax",), "-", "collision", "candidate pairs in no order: world*ngeom + geom 1"),
    ("cand_geom2", "i", ("npairmax",), "-", "collision", "geom 2"),
    ("cand_listed", "i", ("npairmax",), "-", "collision", "index in the model's pairs, -1 if not from there"),
    ("cpair_geom1", "i", ("npairmax",), "-", "collision", "pairs sorted by world and geoms: world*ngeom + geom 1"),
    ("cpair_geom2", "i", ("npairmax",), "-", "collision", "geom 2"),
    ("cpair_listed", "i", ("npairmax",), "-", "collision", "index in the model's pairs, -1 if not from there"),
    ("cpair_kind", "i", ("npairmax",), "-", "collision", "collider: kind_of in tisim/colliders.py"),
    ("cpair_margin", "f", ("npairmax",), "m", "collision", "distance below which contacts are listed"),
    ("cpair_slot", "i", ("npairmax",), "-", "collision", "first contact slot"),
    ("cpair_ncon", "i", ("npairmax",), "-", "collision", "number of contacts"),
    ("cpair_adr", "i", ("npairmax",), "-", "collision", "first contact"),
    ("cpair_bin", "i", ("npairmax",), "-", "collision", "pairs by collider"),
    ("con_slot", "f", ("nslotmax", 8), "m, -", "collision", "distance, midpoint, normal of a pair's contacts"),
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
    ("type_kind", "i", (ALL, 64), "-", "collision", "kind of a pair by 8 * type 1 + type 2, see tisim/colliders.py"),
    ("kind_slots", "i", (ALL, 16), "-", "collision", "slots that a pair of each kind needs"),
    ("bin_adr", "i", (ALL, 64), "-", "collision", "where each kind begins in cpair_bin, then where its next pair goes"),
    ("override_param", "f", (ALL, 12), "-", "collision", "contact parameters that override: solref, solimp, friction"),
    ("sweep_axis", "i", (ALL, 2), "-", "collision", "axis of the sweep, axis of the strips"),
    ("sweep_sample", "f", (ALL, 96), "m", "collision", "sorted coordinates of a few items, for each axis"),
    ("sweep_scale", "f", (ALL, 16), "m", "collision",
     "median, spread and mean extent of the items along each axis; middle and 1 / scale of the sweep; 1 / width of "
     "strips and of rows; skin of the last search"),
    ("sweep_found", "i", ("nfound",), "-", "collision", "pairs of entries whose boxes meet, by thread"),
    ("plane_from", "f", ("nworldplane", 6), "m, -", "collision", "place and normal of each plane in the last search"),
    ("group_from", "f", ("nworldgroup", 12), "m, -", "collision", "place of each body with many geoms then"),
    ("sort_count", "i", ("nsortcount",), "-", "collision", "how many keys of each digit a block of the sort has"),
    ("ccd_f", "f", ("nccdreal",), "any", "collision", "shapes, vertices and faces of each worker, see kernels/ccd.py"),
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
    ("ray_node", "f", ("nnodeall", 6), "m", "rays", "lower and upper corner of each node's box"),
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
