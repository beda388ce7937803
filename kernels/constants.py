"""Numbers that kernels share with the rest of tisim, each taken from where it is defined: plain ints, for Taichi."""

from tisim.data import asleep
from tisim.enums import (
    mjtBias,
    mjtCone,
    mjtConstraint,
    mjtConstraintState,
    mjtDisableBit,
    mjtDyn,
    mjtEq,
    mjtGain,
    mjtGeom,
    mjtJacobian,
    mjtJoint,
    mjtObj,
    mjtTrn,
    mjtWarning,
    mjtWrap,
)
from tisim.model.tables import geom as geom_tables
from tisim.model.tables import ray as ray_tables
from tisim.stages import colliders, search, solver

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
EQ_WELD = int(mjtEq.mjEQ_WELD)
OBJ_SITE = int(mjtObj.mjOBJ_SITE)

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
DSBL_SPRING = int(mjtDisableBit.mjDSBL_SPRING)
DSBL_DAMPER = int(mjtDisableBit.mjDSBL_DAMPER)
DSBL_CLAMPCTRL = int(mjtDisableBit.mjDSBL_CLAMPCTRL)
DSBL_ACTUATION = int(mjtDisableBit.mjDSBL_ACTUATION)
DSBL_GRAVITY = int(mjtDisableBit.mjDSBL_GRAVITY)
DSBL_WARMSTART = int(mjtDisableBit.mjDSBL_WARMSTART)
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
BOX_SLOTS = colliders.SLOTS[BOX_BOX]  # of a pair of boxes, before duplicates go
HFIELD_SLOTS = colliders.SLOTS[HEIGHT_FIELD]  # of a geom and a height field, mjMAXCONPAIR

SWEEP_FOUND = search.SWEEP_FOUND
LINEAR_ITERATIONS = solver.LINEAR_ITERATIONS

# places in a row of geom_filter
FILTER_BODY = geom_tables.BODY
FILTER_WELD = geom_tables.WELD
FILTER_PARENT_WELD = geom_tables.PARENT_WELD
FILTER_CONTYPE = geom_tables.CONTYPE
FILTER_CONAFFINITY = geom_tables.CONAFFINITY

# sleeping
AWAKE = asleep.AWAKE  # in tree_asleep, of a tree that is wide awake
NEVER_SLEEPS = asleep.NEVER_SLEEPS  # bits of the policies of trees that stay awake
POKED_POSE = asleep.WRITTEN["qpos"]  # bits of d.nwritten
POKED_VELOCITY = asleep.WRITTEN["qvel"]
POKED_FORCE = asleep.WRITTEN["qfrc_applied"]
POKED_WRENCH = asleep.WRITTEN["xfrc_applied"]

LEAF = ray_tables.LEAF  # faces in a leaf of a mesh's tree
