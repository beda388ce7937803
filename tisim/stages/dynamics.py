"""Smooth dynamics and integration: which kernels make each stage, for tisim.pipeline."""

import warnings

import numpy as np

from tisim.data import asleep, diverged, owed
from tisim.data.state import reset
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtWarning
from tisim.errors import DivergedWarning
from tisim.model import lcp as second

from . import abreast, faults

# below, waking threads costs more than the bodies (some 100 us against 0.3 us each): for each loop, or once for a step
PARALLEL_BODIES, AWAKE_BODIES = 2000, 600


def parallel(m, d):
    """Whether the scene is worth several threads; a step whose solver wakes a team lets it do the rest, too."""
    if session.arch != "cpu" or _more(m, d, PARALLEL_BODIES):
        return True
    return session.workers > 1 and (_more(m, d, AWAKE_BODIES) or bool(d.exceeds(nlarge=0)))


def _more(m, d, bodies):
    """Whether more bodies than that are awake."""
    return d.nworld * m.nbody > bodies and (not asleep.listed(m) or bool(d.exceeds(nbawake=bodies)))


def pose_kernels(m):
    """Kernels of poses that qpos alone does not give: of trees under the second dynamics."""
    return [runtime.kernels("lcp.trees").tree_poses] if m.features().maximal else []


def fwd_position(m, d):
    """Poses, centres of mass, inertia matrix and its factor: xpos ... qLDiagInv."""
    kin, many = runtime.kernels("smooth.kinematics"), parallel(m, d)
    cameras = [runtime.kernels("sensor.frame").camera_poses] if m.scalar("nseen") else []
    inertias = [] if owed.leaves(m, d) else [inertia_kernel(m, d)]
    kernels = [kin.body_poses, *pose_kernels(m), kin.geom_poses, *inertias, *cameras]
    launch.run(m, d, kernels, many, **abreast.loops(m, d, many))


def inertia_kernel(m, d):
    """The kernel of centres of mass, inertias, M and its factor."""
    if abreast.in_loops(m, d):
        return runtime.kernels("smooth.inertia_abreast").inertia_abreast
    return runtime.kernels("smooth.inertia").tree_inertia


def fwd_velocity(m, d):
    """Body velocities, passive forces, bias force: cvel ... qfrc_bias."""
    if owed.leaves(m, d):
        memory.fill(d.device("qfrc_passive"), 0)  # what forces there were of a model that had some
    elif m.nv:
        kernels = [runtime.kernels("smooth.velocity").tree_velocity]
        if has_medium(m):
            kernels.append(runtime.kernels("smooth.fluid").tree_fluid)
            d._info["medium"] = True
        elif d._info.pop("medium", False):
            d.program.spoil()
            memory.upload(d.device("qfrc_fluid"), np.zeros(d.nworld * m.nv))
        launch.run(m, d, kernels, parallel(m, d))


def has_medium(m):
    """Whether a medium acts on the bodies. 3.4.0: springs and dampers disabled together disable all passive forces."""
    off = m.disabled(mjtDisableBit.mjDSBL_SPRING) and m.disabled(mjtDisableBit.mjDSBL_DAMPER)
    return not off and bool(m.opt.density or m.opt.viscosity)


def fwd_acceleration(m, d):
    """Force and acceleration without constraints: qfrc_smooth, qacc_smooth."""
    if m.nv:
        launch.run(m, d, [acceleration_kernel(m, d)], parallel(m, d))


def acceleration_kernel(m, d):
    """The kernel that makes them."""
    if abreast.in_loops(m, d):
        return runtime.kernels("smooth.abreast").acceleration_abreast
    return runtime.kernels("smooth.velocity").tree_acceleration


def energy(m, d):
    """Potential and kinetic energy of joints and bodies, if the enable bit `energy` is set, else 0."""
    if m.opt.enableflags & mjtEnableBit.mjENBL_ENERGY:
        launch.run(m, d, energy_kernels(m), parallel(m, d))
        d._info["energy"] = True
    elif m.scalar("nenergy"):  # sensors left them there
        launch.run(m, d, [runtime.kernels("smooth.energy").no_energy], parallel(m, d))
    elif d._info.pop("energy", False):
        d.program.spoil()
        memory.upload(d.device("energy"), np.zeros(2 * d.nworld))


def energy_kernels(m):
    """Kernels of d.energy."""
    k = runtime.kernels("smooth.energy")
    springs = [runtime.kernels("tendon.passive").tendon_energy] if m.ntendon and m.scalar("nspringy") else []
    return [k.block_energy, k.world_energy, *springs]


