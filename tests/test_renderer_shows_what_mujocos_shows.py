"""`tisim.Renderer` is used as mujoco.Renderer, and shows the same: segmentation, depth, shadows where the sun's ray is
blocked, bodies behind translucent walls, marks only where contacts are; the same bits in any process, with any number
of threads; no Vulkan is needed."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.device import memory
from tisim.viewer import Camera, Look
from tisim.viewer.camera import choose
from tisim.viewer.far import sun_of

W, H = 320, 180
MESHES = """<mujoco><asset><mesh name="tetra" vertex="0 0 0  .5 0 0  0 .5 0  0 0 .5  .3 .3 .3"/></asset><worldbody>
  <geom type="plane" size="3 3 .1"/>
  <body pos="0 0 .4" euler="20 30 0"><freejoint/><geom type="mesh" mesh="tetra"/></body>
  <body pos=".4 .3 .6" euler="70 0 50"><freejoint/><geom type="mesh" mesh="tetra"/></body>
  <body pos="-.4 .3 .3" euler="0 100 0"><freejoint/><geom type="mesh" mesh="tetra"/></body></worldbody></mujoco>"""
GLASS = """<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
  <geom name="glass" type="box" pos="0 -.6 .5" size=".8 .02 .5" rgba=".2 .4 1 .3"/>
  <geom name="pane" type="box" pos="0 -.9 .5" size=".8 .02 .5" rgba=".2 1 .4 .3"/>
  <body pos="0 0 .3"><freejoint/><geom name="red" size=".3" rgba=".9 .05 .05 1"/></body></worldbody></mujoco>"""
FRONT = Camera(azimuth=90, elevation=-10, distance=4, lookat=(0, 0, 0.3))
SCENES = dict(wall=("wall", dict(n=60)), shapes=("shapes", {}), ragdolls=("ragdolls", dict(n=2)),
              terrain=("terrain", {}), meshes=(MESHES, None), heap=("bowl", dict(n=50)))  # fmt: skip
HEAPED = 1.0  # when the meshes of a bowl lie upon each other [s]


def load(name):
    source, params = SCENES[name]
    m = tisim.Model.from_xml_string(source) if params is None else tisim.Model.from_scene(source, **params)
    d = tisim.Data(m)
    if name == "heap":
        tisim.step(m, d, round(HEAPED / m.opt.timestep))
    tisim.forward(m, d)
    return m, d


@pytest.fixture(autouse=True, scope="module")
def start():
    tisim.init(arch="cpu", precision="f64")


def rays_of(cam, width, height):
    """Directions (height, width, 3) through the middles of pixels; 1 along the view."""
    focal = 0.5 * height / np.tan(0.5 * np.radians(cam.fovy))
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    v = np.stack([(x - 0.5 * width) / focal, (0.5 * height - y) / focal, -np.ones_like(x)], -1)
    return v @ cam.axes


@pytest.mark.parametrize("name", SCENES)
def test_segmentation_and_depth_are_those_of_rays(name):
    m, d = load(name)
    cam = choose(None, m, d, W / H)
    with tisim.Renderer(m, H, W) as r:
        r.update_scene(d, cam, Look())
        _, depth, seg = r.render_all()
    x, geom = tisim.multi_ray(m, d, cam.position, rays_of(cam, W, H).reshape(-1, 3), geomgroup=(1, 1, 1, 0, 0, 0))
    x, geom = x.reshape(H, W), geom.reshape(H, W)
    same = seg[..., 0] == geom
    assert same.mean() >= (1.0 if name == "wall" else 0.9995)
    assert same[-1].all() and same[:, -1].all()
    assert (seg[..., 1][same] == np.where(geom[same] < 0, -1, int(tisim.mjtObj.mjOBJ_GEOM))).all()
    assert len(np.unique(geom)) > 3 and np.isinf(depth[seg[..., 0] < 0]).all()
    hit = same & (geom >= 0)
    assert np.allclose(depth[hit], x[hit], rtol=1e-5)


SCRIPT = """
import sys, numpy as np, mujoco
sys.path.insert(0, {root!r})
m = mujoco.MjModel.from_xml_path({path!r})
d = mujoco.MjData(m)
d.qpos[:] = np.load({qpos!r})
mujoco.mj_forward(m, d)
m.vis.global_.fovy = {fovy}
m.vis.quality.numslices, m.vis.quality.numstacks = 200, 100  # its round shapes have facets: 28 and 16 by default
cam = mujoco.MjvCamera()
cam.azimuth, cam.elevation, cam.distance, cam.lookat[:] = {camera}
out = []
with mujoco.Renderer(m, {h}, {w}) as r:
    for mode in ("segmentation", "depth"):
        getattr(r, f"enable_{{mode}}_rendering")()
        r.update_scene(d, cam)
        out.append(r.render().copy())
        getattr(r, f"disable_{{mode}}_rendering")()
