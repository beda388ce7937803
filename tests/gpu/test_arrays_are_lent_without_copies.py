"""Arrays on CUDA are shared without copies: by DLPack's capsule a consumer looks at the device's own memory, follows
each step, and the next step reads a control that it wrote; what is lent is given back, taken or not.
"""

import json
import os
import subprocess
import sys

import pytest

from .software import HERE, needs_compiler, start

TOLD = dict(
    shape=[3, 8], type="float64", ctrl=[0, 7, 2], follows=True, equal=True, moved=True, lent=3, left=0,
    copy="d.qpos is shared where it is, on the CUDA device, without a copy", interface="<f4", address="int",
)  # fmt: skip


@needs_compiler
def test_a_control_written_outside_is_read_by_the_next_step():
    assert json.loads(start(HERE / "lent.py", "ctypes").splitlines()[-1]) == TOLD


@pytest.mark.gpu
def test_torch_writes_controls_on_a_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    done = subprocess.run([sys.executable, HERE / "lent.py", "torch"], env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout.splitlines()[-1]) == TOLD
