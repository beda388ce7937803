"""MuJoCo in a process of its own, driven by lines of JSON: `peer.py` starts it, and it imports nothing of tisim.

    python peer_process.py FOLDER    FOLDER holds the package mujoco, or is "" for the installed one

A request is {"do": name, ...} and the answer one object: what `Engine.<name>` returns, or {"error": text}.
"""

import json
import os
import sys
import time

import numpy as np

SOLVERS = ("CG", "Newton", "PGS")
PROBES, PROBED = 50, 1.0  # steps from the same state by which a solver is judged, at most; time after which no more [s]
SAME = 1e-6  # by which rows of the same problem may differ, of D relative, of aref in its largest
STATE = """qpos qvel act qacc_warmstart ctrl qfrc_applied xfrc_applied eq_active mocap_pos mocap_quat
userdata""".split()


def objective(mujoco, m, d):
    """Cost and scaled gradient norm as functions of qacc, for the problem of an MjData after mj_forward.

    1/2 (x - qacc_smooth)' M (x - qacc_smooth) + s(Jx - aref), where MuJoCo itself gives M, J, s and the forces
    -ds: seed 000, "Constraint model". The gradient is scaled as the solvers' tolerance is.
    """
    smooth, aref = d.qacc_smooth.copy(), d.efc_aref.copy()
    scale = 1 / (m.stat.meaninertia * max(1, m.nv))

    def evaluate(x):
        x = np.asarray(x, float)
        force, residual, cost, back = np.zeros(m.nv), np.zeros(d.nefc), np.zeros(1), np.zeros(m.nv)
        mujoco.mj_mulM(m, d, force, x - smooth)
        if d.nefc:
            mujoco.mj_mulJacVec(m, d, residual, x)
            mujoco.mj_constraintUpdate(m, d, residual - aref, cost, 0)
            mujoco.mj_mulJacTVec(m, d, back, d.efc_force.copy())
        return float(cost[0] + 0.5 * (x - smooth) @ force), float(scale * np.linalg.norm(force - back))

    return evaluate


def rows_differ(d, other):
    """How the problem of an MjData after mj_forward differs from another's, whose rows (type, D, aref) are given.

    dict(same; rows: those of other type, D or aref, None where their numbers differ; aref: the largest difference).
    """
    if d.nefc != len(other["type"]):
        return dict(same=False, rows=None, aref=None)
    away = np.abs(d.efc_aref - other["aref"])
    scale = np.max(np.abs(d.efc_aref), initial=1.0)
    far = (d.efc_type != other["type"]) | (np.abs(d.efc_D - other["D"]) > SAME * d.efc_D) | (away > SAME * scale)
    return dict(same=not far.any(), rows=int(far.sum()), aref=float(np.max(away, initial=0.0)))


def set_state(d, state):
    """Writes the parts of a saved state that this MjData has."""
    d.time = float(state["time"])
    for name in STATE:
        if name in state and getattr(d, name).size:
            getattr(d, name)[...] = np.reshape(state[name], getattr(d, name).shape)


class Engine:
    """What can be asked for."""

    def __init__(self, mujoco):
        self.mujoco = mujoco

    def load(self, path, state):
        """Model of a file, and the state (.npz) from which all else begins."""
        self.m = self.mujoco.MjModel.from_xml_path(path)
        self.d, self.state = self.mujoco.MjData(self.m), dict(np.load(state))
        if len(self.state["qpos"]) != self.m.nq:
            raise ValueError(f"this model has {self.m.nq} numbers in qpos, tisim's {len(self.state['qpos'])}")
        return dict(version=self.mujoco.__version__)

    def begin(self, solver):
        """The state again, with this solver."""
        self.m.opt.solver = getattr(self.mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
        self.mujoco.mj_resetData(self.m, self.d)
        set_state(self.d, self.state)
        return dict(version=self.mujoco.__version__)

    def probe(self, solver, limit, out):
        """Objective and gradient of a solver's solution at the state, which goes to a file, and its time of a step."""
        self.begin(solver)
        began = time.perf_counter()
        self.mujoco.mj_forward(self.m, self.d)
        iterations, qacc = int(np.max(self.d.solver_niter, initial=0)), self.d.qacc.copy()
        contacts, rows = int(self.d.ncon), int(self.d.nefc)
        cost, gradient = objective(self.mujoco, self.m, self.d)(qacc)
        np.save(out, qacc)
        np.savez(os.path.splitext(out)[0] + ".rows", type=self.d.efc_type, D=self.d.efc_D, aref=self.d.efc_aref)
        times = []
        while len(times) < PROBES and (not times or time.perf_counter() - began < min(PROBED, 0.5 * limit)):
            self.begin(solver)
            times.append(self.step(1)["ms"])
        return dict(solver=solver, ms=float(np.median(times)), cost=cost, gradient=gradient, contacts=contacts,
                    rows=rows, iterations=iterations)  # fmt: skip

    def judge(self, solver, solutions, rows):
        """Objective and gradient of others' solutions (.npy) at the state, and those of this solver's own.

        rows  file of the rows of another MuJoCo's problem at the state, which is compared with this one.
        """
        self.begin(solver)
        self.mujoco.mj_forward(self.m, self.d)
        differ = rows_differ(self.d, np.load(rows))
        own, evaluate = self.d.qacc.copy(), objective(self.mujoco, self.m, self.d)
        cost, gradient = evaluate(own)
        slack = self.m.opt.tolerance * self.m.stat.meaninertia * max(1, self.m.nv)  # where its solvers stop
        return dict(
            version=self.mujoco.__version__, solver=solver, cost=cost, gradient=gradient, slack=slack, differ=differ,
            contacts=int(self.d.ncon), rows=int(self.d.nefc), iterations=int(np.max(self.d.solver_niter, initial=0)),
            solutions=[evaluate(np.load(path)) for path in solutions],
        )  # fmt: skip

    def step(self, n):
        """So many steps; the time of one [ms]."""
        began = time.perf_counter()
        self.mujoco.mj_step(self.m, self.d, n)
        return dict(ms=1e3 * (time.perf_counter() - began) / n)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what MuJoCo prints is no answer
    folder = sys.argv[1]
    sys.path[0:1] = [folder] if folder else []  # and the folder of this file is nowhere to import from
    engine = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if engine is None:
                import mujoco

                engine = Engine(mujoco)
            found = getattr(engine, request.pop("do"))(**request)
        except Exception as e:
            found = dict(error=f"{type(e).__name__}: {e}")
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
