"""Every enum of tisim has the members and the numbers of MuJoCo 3.4.0's enum of the same name."""

import enum

import mujoco
import pytest

from tisim import enums

OURS = [
    e for e in vars(enums).values() if isinstance(e, type) and issubclass(e, enum.IntEnum) and e is not enum.IntEnum
]


@pytest.mark.parametrize("ours", OURS, ids=lambda e: e.__name__)
def test_members_and_values(ours):
    theirs = getattr(mujoco, ours.__name__)
    assert {k: int(v) for k, v in ours.__members__.items()} == {k: int(v) for k, v in theirs.__members__.items()}


def test_the_enums_of_the_interface_are_there():
    names = {e.__name__ for e in OURS}
    assert {
        "mjtGeom",
        "mjtJoint",
        "mjtIntegrator",
        "mjtCone",
        "mjtSolver",
        "mjtDisableBit",
        "mjtEnableBit",
        "mjtState",
    } <= names
    assert {"mjtConstraint", "mjtConstraintState", "mjtWarning", "mjtObj", "mjtSleepPolicy", "mjtSleepState"} <= names
