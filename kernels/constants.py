"""Numbers that kernels share with the rest of tisim, each taken from where it is defined: plain ints, for Taichi."""

from tisim.data import asleep, pictures
from tisim.data.arrays import islands, lcp
from tisim.enums import (
    mjtBias,
    mjtCamLight,
    mjtCone,
    mjtConstraint,
    mjtConstraintState,
    mjtDataType,
    mjtDisableBit,
    mjtDyn,
    mjtEq,
    mjtGain,
    mjtGeom,
    mjtJacobian,
    mjtJoint,
    mjtObj,
    mjtSensor,
    mjtTrn,
    mjtWarning,
    mjtWrap,
)
from tisim.model.tables import colors, tasks
from tisim.model.tables import faces as face_tables
from tisim.model.tables import geom as geom_tables
from tisim.model.tables import ray as ray_tables
from tisim.stages import colliders, search, solver, sorting

# mjtGeom
PLANE = int(mjtGeom.mjGEOM_PLANE)
HFIELD = int(mjtGeom.mjGEOM_HFIELD)
SPHERE = int(mjtGeom.mjGEOM_SPHERE)
CAPSULE = int(mjtGeom.mjGEOM_CAPSULE)
ELLIPSOID = int(mjtGeom.mjGEOM_ELLIPSOID)
CYLINDER = int(mjtGeom.mjGEOM_CYLINDER)
BOX = int(mjtGeom.mjGEOM_BOX)
MESH = int(mjtGeom.mjGEOM_MESH)

# mjtJoint
FREE = int(mjtJoint.mjJNT_FREE)
BALL = int(mjtJoint.mjJNT_BALL)
SLIDE = int(mjtJoint.mjJNT_SLIDE)
HINGE = int(mjtJoint.mjJNT_HINGE)

# mjtCone
ELLIPTIC = int(mjtCone.mjCONE_ELLIPTIC)

# mjtConstraint
EQUALITY = int(mjtConstraint.mjCNSTR_EQUALITY)
FRICTION_DOF = int(mjtConstraint.mjCNSTR_FRICTION_DOF)
FRICTION_TENDON = int(mjtConstraint.mjCNSTR_FRICTION_TENDON)
LIMIT_JOINT = int(mjtConstraint.mjCNSTR_LIMIT_JOINT)
LIMIT_TENDON = int(mjtConstraint.mjCNSTR_LIMIT_TENDON)
CONTACT_FRICTIONLESS = int(mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)
CONTACT_PYRAMIDAL = int(mjtConstraint.mjCNSTR_CONTACT_PYRAMIDAL)
CONTACT_ELLIPTIC = int(mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC)

# mjtJacobian
JAC_DENSE = int(mjtJacobian.mjJAC_DENSE)
JAC_AUTO = int(mjtJacobian.mjJAC_AUTO)

# mjtEq, and the mjtObj that they can join
EQ_CONNECT = int(mjtEq.mjEQ_CONNECT)
EQ_JOINT = int(mjtEq.mjEQ_JOINT)
EQ_WELD = int(mjtEq.mjEQ_WELD)
OBJ_SITE = int(mjtObj.mjOBJ_SITE)

# mjtObj that sensors are attached to, mjtCamLight
OBJ_BODY = int(mjtObj.mjOBJ_BODY)
OBJ_XBODY = int(mjtObj.mjOBJ_XBODY)
OBJ_JOINT = int(mjtObj.mjOBJ_JOINT)
OBJ_GEOM = int(mjtObj.mjOBJ_GEOM)
OBJ_CAMERA = int(mjtObj.mjOBJ_CAMERA)
OBJ_TENDON = int(mjtObj.mjOBJ_TENDON)
CAM_FIXED = int(mjtCamLight.mjCAMLIGHT_FIXED)
CAM_TRACK = int(mjtCamLight.mjCAMLIGHT_TRACK)
CAM_TRACKCOM = int(mjtCamLight.mjCAMLIGHT_TRACKCOM)
CAM_TARGETBODYCOM = int(mjtCamLight.mjCAMLIGHT_TARGETBODYCOM)

