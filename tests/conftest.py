"""Fixtures of several test files; the backend of tests that leave it open: the CPU, unless TISIM_ARCH says another."""

import os

import pytest
from shared.command_line import call

os.environ.setdefault("TISIM_ARCH", "cpu")

# files that take minutes go first, longest ahead, so that no process works alone at the end
LONG = """physics_has_its_symmetries worlds_have_parameters_of_their_own both_roads_give_the_same_bits
all_kernels_have_keys piles_are_laid_out_along_a_curve scenes_on_the_device_equal_the_cpus a_step_is_all_or_nothing
own_launches_compute_what_taichis_do loaded_models_are_checked f32_steps_as_f64_does start_loads_what_it_uses""".split()


def pytest_configure(config):
    if hasattr(config.option, "loadscopereorder"):  # of pytest-xdist, which begins with files of many tests
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    place = {f"test_{name}": k for k, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))


@pytest.fixture(autouse=True, scope="module")
def start_as_usual():
    """A file of tests leaves tisim as it would start: with the precision and the threads of the defaults."""
    yield
    from tisim.device import session

    if session.generation:
        import tisim

        tisim.init()


__all__ = ["call", "start_as_usual"]
