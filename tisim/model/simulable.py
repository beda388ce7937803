"""What compiles but is not simulated: refused by name before the first step, options before every step."""

import warnings

import numpy as np

from tisim.enums import mjtCone, mjtEnableBit, mjtEq, mjtGeom, mjtIntegrator, mjtSensor
from tisim.errors import UnsupportedError

from . import lcp
from .tables import sensor

SLIPPERY = 1e-3  # sliding friction below which a pyramidal cone makes a contact too stiff
# types of equalities that have makers of rows
EQUALITIES = (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD, mjtEq.mjEQ_JOINT, mjtEq.mjEQ_TENDON)
# types of geoms that have colliders
COLLIDING = (
    mjtGeom.mjGEOM_PLANE, mjtGeom.mjGEOM_HFIELD, mjtGeom.mjGEOM_SPHERE, mjtGeom.mjGEOM_CAPSULE,
    mjtGeom.mjGEOM_ELLIPSOID, mjtGeom.mjGEOM_CYLINDER, mjtGeom.mjGEOM_BOX, mjtGeom.mjGEOM_MESH,
)  # fmt: skip


def check(m):
    """Raises UnsupportedError for what compiles but is not simulated yet."""
    check_options(m)
    _check_constraints(m)
    _check_sensors(m)
    _check_colliders(m)
    _warn_of_slippery_pyramids(m)


def _warn_of_slippery_pyramids(m):
    """Frictionless pyramids are 1e10 times stiffer than their impedance asks for; large islands of them diverge."""
    if m.opt.cone != mjtCone.mjCONE_PYRAMIDAL or not m.has_contacts():
        return
    touches = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
    slips = touches & (m.geom_condim > 1) & (m.geom_friction[:, 0] < SLIPPERY)
    if slips.sum() > 1:  # friction of a pair is the larger one
        g = int(np.flatnonzero(slips)[0])
        warnings.warn(
            f"geom {m.id2name('geom', g) or f'number {g}'}: friction below {SLIPPERY} with pyramidal cones is "
            "too stiff to be solved well in large piles, in MuJoCo as here; use condim=1 or cone=elliptic",
            stacklevel=5,
        )


def check_options(m):
    """The part of check that looks at m.opt; made before every step, since options may change."""
    opt = m.opt
    opt.check()
    if lcp.chosen(m):
        lcp.refuse(m)
    if opt.enableflags & mjtEnableBit.mjENBL_SLEEP:
        check_sleep(m)
    if m.comes_and_goes:
        check_removal(m)


def check_sleep(m):
    """What does not go with the flag sleep."""
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise UnsupportedError("flag sleep with integrator RK4: MuJoCo does not support it either")


def check_removal(m):
    """What does not go with bodies that are removed."""
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise UnsupportedError("tisim.remove with integrator RK4 is not supported so far: use another one")


def _check_constraints(m):
    """Types of equalities that have no rows."""
    bad = np.flatnonzero(~np.isin(m.eq_type, EQUALITIES))
    if len(bad):
        kind = mjtEq(m.eq_type[bad[0]]).name[5:].lower()
        raise UnsupportedError(f"equality {bad[0]}: {kind} is not simulated so far")


def _check_sensors(m):
    """Types of sensors that have no kernels."""
    bad = np.flatnonzero(~np.isin(m.sensor_type, list(sensor.SIMULATED)))
    if len(bad):
        s = int(bad[0])
        name, kind = m.id2name("sensor", s) or f"number {s}", mjtSensor(m.sensor_type[s]).name[7:].lower()
        raise UnsupportedError(
            f"sensor {name}: {kind} compiles but is not simulated so far: a later version will; delete it"
        )
    tactile = np.flatnonzero(m.sensor_type == mjtSensor.mjSENS_TACTILE)
    mesh = m.sensor_objid[tactile]
    flat = np.flatnonzero(m.mesh_normalnum[mesh] < 3 * m.mesh_vertnum[mesh])
    if len(flat):  # MuJoCo reads what stands behind them
        s, k = int(tactile[flat[0]]), int(mesh[flat[0]])
        raise UnsupportedError(
            f"sensor {m.id2name('sensor', s) or f'number {s}'}: its mesh {m.id2name('mesh', k)} has no tangents at its "
            'vertices, which tactile sensors need: take one with builtin="plate"'
        )


def _check_colliders(m):
    """Geoms that may touch something need a collider."""
    if not m.has_contacts():
        return
    touches = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
    touches[np.concatenate([m.pair_geom1, m.pair_geom2]).astype(int)] = True
    bad = np.flatnonzero(touches & ~np.isin(m.geom_type, COLLIDING))
    if len(bad):
        g = int(bad[0])
        name, kind = m.id2name("geom", g) or f"number {g}", mjtGeom(m.geom_type[g]).name[7:].lower()
        raise UnsupportedError(
            f"geom {name}: contacts of type {kind} are not simulated so far; "
            "set contype and conaffinity to 0 if it is only to be seen"
        )
