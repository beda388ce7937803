"""What a computation costs, in numbers that the machine's load does not change."""

import gc
import sys


def calls(function):
    """Python function calls made by function(), those of its callees included, when it runs a second time."""
    function()
    count = 0

    def profile(frame, event, arg):
        nonlocal count
        count += event == "call"

    gc.collect()
    gc.disable()  # what is collected meanwhile belongs to other tests
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count
