"""A sensor that MuJoCo 3.4.0 refuses is refused here, at its own line and with the reason; the others compile.

Where both accept, they agree in every field of the sensor. Two things are stricter here: a word that is no type of
object is an error, not silence, and the sensors together have at most 10 million numbers.
"""

import mujoco
import numpy as np
import pytest
from shared.compiled import refusal

from tisim import Model
from tisim.errors import MjcfError

TEXT = """<mujoco>
<worldbody>
  <camera name="cam" resolution="10 10"/><camera name="blind" resolution="0 5"/><light name="li"/><site name="s0"/>
  <geom name="flat" type="plane" size="1 1 1"/><geom name="land" type="hfield" hfield="hf"/>
  <body name="b"><joint name="h" range="0 1"/><geom name="g" size=".1"/><site name="s"/>
    <body><joint name="ball" type="ball"/><geom size=".1"/></body></body>
  <body name="f"><freejoint name="fj"/><geom name="gf" size=".1"/></body>
</worldbody>
<asset><hfield name="hf" nrow="2" ncol="2" size="1 1 1 1"/><mesh name="me" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon>
<actuator><motor name="m" joint="h"/></actuator>
<sensor>
%s
</sensor></mujoco>"""
LINE = 1 + TEXT.split("%s")[0].count("\n")

# a wrong sensor, and words that the message must hold
WRONG = {
    '<touch site="s" cutoff="-1"/>': "cutoff negative",
    '<touch site="s" noise="-.1"/>': "noise negative",
    "<gyro/>": "gyro site",
    '<gyro site="sx"/>': "site 'sx' defined",
    '<gyro site=""/>': "site empty",
    '<gyro site="s" objtype="body"/>': "objtype",
    '<camprojection site="s"/>': "camera",
    '<camprojection site="s" camera="blind"/>': "camera resolution",
    '<jointpos joint="ball"/>': "hinge slide",
    '<jointvel joint="fj"/>': "hinge slide",
    '<jointactuatorfrc joint="ball"/>': "hinge slide",
    '<ballquat joint="h"/>': "ball",
    '<ballangvel joint="fj"/>': "ball",
    '<jointlimitfrc joint="ball"/>': "limited",
    '<tendonlimitpos tendon="t"/>': "tendon limited",
    '<tendonpos tendon="h"/>': "tendon 'h'",
    '<actuatorfrc actuator="x"/>': "actuator 'x'",
    '<framepos objtype="joint" objname="h"/>': "object xbody camera",
    '<framepos objtype="body" objname="b" reftype="light" refname="li"/>': "reference xbody camera",
    '<framepos objtype="body" objname="b" refname="b"/>': "reftype refname",
    '<framepos objtype="body" objname="b" reftype="body"/>': "reftype refname",
    '<framepos objname="b"/>': "objtype",
    '<framepos objtype="bdy" objname="b"/>': "objtype 'bdy'",
    '<framequat objtype="body" objname="b" cutoff="1"/>': "cutoff quaternion",
    '<framexaxis objtype="body" objname="b" cutoff="1"/>': "cutoff axis",
    '<framelinacc objtype="body" objname="b" reftype="body" refname="b"/>': "reftype",
    '<insidesite site="s" objtype="joint" objname="h"/>': "object xbody",
    '<insidesite objtype="body" objname="b"/>': "site",
    '<subtreecom body="g"/>': "body 'g'",
    '<distance geom1="g"/>': "exactly geom2 body2",
    '<distance geom1="g" body1="b" geom2="gf"/>': "exactly geom1 body1",
    '<distance geom1="g" geom2="g"/>': "first differ second",
    '<normal geom1="g" geom2="land"/>': "height fields",
    '<fromto geom1="land" body2="b"/>': "height fields",
    '<contact site="s" geom1="g"/>': "at most site geom1",
    '<contact geom2="g" subtree2="b"/>': "at most geom2 subtree2",
    '<contact data="force found"/>': "data order found, force",
    '<contact data="pos pos"/>': "data once",
    '<contact data="poss"/>': "data 'poss' pos",
    '<contact reduce="max"/>': "reduce maxforce 'max'",
    '<contact num="0"/>': "num positive",
    '<tactile geom="g"/>': "mesh",
    '<tactile geom="g" mesh="mesh"/>': "mesh 'mesh' 'me'",
    "<user/>": "dim",
    '<user dim="-1"/>': "dim negative",
    '<user dim="2" datatype="axis"/>': "axis 3",
    '<user dim="3" datatype="quaternion"/>': "quaternion 4",
    '<user dim="1" objtype="body"/>': "objtype objname",
    '<user dim="1" objname="b"/>': "objtype objname",
    '<user dim="1" objtype="dof" objname="h"/>': "dof 'h'",
    '<clock name="a"/><clock name="a"/>': "name 'a' sensor",
}