def check_state(m, d):
    """Resets worlds whose qpos or qvel is not finite or beyond mjMAXVAL, and counts the warning.

    On a GPU, collision looks at the answer in the read that it needs (`see_state`), if it follows at once.
    """
    if m.nq:
        launch.run(m, d, [runtime.kernels("smooth.integrate").find_bad_state], parallel(m, d))
        later = session.arch != "cpu" and m.has_contacts() and "collision" in d._info
        if later and not (asleep.listed(m) or second.chosen(m)):
            d._info["state_unseen"] = True
        else:
            _handle_bad(m, d)


def see_state(m, d):
    """Handles a bad state that check_state has left to a later read of the counts; returns whether it was one."""
    if not d._info.pop("state_unseen", False) or not d.exceeds(nbad=0):
        return False
    _handle_bad(m, d)
    return True


def check_acceleration(m, d):
    """The same for qacc; returns True if a world was reset, so that forward() has to run again."""
    if not m.nv or d._info.pop("qacc_seen", False):  # the solver of a GPU has looked, in the read that it needs
        return False
    launch.run(m, d, [runtime.kernels("smooth.integrate").find_bad_acceleration], parallel(m, d))
    return _handle_bad(m, d)


def _tell(m, d, worlds, bad, autoreset):
    """A Python warning for each cause that is new to this Data: which number is bad, of which joint, and when."""
    told, time = d._info.setdefault("told", set()), d.host("world_time")[:, 0]
    for world, places in zip(worlds.tolist(), bad.tolist()):
        k = next(k for k in range(3) if places[k])
        name, size = ("qpos", "qvel", "qacc")[k], (m.nq, m.nv, m.nv)[k]
        if (name, place := size - places[k]) in told:
            continue
        told.add((name, place))
        words = [f"{kind} {word}" for kind, word in zip(("joint", "body"), diverged.words_of(m, name, place))]
        warnings.warn(
            f"{name}[{place}] of {' of '.join(words)} is not finite or too large at time {time[world]:.6g}"
            f"{f' in world {world}' if d.nworld > 1 else ''}: the simulation is unstable"
            f"{', and is reset' if autoreset else ''} (d.warning counts; further ones of this number are not told)",
            DivergedWarning, stacklevel=7 if name == "qacc" else 6,  # the line that calls step
        )  # fmt: skip


def _tell_ctrl(m, d, bad):
    """A Python warning for each control that is not finite or huge and new to this Data; a kernel counts them."""
    told = d._info.setdefault("told", set())
    for place in (m.nu - np.unique(bad[bad > 0])).tolist():
        if ("ctrl", place) not in told:
            told.add(("ctrl", place))
            name = m.id2name("actuator", place) or f"number {place}"
            warnings.warn(
                f"ctrl[{place}] of actuator {name} is not finite or too large: all controls of its world counted as 0 "
                "(d.warning counts; further ones of this actuator are not told)",
                DivergedWarning, stacklevel=8,  # the line that calls step
            )  # fmt: skip


def _lie_down(m, d, trees):
    """What sleeps is left as it is: so what follows from the state of these, world-major trees, follows now."""
    if len(trees):
        awake, n = memory.download(d.device("awake_tree")), d.count("ntawake")
        memory.upload(d.device("awake_tree"), np.append(trees, awake[len(trees) :]).astype(np.int32))
        d.set_counts(ntawake=len(trees))
        fwd_position(m, d)
        fwd_velocity(m, d)
        memory.upload(d.device("awake_tree"), awake)
        d.set_counts(ntawake=n)


def _handle_bad(m, d):
    if not d.some("bad"):
        return False
    d.program.spoil()
    if session.arch != "cpu":
        d.set_counts(nbad=0)
    bad = memory.download(d.device("bad")).reshape(d.nworld, 4)
    memory.upload(d.device("bad"), np.zeros(bad.size, np.int32))
    if bad[:, 3].any():
        _tell_ctrl(m, d, bad[:, 3])
    bad = bad[:, :3]
    if not bad.any():
        return False
    if d.faults != "world":
        _lie_down(m, d, faults.contain(m, d))
        return False
    worlds = np.flatnonzero(bad.any(axis=1))
    autoreset = not m.opt.disableflags & mjtDisableBit.mjDSBL_AUTORESET
    _tell(m, d, worlds, bad[worlds], autoreset)
    if autoreset:
        reset(m, d, worlds)
    warning = memory.download(d.device("warning")).reshape(d.nworld, 2, 8)
    for k, (kind, size) in enumerate(
        ((mjtWarning.mjWARN_BADQPOS, m.nq), (mjtWarning.mjWARN_BADQVEL, m.nv), (mjtWarning.mjWARN_BADQACC, m.nv))
    ):
        hit = worlds[bad[worlds, k] > 0]
        if autoreset and k == 1:
            hit = hit[bad[hit, 0] == 0]  # the reset for qpos already repaired qvel
        warning[hit, 0, kind] += 1
        warning[hit, 1, kind] = size - bad[hit, k]
    memory.upload(d.device("warning"), warning.reshape(-1))
    return autoreset
