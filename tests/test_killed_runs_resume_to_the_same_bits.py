"""A run that saves on its way is killed at any moment; --resume goes on to the bits of a run without interruption."""

import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

RUN = ("run", "pyramids", "--n", "12", "--sleep", "--steps", "2000", "--no-picture", "--json")
SAVE = ("--save-every", "0.05", "--resume", "-o", "part")


def hash_of(out):
    return json.loads(out)["state_hash"]


def killed(folder, delay):
    """Starts or goes on with the run, kills it after a delay [s]; its output if it was over by then, else None."""
    run = subprocess.Popen([sys.executable, "-m", "tisim", *RUN, *SAVE], cwd=folder, stdout=subprocess.PIPE)
    try:
        out, _ = run.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGKILL)
        run.communicate()
        return None
    assert run.returncode == 0
    return out


def interrupted(call, folder, kills, seed):
    """Hash of the run without interruption, and of those that were killed so often in all, one behind the other."""
    whole, chance, found, done = hash_of(call(*RUN, "-o", "whole")[1]), random.Random(seed), [], 0
    began = time.monotonic()
    out = killed(folder, 600)
    length = time.monotonic() - began
    found.append(hash_of(out))
    state = folder / "part" / "state.npz"
    state.unlink()
    while done < kills or not found[1:]:
        fresh, began = not state.exists(), time.monotonic()
        out = killed(folder, chance.uniform(0.3, 1.0) * length if done < kills else 600)
        if out is None:
            done += 1
            assert not state.exists() or np.load(state)["state"].shape[0] == 1, "never half a file"
        else:
            if fresh:  # if others had the processors while `length` was measured, no kill would come in time
                length = min(length, time.monotonic() - began)
            found.append(hash_of(out))
            state.unlink()
    return whole, found


def test_a_killed_run_resumes_to_the_same_bits(call, tmp_path):
    whole, found = interrupted(call, tmp_path, 4, 1)
    assert len(found) >= 2 and set(found) == {whole}


@pytest.mark.slow
def test_a_hundred_kills(call, tmp_path):
    whole, found = interrupted(call, tmp_path, 100, 2)
    assert len(found) >= 2 and set(found) == {whole}


def test_resuming_takes_what_is_left(call):
    call(*RUN[:-4], "--steps", 50, "--no-picture", "--json", "-o", "part")
    found = json.loads(call(*RUN[:-4], "--steps", 80, "--no-picture", "--json", "--resume", "-o", "part")[1])
    assert found["steps"] == 30 and found["time"] == pytest.approx(80 * found["timestep"])
    again = json.loads(call(*RUN[:-4], "--steps", 80, "--no-picture", "--json", "--resume", "-o", "part")[1])
    assert again["steps"] == 0 and again["state_hash"] == found["state_hash"]
    new = json.loads(call(*RUN[:-4], "--steps", 80, "--no-picture", "--json", "--resume", "-o", "new")[1])
    assert new["steps"] == 80 and new["state_hash"] == found["state_hash"]
    code, _, err = call(*RUN, "--resume", "--from", "part/state.npz")
    assert code == 2 and "exclude each other" in err