ENDS = ["", 'geom1="g"', 'body1="b"', 'subtree1="b"', 'site="s"']
RIGHT = [
    *(f'<contact {one} {two} data="{data}" reduce="{reduce}" num="{num}"/>' for one in ENDS
      for two in ('', 'geom2="gf"', 'body2="f"', 'subtree2="f"') for data, reduce, num in (
          ("found force torque dist pos normal tangent", "netforce", 1), ("torque", "maxforce", 4),
          ("dist tangent", "mindist", 7), ("found", "none", 2))),
    *(f'<{tag} {one} {two} cutoff=".3" noise=".1"/>' for tag in ("distance", "normal", "fromto")
      for one in ('geom1="g"', 'body1="b"') for two in ('geom2="gf"', 'body2="f"', 'body2="world"')),
    *(f'<insidesite site="s" objtype="{kind}" objname="{name}"/>' for kind, name in (
        ("body", "f"), ("xbody", "f"), ("geom", "gf"), ("site", "s0"), ("camera", "cam"))),
    '<contact cutoff="1" geom1="g"/>', '<rangefinder site="s" cutoff="2"/>', '<touch site="s0" cutoff="3" noise="1"/>',
    '<tactile geom="g" mesh="me"/>', '<tactile geom="flat" mesh="me" user="1 2"/>',
    '<touch site="s"/>', '<contact data=""/>', '<normal geom1="g" geom2="gf" cutoff="1"/>',
    '<distance geom1="g" body2="b"/>', '<distance body1="world" geom2="flat"/>', '<user dim="0" needstage="none"/>',
    '<framepos objtype="camera" objname="cam" reftype="xbody" refname="f"/>', '<jointlimitpos joint="h"/>',
    '<contact subtree1="b" body2="world" num="3" data="found tangent"/>', '<user dim="5" objtype="mesh" objname="me"/>',
]  # fmt: skip
FIELDS = "type datatype needstage objtype objid reftype refid intprm dim adr cutoff noise user".split()


@pytest.mark.parametrize("sensor", WRONG)
def test_a_wrong_sensor(sensor):
    assert refusal(TEXT % sensor, WRONG[sensor].split()).line == LINE


@pytest.mark.parametrize("sensor", RIGHT)
def test_a_right_sensor(sensor):
    ours, theirs = Model.from_xml_string(TEXT % sensor), mujoco.MjModel.from_xml_string(TEXT % sensor)
    for name in FIELDS:
        a, b = getattr(ours, f"sensor_{name}"), getattr(theirs, f"sensor_{name}")
        assert a.dtype == b.dtype and np.array_equal(a, b), name


def test_stricter_than_mujoco():
    for sensor, words in {
        '<framepos objtype="body" objname="b" reftype="bod" refname="b"/>': "reftype 'bod'",
        '<user dim="1" objtype="frame" objname="b"/>': "objtype 'frame'",
        '<contact num="1000000000"/>': "10,000,000",
        '<user dim="9000000"/><user dim="9000000"/>': "10,000,000",
    }.items():
        with pytest.raises(MjcfError) as info:
            Model.from_xml_string(TEXT % sensor)
        assert [word for word in words.split() if word not in str(info.value)] == []
