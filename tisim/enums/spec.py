"""Enums of a model that is being made, as MuJoCo's mjspec.h."""

from enum import IntEnum


class mjtAlignFree(IntEnum):
    """`align` of free joints: move the body frame to the inertial frame or not."""

    mjALIGNFREE_FALSE = 0
    mjALIGNFREE_TRUE = 1
    mjALIGNFREE_AUTO = 2


class mjtBuiltin(IntEnum):
    """Procedural textures."""

    mjBUILTIN_NONE = 0
    mjBUILTIN_GRADIENT = 1
    mjBUILTIN_CHECKER = 2
    mjBUILTIN_FLAT = 3


class mjtMark(IntEnum):
    """Marks on procedural textures."""

    mjMARK_NONE = 0
    mjMARK_EDGE = 1
    mjMARK_CROSS = 2
    mjMARK_RANDOM = 3


class mjtGeomInertia(IntEnum):
    """Mass spread over the volume or the surface of a geom."""

    mjINERTIA_VOLUME = 0
    mjINERTIA_SHELL = 1


class mjtInertiaFromGeom(IntEnum):
    """compiler/inertiafromgeom."""

    mjINERTIAFROMGEOM_FALSE = 0
    mjINERTIAFROMGEOM_TRUE = 1
    mjINERTIAFROMGEOM_AUTO = 2


class mjtLimited(IntEnum):
    """Three-valued `limited`."""

    mjLIMITED_FALSE = 0
    mjLIMITED_TRUE = 1
    mjLIMITED_AUTO = 2


class mjtMeshBuiltin(IntEnum):
    """Procedural meshes."""

    mjMESH_BUILTIN_NONE = 0
    mjMESH_BUILTIN_SPHERE = 1
    mjMESH_BUILTIN_HEMISPHERE = 2
    mjMESH_BUILTIN_CONE = 3
    mjMESH_BUILTIN_SUPERSPHERE = 4
    mjMESH_BUILTIN_SUPERTORUS = 5
    mjMESH_BUILTIN_WEDGE = 6
    mjMESH_BUILTIN_PLATE = 7


class mjtMeshInertia(IntEnum):
    """How the inertia of a mesh is computed."""

    mjMESH_INERTIA_CONVEX = 0
    mjMESH_INERTIA_EXACT = 1
    mjMESH_INERTIA_LEGACY = 2
    mjMESH_INERTIA_SHELL = 3


class mjtOrientation(IntEnum):
    """Ways to give an orientation."""

    mjORIENTATION_QUAT = 0
    mjORIENTATION_AXISANGLE = 1
    mjORIENTATION_XYAXES = 2
    mjORIENTATION_ZAXIS = 3
    mjORIENTATION_EULER = 4
