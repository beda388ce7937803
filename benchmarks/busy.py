"""What a settled step costs beside a busy neighbour on each processor: by one thread and by all, in turn.

`python benchmarks/pile.py --busy` runs it. Two processes hold the same state, one with one thread, the other with as
many as there are processors; they take steps in turn, first alone, then with a process that spins on each processor.
"""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PILE = pathlib.Path(__file__).resolve().parent / "pile.py"
SPIN = """import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
parent = os.getppid()
while os.getppid() == parent:
    pass"""
TURNS, STEPS = 24, 5  # of each process, with and without neighbours: more than a team rests; steps in a turn
BAR = 1.3  # how many times the time of one thread all may take


def stepper(m, d, step, sync):
    """Steps as often as each line of the input says, and prints how many milliseconds one took and the hash."""
    from tisim.data.digest import state_hash

    step(m, d, 2)
    print("ready", flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        step(m, d, int(line))
        sync()
        print(json.dumps([1e3 * (time.perf_counter() - begin) / int(line), state_hash(d)]), flush=True)


@contextlib.contextmanager
def neighbours():
    """A process that spins on each processor."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN, str(p)]) for p in sorted(os.sched_getaffinity(0))]
    try:
        time.sleep(1)
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def ask(process, steps):
    """Milliseconds of one of so many steps, and the hash behind them."""
    process.stdin.write(f"{steps}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def turns(processes):
    """Means of a step of each process, in turn, so that the worst counts, too; all have the same bits."""
    times = [[] for _ in processes]
    for _ in range(TURNS):
        found = [ask(p, STEPS) for p in processes]
        if len({digest for _, digest in found}) > 1:
            sys.exit(f"one thread and many do not have the same bits: {found}")
        for t, (ms, _) in zip(times, found):
            t.append(ms)
    return [statistics.mean(t) for t in times]


def measure(n, args, settled):
    """Figures of a pile: milliseconds of a step by one and by all threads, alone and beside neighbours.

    settled  writes the settled state to a file.
    """
    number = args.threads or len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.npz")
        settled(n, path)
        command = [sys.executable, str(PILE), "--cone", args.cone, "--alone", "stepper", str(n), path, "--threads"]
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes = []
        try:
            for k in (1, number):  # one after the other: a team that meets a neighbour rests for a while
                processes.append(subprocess.Popen([*command, str(k)], **pipes))
                while processes[-1].stdout.readline().strip() != "ready":
                    if processes[-1].poll() is not None:
                        sys.exit("a process that steps ended early")
            alone = turns(processes)
            with neighbours():
                busy = turns(processes)
        finally:
            for p in processes:
                p.kill()
                p.wait()
    return dict(n=n, threads=number, alone=alone, busy=busy, ratio=busy[1] / busy[0], ok=busy[1] <= BAR * busy[0])


def show(f):
    (one, many), (one_busy, many_busy) = f["alone"], f["busy"]
    print(f"{f['n']:6d} bodies, ms of a step by 1 and {f['threads']} threads: alone {one:.2f} and {many:.2f}, beside "
          f"busy neighbours {one_busy:.2f} and {many_busy:.2f}, {f['ratio']:.2f} times (bar {BAR})",
          flush=True)  # fmt: skip
