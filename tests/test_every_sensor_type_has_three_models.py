"""Each sensor type of MuJoCo 3.4.0 but plugins is compared with it in three models or more; tendons and muscles in 40.

Contract: the models of the tests named below, counted by what MuJoCo finds in them. A type that has fewer fails here.
"""

import itertools

import mujoco
import pytest
from shared.rooms import ROOMS
from shared.sensors import WORLDS, world
from shared.touching import RULES, SCENES, contact_sensors
from test_actuators_equal_mujocos import (
    DYNAMICS,
    EMPTY,
    OTHERS,
    SHORTCUTS,
    TRANSMISSIONS,
    WORLD,
    activations,
    shortcuts,
)
from test_compiled_model_equals_mujoco import FILES
from test_contact_sensors_equal_mujocos import TOUCH, model
from test_tendons_equal_mujocos import MODELS, text_of

TYPES = [kind for kind in mujoco.mjtSensor.__members__.values() if kind != mujoco.mjtSensor.mjSENS_PLUGIN]


@pytest.fixture(scope="module")
def counts():
    """{type: in how many models}: test_sensors_equal_mujocos, test_contact_sensors_*, test_rays_and_distances_*."""
    texts = [world(name)[0] for name in WORLDS] + list(ROOMS.values())
    for scene in SCENES:
        lists = [contact_sensors(scene, rule) for rule in RULES]
        texts.append(model(scene, [*itertools.chain(*lists), *TOUCH]))
    kinds = [set(mujoco.MjModel.from_xml_string(text).sensor_type.tolist()) for text in texts]
    return {kind: sum(int(kind) in found for found in kinds) for kind in TYPES}


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_three_models(counts, kind):
    assert counts[kind] >= 3, {kind.name: n for kind, n in counts.items()}


def test_forty_models_of_tendons_and_muscles():
    """test_tendons_equal_mujocos, test_actuators_equal_mujocos, and compiled files: 40 of tendons, 20 of muscles."""
    tendons = [text_of(name) for name in MODELS]
    parts = [dict(actuators=text) for text in (*map(shortcuts, TRANSMISSIONS), *map(activations, DYNAMICS))]
    parts += [dict(actuators=text.format(TRANSMISSIONS["hinge"])) for text in SHORTCUTS.values()] + list(
        OTHERS.values()
    )
    driven = [WORLD.format(**(EMPTY | part)) for part in parts]
    models = [mujoco.MjModel.from_xml_string(text) for text in tendons + driven]
    models += [mujoco.MjModel.from_xml_path(str(path)) for path in FILES if path.stem.startswith("actuator")]
    muscle = mujoco.mjtGain.mjGAIN_MUSCLE
    assert sum(m.ntendon > 0 for m in models[: len(tendons)]) >= 40
    assert sum(muscle in m.actuator_gaintype for m in models) >= 20
