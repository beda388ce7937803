"""Enums of what a simulation computes, as MuJoCo's mjdata.h."""

from enum import IntEnum


class mjtConstraint(IntEnum):
    """Types of constraint rows."""

    mjCNSTR_EQUALITY = 0
    mjCNSTR_FRICTION_DOF = 1
    mjCNSTR_FRICTION_TENDON = 2
    mjCNSTR_LIMIT_JOINT = 3
    mjCNSTR_LIMIT_TENDON = 4
    mjCNSTR_CONTACT_FRICTIONLESS = 5
    mjCNSTR_CONTACT_PYRAMIDAL = 6
    mjCNSTR_CONTACT_ELLIPTIC = 7


class mjtConstraintState(IntEnum):
    """State of a constraint row."""

    mjCNSTRSTATE_SATISFIED = 0
    mjCNSTRSTATE_QUADRATIC = 1
    mjCNSTRSTATE_LINEARNEG = 2
    mjCNSTRSTATE_LINEARPOS = 3
    mjCNSTRSTATE_CONE = 4


class mjtSleepState(IntEnum):
    """Sleep state of a tree."""

    mjS_STATIC = -1
    mjS_ASLEEP = 0
    mjS_AWAKE = 1


class mjtState(IntEnum):
    """Bits naming parts of the state."""

    mjSTATE_TIME = 1
    mjSTATE_QPOS = 2
    mjSTATE_QVEL = 4
    mjSTATE_ACT = 8
    mjSTATE_WARMSTART = 16
    mjSTATE_CTRL = 32
    mjSTATE_QFRC_APPLIED = 64
    mjSTATE_XFRC_APPLIED = 128
    mjSTATE_EQ_ACTIVE = 256
    mjSTATE_MOCAP_POS = 512
    mjSTATE_MOCAP_QUAT = 1024
    mjSTATE_USERDATA = 2048
    mjSTATE_PLUGIN = 4096
    mjNSTATE = 13
    mjSTATE_PHYSICS = 14
    mjSTATE_FULLPHYSICS = 4111
    mjSTATE_USER = 4064
    mjSTATE_INTEGRATION = 8191


class mjtTimer(IntEnum):
    """Timers of the pipeline."""

    mjTIMER_STEP = 0
    mjTIMER_FORWARD = 1
    mjTIMER_INVERSE = 2
    mjTIMER_POSITION = 3
    mjTIMER_VELOCITY = 4
    mjTIMER_ACTUATION = 5
    mjTIMER_CONSTRAINT = 6
    mjTIMER_ADVANCE = 7
    mjTIMER_POS_KINEMATICS = 8
    mjTIMER_POS_INERTIA = 9
    mjTIMER_POS_COLLISION = 10
    mjTIMER_POS_MAKE = 11
    mjTIMER_POS_PROJECT = 12
    mjTIMER_COL_BROAD = 13
    mjTIMER_COL_NARROW = 14
    mjNTIMER = 15


class mjtWarning(IntEnum):
    """Warnings counted in mjData.warning."""

    mjWARN_INERTIA = 0
    mjWARN_CONTACTFULL = 1
    mjWARN_CNSTRFULL = 2
    mjWARN_VGEOMFULL = 3
    mjWARN_BADQPOS = 4
    mjWARN_BADQVEL = 5
    mjWARN_BADQACC = 6
    mjWARN_BADCTRL = 7
    mjNWARNING = 8