np.savez({out!r}, *out)
"""


@pytest.mark.parametrize("name", SCENES)
def test_segmentation_and_depth_are_mujocos(name, tmp_path):
    m, d = load(name)
    cam = choose(None, m, d, W / H)
    m.save(str(tmp_path / "m.xml"))
    np.save(tmp_path / "qpos.npy", np.asarray(d.qpos))
    numbers = (cam.azimuth, cam.elevation, cam.distance, tuple(cam.lookat))
    code = SCRIPT.format(root=os.getcwd(), path=str(tmp_path / "m.xml"), fovy=cam.fovy, camera=numbers, h=H, w=W,
                         out=str(tmp_path / "out.npz"), qpos=str(tmp_path / "qpos.npy"))  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=dict(os.environ, MUJOCO_GL="osmesa"))  # fmt: skip
    if done.returncode:
        pytest.skip(f"mujoco.Renderer does not work here (apt-get install libosmesa6): {done.stderr[-200:]}")
    theirs = np.load(tmp_path / "out.npz")
    with tisim.Renderer(m, H, W) as r:
        r.update_scene(d, cam)
        _, depth, seg = r.render_all()
    same = (seg == theirs["arr_0"]).all(2)
    assert same.mean() >= 0.999, same.mean()
    hit = same & (seg[..., 0] >= 0)
    near = np.abs(depth[hit] - theirs["arr_1"][hit]) <= 1e-3
    assert near.mean() >= 0.99, near.mean()


BITS = """
import sys, hashlib, tisim
from tisim.viewer import Look
tisim.init(arch="cpu", precision="f64", threads=int(sys.argv[1]))
m = tisim.Model.from_scene("shapes")
d = tisim.Data(m)
tisim.step(m, d, 20)
h = hashlib.sha256()
for quality in ("plain", "sun", "sky", "model"):
    with tisim.Renderer(m, 90, 160, quality=quality) as r:
        r.update_scene(d, scene_option=Look("island", contacts=True, alpha=0.4))
        for a in r.render_all():
            h.update(a.tobytes())
print(h.hexdigest())
"""


def test_pictures_are_the_same_bits_in_any_process_with_any_threads():
    env = dict(os.environ, VK_DRIVER_FILES="/nowhere", VK_ICD_FILENAMES="/nowhere")
    found = set()
    for threads in ("1", "2", "2"):
        done = subprocess.run([sys.executable, "-c", BITS, threads], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_no_vulkan_is_loaded():
    code = BITS + "print([line for line in open('/proc/self/maps') if 'libvulkan' in line])"
    done = subprocess.run([sys.executable, "-c", code, "2"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


RENDER = """
import sys
from tisim.cli.app import main
try:
    main("render pendulum --size 64x48 --arch cpu --quality plain -o a.png".split())
except SystemExit as end:
    print(end.code, len([line for line in open('/proc/self/maps') if 'libvulkan' in line]))
