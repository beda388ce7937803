"""A Renderer's picture is lit by the model's lamps and headlight, shows its textures and its sky, and planes mirror, as
in mujoco.Renderer's picture of the same model: most pixels differ by a few of 256 steps, few by more than 20."""

import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from PIL import Image

import tisim

W, H = 240, 180
SUN = '<light directional="true" pos="0 0 4" dir="-.3 .4 -1"/>'
CASES = dict(
    headlight=('<light directional="true" castshadow="false" diffuse="0 0 0" specular="0 0 0"/>', "plain", "plain"),
    directional=(SUN, "plain", "plain"),
    near=('<light cutoff="90" exponent="1" dir="-.2 .3 -1" pos="1 -1 2.5" attenuation=".5 .1 .1"/>', "plain", "plain"),
    spot=('<light pos="0 -1 3" dir="0 .3 -1" cutoff="35" exponent="5"/>', "plain", "plain"),
    two=(SUN + '<light pos="0 0 5" castshadow="false" diffuse=".3 .3 .5" ambient=".1 0 0"/>', "plain", "plain"),
    shiny=(SUN, "shiny", "shiny"),
    image=(SUN, "image", "image"),
    repeated=(SUN, "repeated", "repeated"),
    cube=(SUN, "cube", "grid"),
    around=(SUN, "around", "grid"),
    mirror=(SUN, "image", "mirror"),
)  # fmt: skip
SCENE = """<mujoco><visual><global fovy="40"/>
<map shadowclip="3"/>
<quality shadowsize="8192" numslices="100" numstacks="60" numquads="60"/></visual>
<asset><texture name="image" type="2d" file="t.png"/><texture name="cube" type="cube" file="t.png"/>
<texture name="sky" type="skybox" builtin="gradient" rgb1=".3 .5 .7" rgb2="1 1 1" width="64" height="384"/>
<texture name="grid" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".6 .7 .8" width="64" height="64"/>
<mesh name="sheet" file="sheet.obj"/>
<material name="plain" rgba=".7 .5 .3 1"/><material name="mirror" rgba=".4 .5 .4 1" reflectance=".4"/>
<material name="shiny" rgba=".3 .5 .7 1" specular="1" shininess=".3" emission=".1"/>
<material name="image" texture="image"/><material name="repeated" texture="image" texuniform="true" texrepeat="3 2"/>
<material name="cube" texture="cube"/><material name="around" texture="cube" texuniform="true"/>
<material name="grid" texture="grid" texuniform="true" texrepeat="2 2"/></asset>
<worldbody>{light}<camera name="c" pos="0 -3.5 2" xyaxes="1 0 0 0 .5 1"/>
<geom type="plane" size="3 3 .1" material="{floor}"/>
<geom type="mesh" mesh="sheet" pos="1.2 -.4 .4" material="{sheet}"/>
<geom type="box" size=".3 .25 .4" pos="-.6 .3 .4" euler="0 0 30" material="{mat}"/>
<geom type="sphere" size=".3" pos=".4 -.2 .3" material="{mat}"/>
<geom type="cylinder" size=".2 .3" pos="0 .8 .3" material="{mat}"/>
<geom type="capsule" size=".15 .2" pos="1 .5 .35" material="{mat}"/></worldbody></mujoco>"""
SHEET = """v -.3 0 -.3\nv .3 0 -.3\nv .3 0 .3\nv -.3 0 .3\nv 0 .2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt .5 .5
f 1/1 2/2 3/3\nf 1/1 3/3 4/4\nf 1/1 5/5 2/2\nf 2/2 5/5 3/3\nf 3/3 5/5 4/4\nf 4/4 5/5 1/1\n"""
THEIRS = """
import sys, numpy as np, mujoco
out = {}
for name in sys.argv[4:]:
    m = mujoco.MjModel.from_xml_path(f"{sys.argv[1]}/{name}.xml")
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    with mujoco.Renderer(m, int(sys.argv[2]), int(sys.argv[3])) as r:
        r.update_scene(d, "c")
        out[name] = r.render()
np.savez(sys.argv[1] + "/theirs.npz", **out)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models as files, and mujoco's pictures of them."""
    tisim.init(arch="cpu", precision="f64")
    at = tmp_path_factory.mktemp("lit")
    colours = np.random.default_rng(1).integers(40, 255, (8, 8, 3))
    Image.fromarray(np.kron(colours, np.ones((16, 16, 1))).astype(np.uint8)).save(at / "t.png")
    (at / "sheet.obj").write_text(SHEET)
    for name, (light, mat, floor) in CASES.items():
        sheet = "plain" if floor == "grid" else mat  # mujoco shows a cube on a mesh with coordinates as another texture
        (at / f"{name}.xml").write_text(SCENE.format(light=light, mat=mat, floor=floor, sheet=sheet))
    done = subprocess.run([sys.executable, "-c", THEIRS, str(at), str(H), str(W), *CASES],
                          capture_output=True, text=True, env=dict(os.environ, MUJOCO_GL="osmesa"))  # fmt: skip
    if done.returncode:
        pytest.skip(f"mujoco.Renderer does not work here (apt-get install libosmesa6): {done.stderr[-200:]}")
    return at