# mjtWrap
WRAP_JOINT = int(mjtWrap.mjWRAP_JOINT)
WRAP_PULLEY = int(mjtWrap.mjWRAP_PULLEY)
WRAP_SITE = int(mjtWrap.mjWRAP_SITE)
WRAP_CYLINDER = int(mjtWrap.mjWRAP_CYLINDER)

# mjtTrn, mjtDyn, mjtGain, mjtBias
TRN_JOINTINPARENT = int(mjtTrn.mjTRN_JOINTINPARENT)
TRN_TENDON = int(mjtTrn.mjTRN_TENDON)
DYN_INTEGRATOR = int(mjtDyn.mjDYN_INTEGRATOR)
DYN_FILTER = int(mjtDyn.mjDYN_FILTER)
DYN_FILTEREXACT = int(mjtDyn.mjDYN_FILTEREXACT)
DYN_MUSCLE = int(mjtDyn.mjDYN_MUSCLE)
DYN_USER = int(mjtDyn.mjDYN_USER)
GAIN_FIXED = int(mjtGain.mjGAIN_FIXED)
GAIN_AFFINE = int(mjtGain.mjGAIN_AFFINE)
GAIN_MUSCLE = int(mjtGain.mjGAIN_MUSCLE)
GAIN_USER = int(mjtGain.mjGAIN_USER)
BIAS_NONE = int(mjtBias.mjBIAS_NONE)
BIAS_AFFINE = int(mjtBias.mjBIAS_AFFINE)
BIAS_MUSCLE = int(mjtBias.mjBIAS_MUSCLE)
BIAS_USER = int(mjtBias.mjBIAS_USER)

# how a contact sensor makes slots of contacts, as sensor_intprm has it
REDUCE_MINDIST, REDUCE_MAXFORCE, REDUCE_NETFORCE = 1, 2, 3

# mjtSensor, mjtDataType
SENS_JOINTPOS = int(mjtSensor.mjSENS_JOINTPOS)
SENS_JOINTVEL = int(mjtSensor.mjSENS_JOINTVEL)
SENS_TENDONPOS = int(mjtSensor.mjSENS_TENDONPOS)
SENS_TENDONVEL = int(mjtSensor.mjSENS_TENDONVEL)
SENS_ACTUATORPOS = int(mjtSensor.mjSENS_ACTUATORPOS)
SENS_ACTUATORVEL = int(mjtSensor.mjSENS_ACTUATORVEL)
SENS_ACTUATORFRC = int(mjtSensor.mjSENS_ACTUATORFRC)
SENS_JOINTACTFRC = int(mjtSensor.mjSENS_JOINTACTFRC)
SENS_BALLQUAT = int(mjtSensor.mjSENS_BALLQUAT)
SENS_BALLANGVEL = int(mjtSensor.mjSENS_BALLANGVEL)
SENS_SUBTREECOM = int(mjtSensor.mjSENS_SUBTREECOM)
SENS_ACCELEROMETER = int(mjtSensor.mjSENS_ACCELEROMETER)
SENS_VELOCIMETER = int(mjtSensor.mjSENS_VELOCIMETER)
SENS_GYRO = int(mjtSensor.mjSENS_GYRO)
SENS_FORCE = int(mjtSensor.mjSENS_FORCE)
SENS_FRAMEPOS = int(mjtSensor.mjSENS_FRAMEPOS)
SENS_FRAMEQUAT = int(mjtSensor.mjSENS_FRAMEQUAT)
SENS_FRAMEXAXIS = int(mjtSensor.mjSENS_FRAMEXAXIS)
SENS_FRAMEYAXIS = int(mjtSensor.mjSENS_FRAMEYAXIS)
SENS_FRAMEZAXIS = int(mjtSensor.mjSENS_FRAMEZAXIS)
SENS_FRAMEANGVEL = int(mjtSensor.mjSENS_FRAMEANGVEL)
SENS_FRAMEANGACC = int(mjtSensor.mjSENS_FRAMEANGACC)
SENS_SUBTREELINVEL = int(mjtSensor.mjSENS_SUBTREELINVEL)
SENS_E_POTENTIAL = int(mjtSensor.mjSENS_E_POTENTIAL)
SENS_CLOCK = int(mjtSensor.mjSENS_CLOCK)
SENS_GEOMDIST = int(mjtSensor.mjSENS_GEOMDIST)
SENS_GEOMNORMAL = int(mjtSensor.mjSENS_GEOMNORMAL)
DATATYPE_POSITIVE = int(mjtDataType.mjDATATYPE_POSITIVE)