"""


def test_the_command_that_draws_loads_no_vulkan(tmp_path):
    done = subprocess.run([sys.executable, "-c", RENDER], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "0 0" and (tmp_path / "a.png").exists(), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["wall", "shapes", "meshes"])
def test_shadows_lie_where_the_suns_ray_is_blocked(name):
    m, d = load(name)
    cam = choose(None, m, d, W / H)
    pictures = []
    for quality in ("plain", "sun"):
        with tisim.Renderer(m, H, W, quality=quality) as r:
            r.update_scene(d, cam, Look())
            picture, depth, seg = r.render_all()
            pictures.append(picture.astype(int).sum(2))
    v = rays_of(cam, W, H)
    planes = np.flatnonzero(np.asarray(m.geom_type) == 0)
    floor = np.isin(seg[..., 0], planes) & (seg[..., 1] == 5)
    points = cam.position + depth[floor][:, None] * v[floor]
    assert len(points) > 1000
    _, blocked = tisim.ray(m, d, points + [0, 0, 1e-3], sun_of(cam), geomgroup=(1, 1, 1, 0, 0, 0))
    dark = (pictures[0] - pictures[1])[floor] > 20
    assert (blocked >= 0).sum() > 100
    assert ((blocked >= 0) == dark).mean() > 0.985  # smoothed edges are in between
    inside = np.zeros_like(floor)
    inside[floor] = blocked >= 0
    alike = np.ones_like(floor)
    for shift in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        alike &= (np.roll(inside, shift, (0, 1)) == inside) & np.roll(floor, shift, (0, 1))
    assert ((blocked >= 0) == dark)[alike[floor]].mean() > 0.999


def test_a_body_behind_glass_is_seen_and_the_glass_is_found():
    m = tisim.Model.from_xml_string(GLASS)
    d = tisim.Data(m)
    tisim.forward(m, d)
    with tisim.Renderer(m, 120, 160, quality="plain") as r:
        r.update_scene(d, FRONT)
        picture, _, seg = r.render_all()
        row, column = 60, 80
        through = picture[row, column].astype(int)
        assert seg[row, column].tolist() == [m.name2id("geom", "pane"), 5], "the pane is in front"
        assert through[0] > through[1] + 20, "the ball is red behind two panes"
        m.geom_rgba[m.name2id("geom", "pane"), 3] = 0
        r.update_scene(d, FRONT)
        one, _, seg = r.render_all()
        assert seg[row, column, 0] == m.name2id("geom", "glass")
        assert int(one[row, column, 1]) < through[1], "a green pane less"


def test_marks_change_the_picture_where_contacts_are_and_nowhere_else():
    m, d = load("wall")
    cam = choose(None, m, d, W / H)
    with tisim.Renderer(m, H, W, quality="plain") as r:
        r.update_scene(d, cam, Look())
        plain, _, seg = r.render_all()
        r.update_scene(d, cam, Look(contacts=True))
        marked, _, over = r.render_all()
    assert d.ncon > 10
    changed = (plain != marked).any(2)
    pixels, away = cam.project(np.asarray(d.contact.pos), W, H)
    from tisim.viewer.drawing import mark_length

    reach = 1.2 * mark_length(m) * 0.5 * H / np.tan(0.5 * np.radians(cam.fovy)) / away.min() + 2
    rows, columns = np.nonzero(changed)
    apart = np.abs(np.stack([columns, rows], 1)[:, None] + 0.5 - pixels[None]).max(2).min(1)
    assert changed.sum() > 20 and apart.max() < reach
    assert ((seg != over).any(2) <= changed).all() and (over[(seg != over).any(2)] == -1).all()


def test_there_are_as_many_colours_as_islands():
    """In a picture coloured by islands, unlit; a body alone is an island."""
    m = tisim.Model.from_scene("pyramids", n=9)
    d = tisim.Data(m)
    tisim.step(m, d, 100)
    tisim.forward(m, d)
    cam = choose(None, m, d, W / H)
    with tisim.Renderer(m, H, W, quality="plain") as r:
        r.update_scene(d, cam, Look("island"))
        _, _, seg = r.render_all()
        rgba = np.asarray(memory.download(d.device("pic_rgba")), float).reshape(-1, 4)[: m.ngeom]
    moving = np.flatnonzero(np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0)
    assert np.isin(moving, seg[..., 0]).mean() > 0.7
    assert len(np.unique(rgba[moving], axis=0)) == int(d.nisland) == 9


def test_renderers_do_not_disturb_each_other():
    m, d = load("shapes")
    with tisim.Renderer(m, 60, 80) as a, tisim.Renderer(m, 60, 80) as b:
        a.update_scene(d)
        first = a.render()
        d2 = tisim.Data(m)
        tisim.forward(m, d2)
        b.update_scene(d, scene_option=Look("island", contacts=True))
        b.render()
        tisim.step(m, d, 5)
        b.update_scene(d)
        assert (a.render() == first).all(), "what update_scene took over is drawn"
        a.update_scene(d2)
        assert (a.render() == first).all()


def test_manners_are_mujocos():
    xml = """<mujoco><worldbody><light name="top" pos="0 0 1"/>
      <camera name="closeup" pos="0 -1.5 .5" xyaxes="1 0 0 0 .3 1"/>
      <body name="box_and_sphere" euler="0 0 -30"><joint name="swing" type="hinge" axis="1 -1 0" pos="-.2 -.2 -.2"/>
      <geom name="red_box" type="box" size=".2 .2 .2" rgba="1 0 0 1"/>
      <geom name="green_sphere" pos=".2 .2 .2" size=".1" rgba="0 1 0 1"/></body></worldbody></mujoco>"""
    model = tisim.Model.from_xml_string(xml)
    data = tisim.Data(model)
    tisim.forward(model, data)
    with tisim.Renderer(model) as renderer:
        picture, depth, seg = renderer.render_all()
        assert not renderer.render().any() and not picture.any() and np.isinf(depth).all() and (seg == -1).all()
        renderer.update_scene(data, camera="closeup")
        pixels = renderer.render()
        assert pixels.shape == (240, 320, 3) and pixels.dtype == np.uint8
        renderer.update_scene(data, camera=0)
        out = np.zeros_like(pixels)
        assert renderer.render(out=out) is out and (out == pixels).all()
        renderer.enable_depth_rendering()
        depth = renderer.render()
        assert depth.shape == (240, 320) and depth.dtype == np.float32
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        seg = renderer.render()
        assert seg.shape == (240, 320, 2) and seg.dtype == np.int32 and set(np.unique(seg[..., 0])) == {-1, 0, 1}
        renderer.disable_segmentation_rendering()
        assert (renderer.render() == pixels).all()
        for wrong in (dict(camera="nobody"), dict(camera=1), dict(camera=1.5), dict(scene_option=3), dict(world=1)):
            with pytest.raises(tisim.Error):
                renderer.update_scene(data, **wrong)
        with pytest.raises(tisim.Error, match=r"uint8\(240, 320, 3\)"):
            renderer.render(out=np.zeros((2, 2)))
    with pytest.raises(tisim.Error, match="closed"):
        renderer.render()
    for wrong in (dict(height=0), dict(width=-3), dict(width=1.5), dict(height=10**5, width=10**5), dict(quality="x")):
        with pytest.raises(tisim.Error):
            tisim.Renderer(model, **wrong)


def test_each_world_has_its_picture():
    m = tisim.Model.from_scene("pendulum")
    d = tisim.Data(m, nworld=2)
    d.qpos[1] += 0.7
    tisim.forward(m, d)
    with tisim.Renderer(m, 60, 80) as r:
        pictures = []
        for world in range(2):
            r.update_scene(d, world=world)
            pictures.append(r.render())
    assert (pictures[0] != pictures[1]).any()


def test_mujocos_camera_and_options_are_taken():
    """A picture by an MjvCamera is that of the Camera in the same place; joints of an MjvOption show where they are."""
    m = tisim.Model.from_scene("joints")
    d = tisim.Data(m)
    tisim.forward(m, d)
    cam, opt = tisim.MjvCamera(), tisim.MjvOption()
    cam.lookat, cam.distance, cam.azimuth, cam.elevation = m.stat.center, 2 * m.stat.extent, 60, -25
    same = Camera(60, -25, cam.distance, tuple(m.stat.center), m.vis.global_.fovy)
    with tisim.Renderer(m, H, W) as r:
        r.update_scene(d, same)
        plain = r.render()
        r.update_scene(d, cam, opt)
        assert (r.render() == plain).all()
        opt.flags[tisim.mjtVisFlag.mjVIS_JOINT] = True
        r.update_scene(d, cam, opt)
        changed = (r.render() != plain).any(2)
    ends = np.concatenate([np.asarray(d.xanchor) + s * m.stat.meansize * np.asarray(d.xaxis) for s in (0, 1.1)])
    pixels, _ = same.project(ends, W, H)
    rows, columns = np.nonzero(changed)
    near = np.abs(np.stack([columns, rows], 1)[:, None] - pixels).max(2).min(1)
    assert changed.any() and np.quantile(near, 0.9) < 20  # the rest are shadows
    opt.flags[tisim.mjtVisFlag.mjVIS_STATIC] = False
    with tisim.Renderer(m, H, W) as r:
        r.update_scene(d, same)
        assert (r.render_all()[2][..., 0] == 0).any()  # the floor
        r.update_scene(d, cam, opt)
        seen = np.unique(r.render_all()[2][..., 0])
    assert (np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)[seen[seen >= 0]]] != 0).all() and len(seen) > 4
    cam.type, cam.fixedcamid = int(tisim.mjtCamera.mjCAMERA_FIXED), m.ncam
    with tisim.Renderer(m, H, W) as r, pytest.raises(tisim.Error, match="the model has"):
        r.update_scene(d, cam)
