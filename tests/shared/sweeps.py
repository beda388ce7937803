"""A small model to sweep over, and what a sweep has written of it."""

from tisim.recording.archive import Reader

STACK = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="a" pos="0 0 .1"><freejoint/><geom name="a" type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="b" pos=".03 0 .31"><freejoint/><geom name="b" type="sphere" size=".1" mass="1"/></body>
</worldbody></mujoco>"""


def rows_of(path):
    """Numbers of the cases in a file of results."""
    reader = Reader(path)
    return [int(k) for name in reader.names if name.endswith(".npy") for k in reader.array(name[:-4])["index"]]
