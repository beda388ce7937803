"""`--from` goes on from what `tisim run` saved, to the bits of a run without a stop; the file holds what its
description lists, and a state of another model, or what is none, is refused by one line."""

import json
import re

import numpy as np
import pytest

import tisim
from tisim.cli import state

PILE = ("run", "pile", "--n", "9", "--arch", "cpu", "--no-picture", "--json")
SWINGING = ("run", "bridge", "--n", "8", "--dynamics", "lcp", "--arch", "cpu", "--no-picture", "--json")


@pytest.mark.parametrize("worlds", [1, 2])
def test_a_run_in_two_parts_is_the_run_in_one(call, worlds):
    timestep = 0.005
    whole = json.loads(call(*PILE, "--steps", 60, "--nworld", worlds, "-o", "whole")[1])
    call(*PILE, "--steps", 25, "--nworld", worlds, "-o", "part")
    rest = json.loads(call(*PILE, "--from", "part/state.npz", "--time", 60 * timestep, "-o", "part")[1])
    assert rest["steps"] == 35 and rest["nworld"] == worlds and np.isclose(rest["time"], 60 * timestep)
    assert rest["state_hash"] == whole["state_hash"]
    both = [np.load(f"{folder}/state.npz") for folder in ("whole", "part")]
    assert (both[0]["state"] == both[1]["state"]).all()


def test_joints_and_welds_of_the_second_dynamics_go_on_as_they_were(call):
    whole = json.loads(call(*SWINGING, "--steps", 60, "-o", "whole")[1])
    call(*SWINGING, "--steps", 25, "-o", "part")
    time = 60 * tisim.Model.from_scene("bridge", n=8).opt.timestep
    rest = json.loads(call(*SWINGING, "--from", "part/state.npz", "--time", time, "-o", "part")[1])
    assert rest["steps"] == 35 and rest["state_hash"] == whole["state_hash"]


def test_python_and_the_command_line_take_the_same_steps(call):
    found = json.loads(call(*PILE, "--steps", 30, "-o", "out")[1])
    m = tisim.Model.from_scene("pile", n=9)
    d = tisim.Data(m)
    tisim.step(m, d, 30)
    saved = np.load("out/state.npz")
    assert (saved["state"] == tisim.get_state(m, d)).all() and (saved["qpos"] == np.asarray(d.qpos)).all()
    assert found["steps"] == 30
    other = tisim.Data(m)
    tisim.set_state(m, other, saved["state"])
    assert (np.asarray(other.qvel) == np.asarray(d.qvel)).all()


def test_the_file_is_as_described(call):
    call(*PILE, "--steps", 2, "--sleep", "-o", "out")
    arrays = state.__doc__.split("these arrays:")[1].split("In Python")[0]
    named = {n for line in re.findall(r"^    (\w[\w, ]*?)  +", arrays, re.M) for n in re.split(", *", line.strip())}
    saved = np.load("out/state.npz")
    call(*SWINGING, "--steps", 2, "--sleep", "-o", "hard")
    assert {*saved.files, *np.load("hard/state.npz").files} == named
    assert saved["state"].shape == (1, tisim.get_state(*_data()).size) and saved["xpos"].shape == (10, 3)
    at = 1 + saved["qpos"].size + saved["qvel"].size
    assert (saved["state"][0, at : at + saved["qvel"].size] == saved["qacc_warmstart"]).all()


def _data():
    m = tisim.Model.from_scene("pile", n=9)
    return m, tisim.Data(m)


def test_one_world_serves_many(call):
    call(*PILE, "--steps", 5, "-o", "out")
    found = json.loads(call(*PILE, "--from", "out/state.npz", "--nworld", 3, "--steps", 5, "-o", "more")[1])
    assert found["nworld"] == 3
    states = np.load("more/state.npz")["state"]
    assert states.shape[0] == 3 and (states == states[0]).all()


def test_what_does_not_fit_is_refused(call):
    call(*PILE, "--steps", 2, "--nworld", 2, "-o", "out")
    whole = dict(np.load("out/state.npz"))
    np.savez("cut.npz", **{**whole, "state": whole["state"][:, :-1]})
    np.savez("nan.npz", **{**whole, "state": whole["state"] * np.nan})
    np.savez("plain.npz", a=1)
    with open("text.npz", "w") as file:
        file.write("no zip")
    for argv, words in (
        (("pile", "--n", 12, "--from", "out/state.npz"), "the --n and --param of that run"),
        (("dominos", "--from", "out/state.npz"), "a state of another model (pile)"),
        (("pile", "--n", 9, "-p", "shape=box", "--from", "out/state.npz"), "a state of another model (pile)"),
        (("pile", "--n", 9, "--from", "out/state.npz", "--nworld", 3), "holds 2 worlds"),
        (("pile", "--n", 9, "--from", "out/state.npz", "--time", 0), "positive"),
        (("pile", "--n", 9, "--from", "out/state.npz", "--time", 0.001), "at 0.010 s already"),
        (("pile", "--n", 9, "--from", "cut.npz"), "expected"),
        (("pile", "--n", 9, "--from", "nan.npz"), "damaged"),
        (("pile", "--n", 9, "--from", "plain.npz"), "no state that tisim saved"),
        (("pile", "--n", 9, "--from", "text.npz"), "no state that tisim saved"),
        (("pile", "--n", 9, "--from", "gone.npz"), "no such file"),
    ):
        code, _, err = call("run", *argv, "--arch", "cpu", "--no-picture")
        assert code == 2 and words in err and len(err.strip().splitlines()) == 1, (argv, err)


@pytest.mark.parametrize("options", [PILE, SWINGING], ids=["convex", "lcp"])
def test_damage_anywhere_in_the_directory_is_told(call, options):
    call(*options, "--steps", 2, "-o", "out")
    m = tisim.Model.from_scene(options[1], n=int(options[3]))
    m.opt.dynamics = "lcp" if options is SWINGING else "convex"
    d = tisim.Data(m)
    whole = open("out/state.npz", "rb").read()
    told = set()
    for at in range(whole.index(b"PK\x01\x02"), len(whole)):
        with open("damaged.npz", "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        state.is_state("damaged.npz")
        for look in (lambda: state.read("damaged.npz", m), lambda: state.give_impulses("damaged.npz", d)):
            try:
                look()
            except tisim.Error as e:
                told.add(str(e))
    assert any("no state that tisim saved" in e for e in told)