# mjtWarning
WARN_BADCTRL = int(mjtWarning.mjWARN_BADCTRL)

# mjtJacobian, and the dofs from which on "auto" means sparse
JAC_DENSE = int(mjtJacobian.mjJAC_DENSE)
JAC_AUTO = int(mjtJacobian.mjJAC_AUTO)
SPARSE_NV = 60

# mjtConstraintState
SATISFIED = int(mjtConstraintState.mjCNSTRSTATE_SATISFIED)
QUADRATIC = int(mjtConstraintState.mjCNSTRSTATE_QUADRATIC)
LINEARNEG = int(mjtConstraintState.mjCNSTRSTATE_LINEARNEG)
LINEARPOS = int(mjtConstraintState.mjCNSTRSTATE_LINEARPOS)
CONE = int(mjtConstraintState.mjCNSTRSTATE_CONE)

# mjtDisableBit
DSBL_CONSTRAINT = int(mjtDisableBit.mjDSBL_CONSTRAINT)
DSBL_EQUALITY = int(mjtDisableBit.mjDSBL_EQUALITY)
DSBL_FRICTIONLOSS = int(mjtDisableBit.mjDSBL_FRICTIONLOSS)
DSBL_LIMIT = int(mjtDisableBit.mjDSBL_LIMIT)
DSBL_SPRING = int(mjtDisableBit.mjDSBL_SPRING)
DSBL_DAMPER = int(mjtDisableBit.mjDSBL_DAMPER)
DSBL_CLAMPCTRL = int(mjtDisableBit.mjDSBL_CLAMPCTRL)
DSBL_ACTUATION = int(mjtDisableBit.mjDSBL_ACTUATION)
DSBL_GRAVITY = int(mjtDisableBit.mjDSBL_GRAVITY)
DSBL_WARMSTART = int(mjtDisableBit.mjDSBL_WARMSTART)
DSBL_ISLAND = int(mjtDisableBit.mjDSBL_ISLAND)
DSBL_REFSAFE = int(mjtDisableBit.mjDSBL_REFSAFE)

# kinds of pairs, types of geoms that collide, contacts of a pair
NTYPE = colliders.NTYPE
NKIND = colliders.NKIND
PLANE_ROUND = colliders.PLANE_ROUND
ROUND_ROUND = colliders.ROUND_ROUND
PLANE_BOX = colliders.PLANE_BOX
ROUND_BOX = colliders.ROUND_BOX
BOX_BOX = colliders.BOX_BOX
PLANE_CYLINDER = colliders.PLANE_CYLINDER
PLANE_CONVEX = colliders.PLANE_CONVEX
SPHERE_CYLINDER = colliders.SPHERE_CYLINDER
CONVEX = colliders.CONVEX
HEIGHT_FIELD = colliders.HEIGHT_FIELD
FIRST_USER = colliders.FIRST_USER
BOX_SLOTS = colliders.SLOTS[BOX_BOX]  # of a pair of boxes, before duplicates go
HFIELD_SLOTS = colliders.SLOTS[HEIGHT_FIELD]  # of a geom and a height field, mjMAXCONPAIR

SWEEP_FOUND = search.SWEEP_FOUND
LINEAR_ITERATIONS = solver.LINEAR_ITERATIONS
SCAN_BLOCK = sorting.SCAN_BLOCK
QUEUED_ROUNDS, QUEUE_BAD = islands.QUEUED_ROUNDS, islands.QUEUE_BAD
QUEUE_LARGE, QUEUE_DENSE = islands.QUEUE_LARGE, islands.QUEUE_DENSE
# lcp_head, and colours of a launch, rounds in list order
HEAD_COLORS, HEAD_LEFT, HEAD_ROUND = lcp.HEAD_COLORS, lcp.HEAD_LEFT, lcp.HEAD_ROUND
LCP_COLORS, LCP_LONG = lcp.LCP_COLORS, lcp.LCP_LONG

