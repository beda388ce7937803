"""MuJoCo beside tisim: the newest one there is, in a process of its own, and which of its solvers is best."""

import contextlib
import importlib.metadata
import json
import os
import pathlib
import selectors
import subprocess
import sys
import tempfile
import time

import numpy as np

from tisim.errors import Error

from . import peer_process

NEWEST = "4.0.0"
REFERENCE = "3.4.0"  # whose physics tisim reproduces
EQUAL = 1e-6  # relative excess of the objective up to which a faster solver of MuJoCo is as good as another
SLACK = 1e-8  # the same of tisim against MuJoCo, beside the improvement at which its solvers stop


def install_line(folder):
    """The command that installs the newest MuJoCo into a folder."""
    return f"{sys.executable} -m pip install --no-deps --target {folder} mujoco=={NEWEST} mujoco-core=={NEWEST}"


def _number(version):
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def installed():
    """Version of the MuJoCo that Python finds by itself, None if there is none."""
    try:
        return importlib.metadata.version("mujoco")
    except importlib.metadata.PackageNotFoundError:
        return None


def in_folder(folder):
    """Version of the MuJoCo in a folder of packages, None if there is none."""
    found = sorted(pathlib.Path(folder).glob("mujoco-*.dist-info"))
    there = found and (pathlib.Path(folder) / "mujoco").is_dir()
    return found[-1].name[len("mujoco-") : -len(".dist-info")] if there else None


def find(folder):
    """(folder, or "" for the installed one; version) of the newest MuJoCo. Raises Error where there is none.

    folder  where to look besides; None: `.peers` here, if it is there.
    """
    theirs, ours = in_folder(folder or ".peers"), installed()
    if folder and theirs is None:
        raise Error(f"--peer {folder}: no MuJoCo is there; install it by: {install_line(folder)}")
    if theirs is None and ours is None:
        raise Error(f"there is no MuJoCo to compare with; install it by: {install_line('.peers')}")
    if ours is None or (theirs and _number(theirs) > _number(ours)):
        return os.path.abspath(folder or ".peers"), theirs
    return "", ours


class Slow(Exception):
    """An answer did not come in time."""


class Peer:
    """A process of MuJoCo, see peer_process.py. given: what it is started with again after an answer was too slow.

    stopped  a function that says whether the user has had enough; then a request ends in KeyboardInterrupt.
    """

    def __init__(self, folder, path, state, stopped=lambda: False):
        self.folder, self.given, self.stopped, self.process = folder, dict(path=path, state=state), stopped, None

    def _start(self):
        command = [sys.executable, peer_process.__file__, self.folder]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            cwd=os.path.dirname(self.given["state"]),  # MuJoCo writes its log there
        )  # fmt: skip
        self.ask("load", None, **self.given)

    def ask(self, do, within=None, **what):
        """The answer to a request. Raises Slow after `within` seconds, and Error for what MuJoCo refuses."""
        if self.process is None:
            self._start()
        try:
            self.process.stdin.write(json.dumps(dict(do=do, **what)) + "\n")
            self.process.stdin.flush()
            self._wait(within)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            raise Error(f"MuJoCo's process ended while it did `{do}`")
        answer = json.loads(line)
        if "error" in answer:
            raise Error(f"MuJoCo: {answer['error']}")
        return answer

    def _wait(self, within):
        until = np.inf if within is None else time.monotonic() + within
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not selector.select(0.2):
                if self.stopped() or time.monotonic() > until:
                    self.close()
                    if self.stopped():
                        raise KeyboardInterrupt
                    raise Slow

    def close(self):
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


@contextlib.contextmanager
def beside(m, d, text, folder, stopped):
    """(Peer of the newest MuJoCo, Peer that judges, a temporary folder) for the model and state of tisim.

    text  MJCF text of the model, or the path of its file.
    """
    with tempfile.TemporaryDirectory(prefix="tisim-") as place:
        path, state = os.path.join(place, "model.xml"), os.path.join(place, "state.npz")
        if isinstance(text, pathlib.Path):
            path = str(text.resolve())
        else:
            pathlib.Path(path).write_text(text, encoding="utf-8")
        parts = {name: d.host(name)[0] for name in peer_process.STATE if getattr(m, _SIZES.get(name, "nq"))}
        np.savez(state, time=d.time, **parts)
        newest, version = find(folder)
        judge = "" if installed() == REFERENCE else newest
        peers = Peer(newest, path, state, stopped), Peer(judge, path, state, stopped)
        try:
            yield *peers, place
        finally:
            for p in peers:
                p.close()


_SIZES = dict(act="na", ctrl="nu", eq_active="neq", mocap_pos="nmocap", mocap_quat="nmocap", userdata="nuserdata")


def choose(peer, place, limit, tell=lambda solver: None):
    """[answers to `probe`] of MuJoCo's solvers, the best one first; those that took longer than `limit` s have no ms.

    The best one is the fastest of those whose objective is, but for EQUAL, the least.
    """
    found, slow = [], []
    for solver in peer_process.SOLVERS:
        tell(solver)
        try:
            found.append(peer.ask("probe", limit, solver=solver, limit=limit, out=os.path.join(place, f"{solver}.npy")))
        except Slow:
            slow.append(dict(solver=solver, ms=None, limit=limit))
    if not found:
        raise Error(f"no solver of MuJoCo takes a step within {limit:g} s; --limit gives it more time")
    least = min(f["cost"] for f in found)
    good = [f for f in found if f["cost"] <= least + EQUAL * abs(least)]
    rest = [f for f in found if f not in good]
    return sorted(good, key=lambda f: f["ms"]) + sorted(rest, key=lambda f: f["cost"]) + slow


def judged(judge, place, solutions, best):
    """What the judge says of solutions (.npy) and of that of MuJoCo's best solver, the last one."""
    theirs = os.path.join(place, best["solver"])
    return judge.ask(
        "judge", None, solver=best["solver"], solutions=[*solutions, f"{theirs}.npy"], rows=f"{theirs}.rows.npz"
    )


def how_it_differs(said, best):
    """Words on the problem of MuJoCo's best solver where it is not the judge's."""
    differ = said["differ"]
    if differ["rows"] is None:
        return f"{best['contacts']} contacts and {best['rows']} rows instead of {said['contacts']} and {said['rows']}"
    return f"{differ['rows']} of whose {best['rows']} rows differ, efc_aref by up to {differ['aref']:.3g}"


def judge(peers, place, qacc, contacts, best):
    """What the judge says of tisim's solution and, where both MuJoCo's have the same problem, of MuJoCo's."""
    ours = os.path.join(place, "tisim.npy")
    np.save(ours, qacc)
    said = judged(peers[1], place, [ours], best)
    (cost, gradient), (peer_cost, peer_gradient) = said.pop("solutions")
    same = said["differ"]["same"]
    found = dict(
        judge=said, tisim=dict(cost=cost, gradient=gradient, contacts=contacts),
        mujoco=dict(cost=peer_cost if same else None, gradient=peer_gradient if same else None,
                    own_cost=best["cost"], own_gradient=best["gradient"], contacts=best["contacts"]),
    )  # fmt: skip
    least = min([said["cost"]] + ([peer_cost] if same else []))
    found["equal"] = contacts == said["contacts"] and cost <= least + SLACK * abs(least) + said["slack"]
    return found
