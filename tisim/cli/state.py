"""The file of a state: what `tisim run` writes, and `--from` reads in run, render, view and bench.

A NumPy .npz with these arrays:

    format   "tisim state 1"
    model    a hash of the model's structure: counts, tree, joints, shapes and names; a state fits where it is equal
    scene    name of the scene or file
    nworld   number of worlds
    state    (nworld, size) f64, what tisim.get_state(m, d) gives: time, qpos, qvel, act, qacc_warmstart, controls,
             applied forces, mocap poses; all that the next step depends on, so that it goes on to the same bits
    time, qpos, qvel, act, qacc_warmstart, xpos, xquat    the same and the poses of bodies, for other programs;
             with a leading axis of worlds if there are several

In Python: `tisim.set_state(m, d, np.load("state.npz")["state"])`.
"""

import hashlib
import pathlib
import zipfile

import numpy as np

from tisim.errors import Error

FORMAT = "tisim state 1"
COUNTS = "nq nv na nu nbody njnt ngeom nmocap neq nuserdata".split()
STRUCTURE = "body_parentid body_mocapid jnt_type jnt_bodyid geom_type geom_bodyid geom_dataid".split()


def model_hash(m):
    """Hash of the structure of a model: what a state must fit. Masses, friction and options may change."""
    h = hashlib.sha256(repr([int(getattr(m, c)) for c in COUNTS]).encode())
    for name in STRUCTURE:
        h.update(np.ascontiguousarray(getattr(m, name), np.int64).tobytes())
    h.update(np.ascontiguousarray(m.geom_size, np.float32).tobytes())
    for kind, number in (("body", m.nbody), ("joint", m.njnt)):
        h.update("\n".join(m.id2name(kind, k) for k in range(number)).encode())
    return h.hexdigest()[:16]


def save(path, m, d, name, state):
    """Writes a state, as tisim.get_state gave it, with the poses of bodies that are in the Data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {k: np.asarray(getattr(d, k)) for k in ("qpos", "qvel", "act", "xpos", "xquat")}
    at = 1 + m.nq + m.nv + m.na  # behind time, qpos, qvel and act
    np.savez(path, format=FORMAT, model=model_hash(m), scene=name, nworld=d.nworld, state=np.atleast_2d(state),
             time=np.asarray(d.time), qacc_warmstart=state[..., at : at + m.nv], **arrays)  # fmt: skip


def read(path, m):
    """The states (nworld, size) in a file. Raises Error for what is no file of a state or one of another model."""
    if not pathlib.Path(path).is_file():
        raise Error(f"--from {path}: no such file")
    try:
        with np.load(path, allow_pickle=False) as saved:
            values = {k: saved[k] for k in ("format", "model", "scene", "state") if k in saved}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        values = {}
    if str(values.get("format")) != FORMAT or len(values) != 4:
        raise Error(f"--from {path}: this is no state that tisim saved (expected an .npz with format={FORMAT!r})")
    if str(values["model"]) != model_hash(m):
        raise Error(
            f"--from {path}: a state of another model ({values['scene']}): bodies, joints or "
            "shapes differ; a scene needs the --n and --param of that run"
        )
    state = values["state"]
    if state.ndim != 2 or state.dtype != np.float64 or not len(state) or not np.isfinite(state).all():
        raise Error(f"--from {path}: the state is damaged")
    return state
