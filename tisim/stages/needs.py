"""Which kernels the steps of a model can come to need, so that none is made in the middle of a run."""

import importlib
import pkgutil

from tisim.data import asleep
from tisim.device import runtime, session
from tisim.device.variant import Kernel
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtSolver
from tisim.model import lcp as parameters

from . import (
    actuation,
    callbacks,
    collision,
    dual,
    dynamics,
    integrators,
    inverse,
    lcp,
    lists,
    narrowphase,
    rays,
    sensor,
    sleep,
    solver,
    tendon,
)  # fmt: skip
from .constraint import MAKERS

CROWDED = 16  # contacts of a geom that are not expected to be exceeded on average
FORESEEN = 300  # contacts that a scene on a GPU may have, above which kernels for large islands are made at its start


def kernels_of(m, d):
    """The Kernels, each once. Options that are changed later may ask for others, which are made then."""
    k = runtime.kernels
    kinematics, integrate = k("smooth.kinematics"), k("smooth.integrate")
    if parameters.chosen(m):
        return _second(m, d)
    found = [
        kinematics.body_poses,
        kinematics.geom_poses,
        dynamics.inertia_kernel(m, d),
        *integrators.kernels_of(m, d),
    ]
    if m.scalar("nseen"):
        found.append(k("sensor.frame").camera_poses)
    if m.nq:
        found.append(integrate.find_bad_state)
    if m.ntendon:
        found += [*tendon.path_kernels(m), *tendon.passive_kernels(m)]
    found += [*actuation.all_kernels(m), *callbacks.kernels_of(m), *sensor.all_kernels(m, d)]
    if m.nv:
        velocity = k("smooth.velocity")
        if dynamics.has_medium(m):
            found.append(k("smooth.fluid").tree_fluid)
        found += [velocity.tree_velocity, dynamics.acceleration_kernel(m, d), integrate.find_bad_acceleration]
        if m.opt.enableflags & mjtEnableBit.mjENBL_FWDINV:
            found += inverse.kernels_of(m)
    if m.opt.enableflags & mjtEnableBit.mjENBL_ENERGY:
        found += dynamics.energy_kernels(m)
    elif m.scalar("nenergy"):
        found.append(k("smooth.energy").no_energy)
    contacts = _contacts(m, d)
    found += _sleepers(m, contacts)
    rows = [] if m.disabled(mjtDisableBit.mjDSBL_CONSTRAINT) else [x.function() for x in MAKERS if x.acts(m)]
    found += contacts + rows + ([k("solver.newton").unconstrained] if session.arch == "cpu" else [])
    if contacts or rows:
        found += _solver(m, d)
    return list(dict.fromkeys(found))


def _sleepers(m, contacts):
    """Kernels of what sleeps, beside those of contacts."""
    k = runtime.kernels
    found = []
    if asleep.listed(m):
        found += [k("sleep.waking").find_poked, k("sleep.lists").list_awake]
        found += [k("sleep.lists").list_live_pairs] if contacts else []
        found += [k("sleep.ties").list_tasks] if sleep.has_tasks(m) else []
    if asleep.enabled(m):
        found += [k("sleep.falling").count_down, k("sleep.falling").fall_asleep]
        found += sensor.lay_down_kernels(m) if m._sizes["nsensor"] else []
        found += [k("sleep.ties").wake_by_equalities] if m.neq else []
        found += [k("sleep.ties").wake_by_tendons] if m.ntendon and m.scalar("ntie") else []
        if contacts:
            found.append(k("sleep.waking").wake_by_contacts)
    return found


def _second(m, d):
    """Those of the second dynamics: of the others' only what its steps launch."""
    k = runtime.kernels
    kinematics, velocity = k("smooth.kinematics"), k("smooth.velocity")
    found = [kinematics.body_poses, *dynamics.pose_kernels(m), kinematics.geom_poses, dynamics.inertia_kernel(m, d)]
    found += [k("sensor.frame").camera_poses] if m.scalar("nseen") else []
    found += [k("smooth.integrate").find_bad_state, velocity.tree_velocity] if m.nq else []
    found += [k("smooth.fluid").tree_fluid] if m.nv and dynamics.has_medium(m) else []
    found += [*actuation.all_kernels(m), *callbacks.kernels_of(m), *sensor.all_kernels(m, d)]
    if m.opt.enableflags & mjtEnableBit.mjENBL_ENERGY:
        found += dynamics.energy_kernels(m)
    elif m.scalar("nenergy"):
        found.append(k("smooth.energy").no_energy)
    contacts = _contacts(m, d)
    found += [*contacts, *_sleepers(m, contacts), *lcp.all_kernels(m)]
    return list(dict.fromkeys(found))


def _contacts(m, d):
    """Kernels of the collision stage."""
    stage = collision.of(m, d) if m.has_contacts() else None
    if stage is None or not stage.members.some():
        return []
    stage.plan(m, d)
    return [kernel for steps in stage.steps.values() for kernel, _ in steps]


def _solver(m, d):
    """Kernels behind the contacts and rows; those of large islands where the host queues them and there may be some."""
    k = runtime.kernels
    terms, island = k("constraint.contacts"), k("constraint.island")
    by_one = [terms.contact_lists, k("constraint.row").row_lists, island.find_islands]
    if m.features().packed:
        by_one.append(k("constraint.curve").along_curve)
    found = [terms.contact_terms, *(lists.kernels_of(m) if solver.queued() else by_one)]
    found += [] if m.opt.solver == mjtSolver.mjSOL_PGS else solver.island_solvers(m)
    found += [k("solver.abreast").solve_abreast] if solver.side_by_side(m, d) else []
    found += dual.kernels_of(m)
    if solver.queued() and CROWDED * m.ngeom * d.nworld > FORESEEN:
        large, linear = k("solver.all_threads"), k("solver.cg_all")
        found += [large.start_round, large.begin_rounds, large.project, large.search, large.move]
        found += [linear.start_direction, linear.linear_step, k("smooth.integrate").note_bad_acceleration]
    return found


def every_kernel():
    """All Kernels of tisim, with all families of shapes that they are made for, in the running precision."""
    import tisim.kernels

    runtime.ensure()
    families = {
        "collision.narrowphase.narrowphase": [(kinds, ()) for kinds in narrowphase.FAMILIES],
        "collision.collide_convex.convex": [(False, False), (True, False), (False, True), (True, True)],
        "queries.ray.cast_rays": [(types,) for types in rays.FAMILIES],
        "sensor.range.range_values": [(types,) for types in rays.FAMILIES],
        **{f"picture.{name}": [(types,) for types in rays.FAMILIES] for name in ("rays.see", "lamps.lamp")},
        "picture.surface.paint": [
            (types, *rich) for types in rays.FAMILIES for rich in ((False, False), (True, False), (True, True))
        ],
        "picture.shading.see_sky": [(types,) for types in rays.FAMILIES],
        "picture.shading.draw": [(types, textured) for types in rays.FAMILIES for textured in (False, True)],
    }
    found = [runtime.kernel_of(path, *given) for path, all_given in families.items() for given in all_given]
    for file in pkgutil.walk_packages(tisim.kernels.__path__, "tisim.kernels."):
        module = importlib.import_module(file.name)
        own = [n for n, v in vars(module).items() if isinstance(v, Kernel) and v.function.__module__ == file.name]
        found += [getattr(runtime.kernels(file.name.removeprefix("tisim.kernels.")), name) for name in own]
    return found