@pytest.mark.parametrize("name", CASES)
def test_light_and_textures_are_mujocos(folder, name):
    theirs = np.load(folder / "theirs.npz")[name].astype(int)
    m = tisim.Model.from_mujoco(mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml")))
    d = tisim.Data(m)
    tisim.forward(m, d)
    with tisim.Renderer(m, H, W) as r:
        r.update_scene(d, "c")
        ours = r.render().astype(int)
    apart = np.abs(ours - theirs).max(2)
    assert np.median(apart) <= 5 and (apart > 20).mean() < 0.03, (np.median(apart), (apart > 20).mean())


def test_a_lamp_among_the_bodies_throws_shadows_to_all_sides():
    xml = """<mujoco><visual><headlight active="0"/></visual><worldbody>
      <light type="point" pos="0 0 1" diffuse="1 1 1" specular="0 0 0"/>
      <geom type="plane" size="4 4 .1" rgba="1 1 1 1"/>
      <geom size=".15" pos="1 0 .6"/><geom type="box" size=".1 .3 .2" pos="-1 .2 .5"/><geom size=".2" pos=".1 1.1 1"/>
      <geom type="capsule" size=".1 .2" pos="0 -1 .5"/><geom size=".1" pos="0 0 .5"/></worldbody></mujoco>"""
    m = tisim.Model.from_xml_string(xml)
    d = tisim.Data(m)
    tisim.forward(m, d)
    cam = tisim.MjvCamera()
    cam.distance, cam.elevation = 7, -70
    with tisim.Renderer(m, 180, 240) as r:
        r.update_scene(d, cam)
        picture, depth, seg = r.render_all()
    from tisim.viewer.camera import of_mjv

    view = of_mjv(m, d, cam)
    focal = 90 / np.tan(0.5 * np.radians(view.fovy))
    x, y = np.meshgrid(np.arange(240) + 0.5, np.arange(180) + 0.5)
    v = np.stack([(x - 120) / focal, (90 - y) / focal, -np.ones_like(x)], -1) @ view.axes
    floor = seg[..., 0] == 0
    points = view.position + depth[floor][:, None] * v[floor] + [0, 0, 1e-3]
    toward = np.array([0, 0, 1.0]) - points
    blocked = np.array([tisim.ray(m, d, p, t) for p, t in zip(points[::37], toward[::37])])
    dark = picture[floor].astype(int).sum(1)[::37] == 0
    shadow = (blocked[:, 1] >= 0) & (blocked[:, 0] < 1)
    assert 0.02 < shadow.mean() < 0.5 and (shadow == dark).mean() > 0.97
