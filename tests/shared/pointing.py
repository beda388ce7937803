"""A box and a ball in a window, and where the mouse points there."""

XML = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/><camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 .3 1"/>
  <body name="box" pos="0 0 .3"><freejoint/><geom type="box" size=".2 .15 .1"/></body>
  <body name="ball" pos="1 0 .5"><freejoint/><geom size=".2" group="3"/></body></worldbody>
  <keyframe><key name="high" qpos="0 0 2 1 0 0 0 1 0 3 1 0 0 0"/></keyframe></mujoco>"""


def place(window, point):
    """Where a point (3,) of the world is seen, as parts of width and height."""
    (column, row), _ = (v[0] for v in window.camera.project(point, 1.5, 1.0))
    return column / 1.5, row


def double_click(window, x, y, button="left", now=1.0, **more):
    for t in (now, now + 0.1):
        window.press(button, x, y, t, **more)
        window.release(button)
