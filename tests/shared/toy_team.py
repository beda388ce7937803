"""The smallest kernels for workers: one with a team, which takes a list piece by piece, or shares it, exchanges it at
barriers and adds it in blocks, and one with two loops, of which the second reads what others wrote in the first."""

import numpy as np

import tisim
from tisim.device import launch, runtime, team

N, BLOCK = 1000, 8


def _kernel():
    global HAND, SERIAL  # a variant of a kernel has its own, which are found among globals
    runtime.ensure()
    from tisim.kernels.team import come, join, meet, open_team, second_half, share, take_near, take_part, total
    from tisim.kernels.types import HAND, SERIAL, ti

    from tisim.device.bundle import func
    from tisim.device.variant import kernel

    @func
    def exchange(m, d, b, n):
        s = 0.0
        for i in range(BLOCK * b, BLOCK * b + BLOCK):
            d.qacc[i] = d.qvel[(i + 1) % n]  # of another worker, for some
            s += d.qacc[i]
            d.qfrc_applied[i] = d.qfrc_applied[i] + 1.0  # once a round
        d.tree_sum[b] = s  # exact: whole numbers

    @func
    def work(m, d, hand, n, rounds):
        come(m, d)
        piece = take_near(m, d, hand, n)
        while piece < n:
            d.qvel[piece] = piece
            piece = take_near(m, d, hand, n)
        me, size = join(m, d, d.nworker)
        if size > 0:
            blocks = n // BLOCK
            begin, end = share(blocks, me, size)
            for r in range(rounds):
                meet(m, d, me, size)
                for b in range(begin, second_half(blocks, me, size)[0]):
                    exchange(m, d, b, n)
                b = take_part(m, d, me, size, r % 3, blocks)
                while b < blocks:
                    exchange(m, d, b, n)
                    b = take_part(m, d, me, size, r % 3, blocks)
                meet(m, d, me, size)
                s = total(0, blocks, d.tree_sum)
                for i in range(BLOCK * begin, BLOCK * end):
                    d.qvel[i] = d.qacc[i] + (s - n * (n - 1) // 2)
                if not s - s == 0.0:
                    break

    @kernel
    def toy(m, d, niter: ti.i32):
        units, n = d.nhand * HAND, d.nbox
        ti.loop_config(serialize=True)
        for _ in range(1):
            open_team(m, d)
        ti.loop_config(serialize=SERIAL)
        for unit in range(units):
            if unit % HAND == 0:
                work(m, d, unit // HAND, n, niter)

    return toy


def run(m, d, hands, workers, rounds, parallel=True, patience=30000):
    """Runs it and looks at what came out: the numbers 0 ... n - 1, moved on by one in each round. Returns the size of
    the team."""
    toy = _kernels.get(runtime.session.generation) or _kernels.setdefault(runtime.session.generation, _kernel())
    n = min(m.nv, d.device("tree_sum").host.size) // BLOCK * BLOCK
    d.qvel[:] = 0
    d.qfrc_applied[:] = 0
    launch.run(m, d, [toy], parallel, nhand=hands, nworker=workers, nbox=n, niter=rounds, patience=patience)
    got, size = np.asarray(d.qvel)[:n].copy(), int(d.host("team").reshape(-1)[team.LINE])
    times = np.asarray(d.qfrc_applied)[:n].copy()
    tisim.reset(m, d)
    if workers:
        assert (got == (np.arange(n) + rounds) % n).all()
        assert (times == rounds).all()
    return size


def _loops():
    global SERIAL
    runtime.ensure()
    from tisim.kernels.types import SERIAL, ti

    from tisim.device.variant import kernel

    @kernel
    def loops(m, d):
        n = d.nbox
        ti.loop_config(serialize=SERIAL)
        for i in range(n):
            d.qvel[i] = d.qvel[i] + 1.0
        ti.loop_config(serialize=SERIAL)
        for i in range(n):
            d.qacc[i] = d.qacc[i] + d.qvel[n - 1 - i]

    return loops


def run_loops(m, d, times):
    """Runs the other one so often in one launch; whether each round of each loop was done once, and all of the first
    before the second."""
    key = runtime.session.generation, "loops"
    loops = _kernels.get(key) or _kernels.setdefault(key, _loops())
    speed, force = (d.device(name).host.reshape(-1) for name in ("qvel", "qacc"))
    speed[:] = force[:] = 0
    launch.run(m, d, [loops] * times, True, nbox=len(speed))
    ok = (speed == times).all() and (force == times * (times + 1) // 2).all()
    tisim.reset(m, d)
    return bool(ok)


_kernels = {}
