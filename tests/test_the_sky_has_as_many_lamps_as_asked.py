"""Pictures of quality "sky" have 0 to 32 lamps of the sky. More of them change how light what some do not reach is,
and nothing else: where all do, a picture is that of the sun alone; shadows of the sun, depth and ids stay; the bits do
not depend on threads. With none the sky's light is even, as in quality "sun"."""

import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.viewer import Camera, Look, render
from tisim.viewer.far import sky_directions, sun_of
from tisim.viewer.several import Pictures

W, H = 320, 180
CAMERA = Camera(120, -35, 5, (0, 0, 0.3))
XML = """<mujoco><worldbody><geom type="plane" size="9 9 .1" rgba=".7 .7 .7 1"/>
  <geom type="box" size=".3 .2 .5" pos="0 0 .5"/><geom size=".3" pos=".9 .2 .5"/>
  <geom type="capsule" size=".15 .4" pos="-.8 .4 .6" euler="60 0 0"/></worldbody></mujoco>"""
NUMBERS = (1, 3, 14, 32)


@pytest.fixture(scope="module")
def scene():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(XML)
    d = tisim.Data(m)
    tisim.forward(m, d)
    return m, d


def shot(scene, quality, lamps=None):
    m, d = scene
    with tisim.Renderer(m, H, W, quality=quality, lamps=lamps) as r:
        r.update_scene(d, CAMERA, Look())
        return r.render_all()


def ground(scene, depth, seg):
    """Which pixels show the ground, where (n, 3), and whether the sun's ray is blocked (n,)."""
    m, d = scene
    focal = 0.5 * H / np.tan(0.5 * np.radians(CAMERA.fovy))
    x, y = np.meshgrid(np.arange(W) + 0.5 - 0.5 * W, 0.5 * H - np.arange(H) - 0.5)
    ways = np.stack([x / focal, y / focal, -np.ones_like(x)], -1) @ CAMERA.axes
    floor = seg[..., 0] == 0
    floor &= depth < 8  # far ground fades
    points = CAMERA.position + depth[floor][:, None] * ways[floor] + [0, 0, 1e-3]
    return floor, points, tisim.ray(m, d, points, sun_of(CAMERA))[1] >= 0


def alike(values, floor):
    """Whether the pixels around one show the ground and have its value, of values (n,) of the ground."""
    image = np.full(floor.shape, -1.0)
    image[floor] = values
    same = floor.copy()
    for down in (-2, -1, 0, 1, 2):
        for right in (-2, -1, 0, 1, 2):
            same &= np.roll(image, (down, right), (0, 1)) == image
    return same[floor]


def test_no_lamps_are_the_suns_picture(scene):
    for mine, suns in zip(shot(scene, "sky", 0), shot(scene, "sun")):
        assert (mine == suns).all()
    for mine, usual in zip(shot(scene, "sky", 14), shot(scene, "sky")):
        assert (mine == usual).all()


def test_only_what_the_sky_does_not_wholly_see_changes(scene):
    m, d = scene
    suns, depth, seg = shot(scene, "sun")
    floor, points, blocked = ground(scene, depth, seg)
    for n in NUMBERS:
        picture, away, things = shot(scene, "sky", n)
        assert (away == depth).all() and (things == seg).all()
        more = (picture.astype(int) > suns.astype(int) + 1).any(2)
        assert more.mean() < 1e-3, "the sky gives no more than all of its light, but where edges are found elsewhere"
        ways = sky_directions(n)
        hits = [tisim.ray(m, d, points, way)[1] >= 0 for way in ways]
        share = 1 - np.average(hits, axis=0, weights=ways[:, 2])
        sure = alike(share, floor) & alike(blocked, floor)
        changed = (picture != suns).any(2)[floor]
        open_sky, hidden = sure & (share == 1), sure & (share < 0.97)
        assert open_sky.sum() > 3000 and hidden.sum() > 100
        assert changed[open_sky].mean() < 1e-3 and changed[hidden].mean() > 0.95, n
        # the less of the sky reaches it, the darker it is, in the sun's shadow as outside
        left = picture.astype(float).sum(2)[floor] / suns.astype(float).sum(2)[floor]
        for part in (blocked, ~blocked):
            order = np.corrcoef(share[sure & part], left[sure & part])[0, 1]
            assert order > 0.85, (n, order)


def test_shadows_of_the_sun_stay(scene):
    plain = shot(scene, "plain")[0].astype(float).sum(2)
    suns, depth, seg = shot(scene, "sun")
    floor, _, blocked = ground(scene, depth, seg)
    left = suns.astype(float).sum(2)[floor] / plain[floor]
    edge = 0.5 * (np.median(left[blocked]) + np.median(left[~blocked]))
    assert blocked.sum() > 500 and ((left < edge) == blocked).mean() > 0.985
    for n in NUMBERS:
        sky = shot(scene, "sky", n)[0].astype(float).sum(2)[floor] / plain[floor]
        assert ((sky < edge) == (left < edge)).mean() > 0.995, n


def test_a_number_that_is_none_is_told(scene):
    m, d = scene
    for wrong in (33, -1, 1.5, "3", True):
        with pytest.raises(tisim.Error, match="from 0 to 32"):
            tisim.Renderer(m, quality="sky", lamps=wrong)
        with pytest.raises(tisim.Error, match="from 0 to 32"):
            render(m, d, 8, 8, lamps=wrong)
    for quality in ("sun", "plain", "model"):
        with pytest.raises(tisim.Error, match="quality='sky'"):
            tisim.Renderer(m, quality=quality, lamps=3)
    with pytest.raises(tisim.Error, match="from 0 to 32"):
        Pictures(m, 8, 8, print).add(d, CAMERA, lamps=33)


def test_pictures_in_one_call_and_films_have_them_too(scene):
    m, d = scene
    found, numbers = [], (0, 5, 32, None, 5, 0)
    film = Pictures(m, W, H, found.append)
    for n in numbers:
        film.add(d, CAMERA, lamps=n)
    film.close()
    for n, picture in zip(numbers, found):
        one = render(m, d, W, H, CAMERA, lamps=n)
        apart = np.abs(one.astype(int) - picture.astype(int)).max(2)
        assert (apart > 8).mean() < 0.005, (n, (apart > 8).mean())  # a floor's chequer gets no further rays in films
    assert len(found) == len(numbers) and (found[0] != found[1]).any() and (found[1] != found[2]).any()
    assert (found[1] == found[4]).all() and (found[0] == found[5]).all()


def test_room_is_made_for_the_lamps_that_are_asked(scene):
    m = scene[0]
    for lamps, views in ((None, 16), (0, 2), (32, 34)):
        d = tisim.Data(m)
        tisim.forward(m, d)
        shot((m, d), "sky", lamps)
        assert d.device("pic_axes").numbers == 9 * views and d.device("pic_aim").numbers == 6 * views * m.ngeom


BITS = """
import sys, hashlib, tisim
tisim.init(arch="cpu", precision="f64", threads=int(sys.argv[1]))
m = tisim.Model.from_scene("shapes")
d = tisim.Data(m)
tisim.step(m, d, 20)
h = hashlib.sha256()
for lamps in (0, 3, 32, 7):
    with tisim.Renderer(m, 90, 160, quality="sky", lamps=lamps) as r:
        r.update_scene(d)
        for a in r.render_all():
            h.update(a.tobytes())
print(h.hexdigest())
"""


def test_bits_do_not_depend_on_threads():
    found = set()
    for threads in ("1", "2", "3"):
        done = subprocess.run([sys.executable, "-c", BITS, threads], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1
