"""What tests of tisim.Spec share: models to edit, and the same edit in both engines."""

import mujoco

import tisim
from shared.compiled import differences

ROBOT = """<mujoco model="robot"><compiler angle="radian"/>
  <default><geom rgba="0 1 0 1"/><joint damping="3"/>
    <default class="c"><geom rgba="1 0 0 1" size=".3"/><joint range="0 .5"/></default></default>
  <asset><material name="mat"/><material name="unused"/></asset>
  <worldbody><light name="L"/>
    <body name="b" childclass="c" pos="1 0 0" euler=".1 .2 .3">
      <joint name="j" range="0 1"/><joint name="j2" axis="1 0 0"/><geom name="g" material="mat"/>
      <site name="s"/><site name="s2" pos="0 0 1"/>
      <body name="bb"><joint name="jj" type="slide" ref=".1"/><geom name="gg" axisangle="0 0 1 .3"/></body></body>
    <body name="free"><freejoint name="f"/><geom name="fg" size=".1"/></body>
    <body name="ghost" mocap="true" pos="0 0 7"/>
    <geom name="w" size="1"/></worldbody>
  <contact><pair name="pp" geom1="g" geom2="w"/><exclude name="e" body1="b" body2="bb"/></contact>
  <equality><joint name="eq" joint1="j" joint2="jj"/><weld name="we" body1="bb" body2="free"/></equality>
  <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed>
    <spatial name="sp"><site site="s"/><site site="s2"/></spatial></tendon>
  <actuator><motor name="m" joint="j"/><position name="at" tendon="t" kp="3"/>
    <general name="st" joint="jj" dyntype="integrator"/></actuator>
  <sensor><jointpos name="jp" joint="j"/><framepos name="fp" objtype="geom" objname="w"/><clock name="clk"/>
    <tendonpos name="tp" tendon="t"/></sensor>
  <custom><numeric name="nu" data="1"/><text name="tt" data="x"/></custom>
  <keyframe><key name="k" qpos=".1 .2 .3 1 2 3 1 0 0 0" ctrl="1 2 3" act="4" mpos="9 9 9" time="2"/></keyframe>
</mujoco>"""
STAGE = """<mujoco model="stage"><default><geom rgba="0 0 1 1"/></default><worldbody>
  <body name="B"><joint name="J"/><geom size="1"/><site name="in" pos="1 0 0" euler="0 90 0"/></body>
  <site name="at" pos="1 2 3" euler="0 0 90"/> <frame name="F" pos="0 0 1" euler="0 30 0"/></worldbody>
  <actuator><motor name="M" joint="J"/></actuator>
  <keyframe><key name="K" qpos=".7" ctrl="5"/></keyframe></mujoco>"""


def agree(edit, text=None, child=None):
    """Does the same edit in both engines; the compiled models, and the one of the written text, must be equal."""
    models = []
    for engine, kind in ((tisim, tisim.Spec), (mujoco, mujoco.MjSpec)):
        specs = [kind() if text is None else kind.from_string(text)]
        specs += [kind.from_string(child)] if child else []
        edit(engine, *specs)
        models.append(specs[0].compile())
        if engine is tisim:
            written = specs[0].to_xml()
    assert differences(*models) == {}
    assert differences(tisim.Model.from_xml_string(written), models[1]) == {}
    return models[0]
