"""Loading compares no NumPy number with an enum for each body, which takes microseconds: of 100,000 bodies, seconds."""

import enum
import sys

import tisim

BODY = '<body pos="0 0 {}"><freejoint/><geom size=".1"/></body>'


def enum_calls(n):
    """How many functions of the module enum run while a scene of n bodies is loaded."""
    text = f"<mujoco><worldbody>{''.join(BODY.format(i) for i in range(n))}</worldbody></mujoco>"
    found = 0

    def count(frame, event, _):
        nonlocal found
        found += event == "call" and frame.f_code.co_filename == enum.__file__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        tisim.Model.from_xml_string(text)
    finally:
        sys.setprofile(before)
    return found


def test_calls_of_enums_do_not_grow_with_bodies():
    enum_calls(1)  # whatever is imported or made once
    assert enum_calls(300) - enum_calls(100) < 20