# places in a row of geom_filter
FILTER_BODY = geom_tables.BODY
FILTER_WELD = geom_tables.WELD
FILTER_PARENT_WELD = geom_tables.PARENT_WELD
FILTER_CONTYPE = geom_tables.CONTYPE
FILTER_CONAFFINITY = geom_tables.CONAFFINITY

# sleeping
AWAKE = asleep.AWAKE  # in tree_asleep, of a tree that is wide awake
GONE = asleep.GONE  # of one that was removed
NEVER_SLEEPS = asleep.NEVER_SLEEPS  # bits of the policies of trees that stay awake
POKED_POSE = asleep.WRITTEN["qpos"]  # bits of d.nwritten
POKED_VELOCITY = asleep.WRITTEN["qvel"]
POKED_FORCE = asleep.WRITTEN["qfrc_applied"]
POKED_WRENCH = asleep.WRITTEN["xfrc_applied"]

# kinds of tasks, for lists of those that are awake
TASK_FIXED = tasks.NUMBER["fixed"]
TASK_SPATIAL = tasks.NUMBER["spatial"]
TASK_TENDON = tasks.NUMBER["tendon"]
TASK_SPRINGY = tasks.NUMBER["springy"]
TASK_PULLED = tasks.NUMBER["pulled"]
TASK_HEAVY_TREE = tasks.NUMBER["heavy_tree"]
TASK_HEAVY = tasks.NUMBER["heavy"]
TASK_HEAVY_DOF = tasks.NUMBER["heavy_dof"]
TASK_TEN_FRICTION = tasks.NUMBER["ten_friction"]
TASK_TEN_LIMIT = tasks.NUMBER["ten_limit"]
TASK_JOINT_ACT = tasks.NUMBER["joint_act"]
TASK_TENDON_ACT = tasks.NUMBER["tendon_act"]
TASK_SITE_ACT = tasks.NUMBER["site_act"]
TASK_CRANK_ACT = tasks.NUMBER["crank_act"]
TASK_SHAPED = tasks.NUMBER["shaped"]
TASK_ACTUATOR = tasks.NUMBER["actuator"]
TASK_FORCE_TENDON = tasks.NUMBER["force_tendon"]
TASK_DRIVEN = tasks.NUMBER["driven"]
TASK_CLAMPED = tasks.NUMBER["clamped"]
TASK_EQUALITY = tasks.NUMBER["equality"]
TASK_EQ_POSE = tasks.NUMBER["eq_pose"]
TASK_EQ_JOINT = tasks.NUMBER["eq_joint"]
TASK_EQ_TENDON = tasks.NUMBER["eq_tendon"]
NTASK = len(tasks.KINDS)

LEAF = ray_tables.LEAF  # faces in a leaf of a mesh's tree
LEAF_FACES = face_tables.FACES  # of a leaf of a mesh's tree in pictures
MESH_CLOSED = face_tables.CLOSED  # forms of a mesh
MESH_CONVEX = face_tables.CLOSED | face_tables.CONVEX

# colours of pictures
COLOR_ISLAND = colors.MODES.index("island")
COLOR_ASLEEP = colors.MODES.index("asleep")
COLOR_GROUP = colors.MODES.index("group")
COLOR_SPEED = colors.MODES.index("speed")
COLOR_FORCE = colors.MODES.index("force")
FIRST_GROUP, FIRST_AWAKE, FIRST_STOP, NPAINT = colors.FIRST_GROUP, colors.FIRST_AWAKE, colors.FIRST_STOP, colors.NPAINT
ASLEEP_PERCENT = round(100 * colors.ASLEEP)

# lists of what pictures show
PICTURE_BLOCK, NCLASS, NWORD = pictures.BLOCK, pictures.CLASSES, pictures.WORDS
NGROUP = ray_tables.NGROUP
PAGE_MOVED, PAGE_CAME, PAGE_PAINTED = pictures.MOVED, pictures.CAME, pictures.PAINTED
