"""A program's own threads may each have Data, rollouts and environments: they get the bits they would get alone.

Contract: Taichi is started by one of them, kernels are looked at and compiled by one at a time, and blocks of worlds
that are one thread's, whose temporaries belong to the whole process, are stepped by one at a time.
"""

import subprocess
import sys
import threading
import time

import pytest

import tisim
from tisim.device import flow, hands, session

THREADS = """
import threading
import numpy as np
import tisim
from tisim import rollout, scenes
from tisim.device import session

tisim.device.runtime.team.most = lambda *_: 2  # two threads, whatever the machine has
found = {}

def work(k):
    m = tisim.Model.from_xml_string(scenes.build("pile", n=12))
    d = tisim.Data(m)
    tisim.step(m, d, 100)
    state = tisim.get_state(m, d, tisim.mjtState.mjSTATE_FULLPHYSICS)
    states, _ = rollout.rollout(m, None, np.tile(state, (16, 1)), nstep=40)
    found[k] = states.tobytes()

threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert session.workers == 2
work("alone")
assert len(found) == 5 and len(set(found.values())) == 1
"""


def at_the_same_time(*works):
    """Calls functions in threads; returns what each returned or raised."""
    found = {}

    def call(k, work):
        try:
            found[k] = work()
        except Exception as e:
            found[k] = e

    threads = [threading.Thread(target=call, args=item) for item in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [found[k] for k in range(len(works))]


def test_threads_that_begin_at_once_get_the_same_bits():
    """Once they ended the process: Taichi was started twice, and blocks shared the memory between tasks of a kernel."""
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_function_that_two_threads_look_at_does_not_call_itself(monkeypatch):
    def function(m, d):
        pass

    walk = flow._Walk

    def slowly(*args):
        time.sleep(0.2)
        return walk(*args)

    monkeypatch.setattr(flow, "_Walk", slowly)
    a, b = at_the_same_time(*2 * [lambda: flow.flow(function)])
    assert isinstance(a, flow.Flow) and a is b


@pytest.mark.parametrize("alone", [True, False])
def test_blocks_of_two_threads_are_not_stepped_at_the_same_time(monkeypatch, alone):
    tisim.init()
    monkeypatch.setattr(hands, "number", lambda: 2)
    monkeypatch.setattr(session, "workers", 2)
    inside, most = [], []

    def job(who):
        with hands.aside():
            inside.append(who)
            most.append(len({*inside}))
            time.sleep(0.1)
            inside.remove(who)
        return who

    def blocks():
        return hands.at_once(2 * [lambda: job("blocks")])

    found = at_the_same_time(blocks, (lambda: job("one")) if alone else lambda: hands.at_once(2 * [lambda: job("two")]))
    assert found == [["blocks", "blocks"], "one" if alone else ["two", "two"]]
    assert max(most) == 1, most
