"""An arm with a motor and a ball on a plane, which tests of shared arrays push."""

XML = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 2"/></body>
  <body name="ball" pos="3 0 .1"><freejoint/><geom size=".1"/></body></worldbody>
  <actuator><motor joint="a"/></actuator></mujoco>"""
