"""Each thing that a MjvOption switches on changes the picture where it is, and nowhere else: tendons, contacts and
their forces, frames, joints, centres of mass, inertia boxes, cameras, lights, equalities, range finders, islands. What
is not shown is refused by name."""

import mujoco
import numpy as np
import pytest
from shared import drawn

import tisim
from tisim.viewer import Camera, Look, lights
from tisim.viewer.scene import FLAGS

W, H = 320, 240
SCENE = """<mujoco><option timestep=".002"/><visual><scale com=".2" constraint=".3"/></visual>
<asset><texture name="dots" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="32" height="32"/>
  <material name="dots" texture="dots"/>
  <mesh name="gem" builtin="sphere" params="1" scale=".08 .06 .04"/></asset><worldbody>
  <light pos="-.6 -.2 1.6" dir="0 0 -1"/><camera name="eye" pos=".9 -.3 1.2"/>
  <geom name="floor" type="plane" size="3 3 .1"/><site name="hook" pos="-.9 0 1.3" size=".03"/>
  <body name="arm" pos="-.6 0 .9"><joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
    <site name="tip" pos=".3 0 0" size=".03"/>
    <body pos=".3 0 0"><joint name="slide" type="slide" axis="0 0 1" range="0 .1" limited="true"/>
      <geom size=".06"/></body>
  </body>
  <body name="low" pos=".5 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" material="dots"/></body>
  <body name="high" pos=".5 0 .25"><freejoint/><geom type="box" size=".08 .08 .05"/></body>
  <body name="held" pos="-.2 0 1.1"><freejoint/><geom type="mesh" mesh="gem"/>
    <site name="down" pos="0 0 -.04" zaxis="0 0 -1" size=".01"/></body>
  <body name="hidden" pos="0 0 1.5"><joint group="4" type="ball"/><geom size=".03"/></body></worldbody>
  <equality><connect body1="held" anchor="0 0 .2"/></equality><sensor><rangefinder site="down"/></sensor>
  <tendon><spatial name="rope" width=".02" rgba="1 0 0 1"><site site="hook"/><site site="tip"/></spatial></tendon>
  </mujoco>"""
CAMERA = Camera(azimuth=90, elevation=-12, distance=4.2, lookat=(0, 0, 0.7))


@pytest.fixture(scope="module")
def scene():
    tisim.init(arch="cpu", precision="f64")
    return settled()


def settled(push=0.0):
    """(Model, Data) after 0.4 s; push  on the lower box, across [N]."""
    m = tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m)
    d.xfrc_applied[m.name2id("body", "low"), 0] = push
    tisim.step(m, d, 200)
    tisim.forward(m, d)
    return m, d


def option(*flags, frame=0, **fields):
    made = tisim.MjvOption()
    made.flags[tisim.mjtVisFlag.mjVIS_TENDON] = made.flags[tisim.mjtVisFlag.mjVIS_RANGEFINDER] = 0
    for flag in flags:
        made.flags[tisim.mjtVisFlag[f"mjVIS_{flag}"]] = 1
    made.frame = frame
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def places(m, d, name):
    """Where an overlay is drawn: its points (n, 3), and how far it reaches from each [m]."""
    size, scale = m.stat.meansize, m.vis.scale
    rope = np.asarray(d.wrap_xpos).reshape(-1, 3)[:2]
    force = np.abs(np.asarray(d.efc_force)).max() * m.vis.map.force / m.stat.meanmass if d.nefc else 0
    contact = np.asarray(d.contact.pos)
    down = np.asarray(d.site_xpos)[m.name2id("site", "down")]
    ray = np.array([down, down - [0, 0, float(d.sensordata[0])]])
    hook = np.asarray(d.xpos)[[m.name2id("body", "held")]]
    moving = np.flatnonzero(np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0)
    roots = [b for b in range(1, m.nbody) if m.body_parentid[b] == 0]
    return dict(
        RANGEFINDER=(ray[0] + np.linspace(0, 1, 40)[:, None] * (ray[1] - ray[0]), 0.05),
        CONSTRAINT=(hook + [[0, 0, 0.2]], 1.1 * size * scale.constraint),
        CONVEXHULL=(np.asarray(d.xipos)[[m.name2id("body", "held")]], 0.09),
        CONTACTSPLIT=(contact, 6 * force + 0.1),
        TRANSPARENT=(np.asarray(d.geom_xpos)[moving], np.asarray(m.geom_rbound).max()),
        ISLAND=(np.asarray(d.geom_xpos)[moving], np.asarray(m.geom_rbound)[moving].max()),
        TEXTURE=(np.asarray(d.xpos)[[m.name2id("body", "low")]], 0.18),
        camera=(np.asarray(m.cam_pos), 1.1 * size * scale.framelength),
        light=(np.asarray(m.light_pos), 1.1 * size * scale.framelength),
        TENDON=(rope[0] + np.linspace(0, 1, 40)[:, None] * (rope[1] - rope[0]), 0.05),
        CONTACTPOINT=(contact, 0.15 * size + scale.contactwidth * size),
        CONTACTFORCE=(contact, 6 * force + 0.1),
        JOINT=(np.asarray(d.xanchor)[:-1], 1.1 * size * scale.jointlength),
        COM=(np.asarray(d.subtree_com)[roots], 1.1 * size * scale.com),
        INERTIA=(np.asarray(d.xipos)[1:], 0.3),
        CAMERA=(np.asarray(m.cam_pos), size * scale.camera),
        LIGHT=(np.asarray(m.light_pos), size * scale.light),
        body=(np.asarray(d.xpos)[1:], 1.1 * size * scale.framelength),
        geom=(np.asarray(d.geom_xpos), 1.1 * size * scale.framelength),
        site=(np.asarray(d.site_xpos), 1.1 * size * scale.framelength),
        contact=(contact, 1.1 * size * scale.framelength),
        world=(np.zeros((1, 3)), 1.1 * size * scale.framelength),
    )[name]


def pictures(m, d, *options, quality="model"):
    with tisim.Renderer(m, H, W, quality=quality) as r:
        for made in options:
            r.update_scene(d, CAMERA, made)
            yield r.render_all()


NAMES = """TENDON RANGEFINDER CONSTRAINT CONTACTPOINT CONTACTFORCE CONTACTSPLIT JOINT COM INERTIA CAMERA LIGHT TEXTURE
    CONVEXHULL TRANSPARENT ISLAND body geom site camera light contact world""".split()
OPAQUE = {
    "TENDON",
    "RANGEFINDER",
    "CONSTRAINT",
    "CAMERA",
    "LIGHT",
    "TEXTURE",
    "TRANSPARENT",
    "ISLAND",
    "camera",
    "light",
}


def test_all_that_can_be_switched_on_is_looked_at():
    """But what stands still: it covers the whole picture."""
    flags = {f.name.removeprefix("mjVIS_") for f in FLAGS.values()} - {"STATIC"} | {"TRANSPARENT", "ISLAND"}
    frames = {f.name.removeprefix("mjFRAME_").lower() for f in tisim.mjtFrame} - {"none", "mjnframe"}
    assert flags | frames == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_overlay_changes_what_it_covers_and_nothing_else(scene, name):
    m, d = settled(push=30.0) if name == "CONTACTSPLIT" else scene  # friction holds against it
    under = () if name in OPAQUE else ("TRANSPARENT",)
    if name == "CONTACTSPLIT":
        under += ("CONTACTFORCE",)
    frame = 0 if name.isupper() else tisim.mjtFrame[f"mjFRAME_{name.upper()}"]
    extra = (name,) if name.isupper() and name != "TEXTURE" else ()
    without = option(*under)
    if name == "TEXTURE":
        without.flags[tisim.mjtVisFlag.mjVIS_TEXTURE] = 0
    # a rope throws a shadow, and what is clear none; so that only itself changes the picture, there are none
    quality = "plain" if name in ("TENDON", "TRANSPARENT") else "model"
    (before, *_), (after, _, seg) = pictures(m, d, without, option(*under, *extra, frame=frame), quality=quality)
    points, reach = places(m, d, name)
    at, away = CAMERA.project(points, W, H)
    radius = reach * 0.5 * H / np.tan(0.5 * np.radians(CAMERA.fovy)) / (away - reach) + 2
    rows, columns = np.nonzero((before.astype(int) != after).any(2))
    apart = np.linalg.norm(np.stack([columns, rows], 1)[:, None] + 0.5 - at[None], axis=2) - radius
    assert len(rows) >= 10 and (apart.min(1) <= 0).all(), "only there"
    seen = (at >= 0).all(1) & (at < (W, H)).all(1)
    assert seen.any() and (apart.min(0) <= 0)[seen].mean() > 0.7, "and there"
    if name == "TENDON":
        rope = seg[..., 1] == tisim.mjtObj.mjOBJ_TENDON
        assert rope.any() and (seg[rope][:, 0] == 0).all()


def test_forces_point_where_they_push_and_grow_with_them(scene):
    m, d = scene
    look = Look.of(option("CONTACTFORCE"), m)
    kind, pos, mat, size, rgba, _ = drawn.overlays(m, d, look)
    shaft = kind == tisim.mjtGeom.mjGEOM_CYLINDER
    z = mat[shaft][:, :, 2]
    assert shaft.sum() == 8 and (z[:, 2] > 0.99).all(), "four corners of each box, pushed up"
    begin = pos[shaft] - size[shaft][:, 1:2] * z
    low = begin[:, 2] < 0.05
    weight = np.asarray(m.body_mass)[[m.name2id("body", "low"), m.name2id("body", "high")]] * 9.81
    tip = size[kind == tisim.mjtGeom.mjGEOM_ELLIPSOID][:, 2]
    length = 2 * size[shaft][:, 1] + tip
    total = [length[mine].sum() * m.stat.meanmass / m.vis.map.force for mine in (low, ~low)]
    assert total == pytest.approx([weight.sum(), weight[1]], rel=0.05)


def test_groups_islands_and_static_things_are_asked_for(scene):
    m, d = scene
    hidden = option("JOINT")
    some = option("JOINT", jointgroup=[0, 0, 0, 0, 1, 0])
    counts = [(drawn.overlays(m, d, Look.of(o, m))[5] < 0).all(1).sum() for o in (hidden, some)]
    assert counts == [6, 1], "a box of each free joint, a rod, an arrow with its head; the ball is in group 4"
    shown = option()
    shown.flags[tisim.mjtVisFlag.mjVIS_STATIC] = 0
    textureless = option()
    textureless.flags[tisim.mjtVisFlag.mjVIS_TEXTURE] = 0
    found = list(pictures(m, d, option(), shown, textureless, option("ISLAND")))
    floor, box = m.name2id("geom", "floor"), 3
    assert (found[0][2][..., 0] == floor).any() and not (found[1][2] == (floor, 5)).all(2).any()
    mine = (found[0][2] == (box, 5)).all(2)
    hue = [f[0][mine][:, 0].astype(int) - f[0][mine][:, 2] for f in found[:3]]
    assert np.ptp(hue[0]) > 60 and np.ptp(hue[2]) < 10, "red and blue, and neither"
    assert (found[3][0][mine] != found[0][0][mine]).any()


STILL = """<mujoco><visual><map alpha=".25"/></visual><worldbody><geom type="plane" size="1 1 .1"/>
  <site name="hook" pos="0 0 2" group="4"/>
  <body mocap="true"><geom size=".1" group="1"/><site/><body pos="0 0 .3"><geom size=".1"/><site/></body></body>
  <body><freejoint/><geom size=".1" group="1" rgba="1 0 0 .8"/><site name="tip"/></body>
  <body><geom size=".1" rgba="1 0 0 0"/><site rgba="1 0 0 0"/><geom size=".1" group="7"/>
    <geom size=".1" group="-2"/><site group="9"/><site group="-1"/></body></worldbody>
  <tendon><spatial rgba="1 0 0 .6"><site site="hook"/><site site="tip"/></spatial></tendon></mujoco>"""
GROUPS = (1,) * 6, (1, 0, 1, 1, 1, 1), (0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1)


@pytest.mark.parametrize("frame", ("NONE", "BODY", "GEOM", "SITE", "WORLD"))
@pytest.mark.parametrize("flags", ("", "STATIC TENDON", "TRANSPARENT TENDON", "STATIC TRANSPARENT", "INERTIA"))
def test_what_is_static_hidden_or_translucent_is_mujocos(frame, flags):
    """Mocap bodies, but not what is fixed to them, count as moving; what is hidden has no frame. MuJoCo's
    mjv_updateScene lists as many geoms, and geoms, sites and tendons as clear."""
    m, theirs = tisim.Model.from_xml_string(STILL), mujoco.MjModel.from_xml_string(STILL)
    d, data, scene = tisim.Data(m), mujoco.MjData(theirs), mujoco.MjvScene(theirs, 99)
    mujoco.mj_forward(theirs, data)
    tisim.forward(m, d)
    for groups in GROUPS:
        made, like = tisim.MjvOption(), mujoco.MjvOption()
        for o in made, like:
            o.frame, o.geomgroup, o.sitegroup = tisim.mjtFrame[f"mjFRAME_{frame}"], groups, groups
            for flag in ("STATIC", "TRANSPARENT", "TENDON", "INERTIA"):
                o.flags[tisim.mjtVisFlag[f"mjVIS_{flag}"]] = flag in flags
        mujoco.mjv_updateScene(theirs, data, like, mujoco.MjvPerturb(), mujoco.MjvCamera(), 7, scene)
        listed, look = scene.geoms[: scene.ngeom], Look.of(made, m)
        clear = {(g.objid, g.objtype): g.rgba[3] for g in listed if g.category != mujoco.mjtCatBit.mjCAT_DECOR}
        assert drawn.opacities(m, d, look) == pytest.approx(clear, rel=1e-6), groups
        with tisim.Renderer(m, 8, 8) as renderer:
            renderer.update_scene(d, scene_option=made)
            assert renderer.scene.ngeom == scene.ngeom, groups


def test_hulls_are_those_of_what_is_shown_and_collides():
    """As MuJoCo has them: not of what contype and conaffinity let pass through all, is hidden or cannot be seen."""
    gem = "<geom type='mesh' mesh='gem' {}/>"
    kinds = "", "contype='0'", "contype='0' conaffinity='0'", "rgba='1 0 0 0'", "group='4'", "group='-1'"
    bodies = "".join(f"<body {k}>{''.join(map(gem.format, kinds))}</body>" for k in ("", "mocap='true'"))
    text = f"""<mujoco><asset><mesh name="gem" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
      <worldbody>{bodies}</worldbody></mujoco>"""
    m, theirs = tisim.Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    d, data, scene = tisim.Data(m), mujoco.MjData(theirs), mujoco.MjvScene(theirs, 99)
    mujoco.mj_forward(theirs, data)
    tisim.forward(m, d)
    for static, number in ((1, 6), (0, 3)):
        made, like = option("CONVEXHULL"), mujoco.MjvOption()
        like.flags[tisim.mjtVisFlag.mjVIS_CONVEXHULL] = 1
        made.flags[tisim.mjtVisFlag.mjVIS_STATIC] = like.flags[tisim.mjtVisFlag.mjVIS_STATIC] = static
        mujoco.mjv_updateScene(theirs, data, like, mujoco.MjvPerturb(), mujoco.MjvCamera(), 7, scene)
        assert sum(g.dataid % 2 for g in scene.geoms[: scene.ngeom]) == number
        assert len(drawn.overlays(m, d, Look.of(made, m))[0]) == 6 * number, "edges of a tetrahedron"


@pytest.mark.parametrize("cone", ("pyramidal", "elliptic"))
@pytest.mark.parametrize("condim", (1, 3, 6))
def test_arrows_are_the_forces_of_contacts(cone, condim):
    """Of every solver, after a step, forward and inverse, and none where constraints are off."""
    body = f"<body pos='{{}}'><freejoint/><geom type='box' size='.1 .1 .1' condim='{condim}'/></body>"
    floor = f"<geom type='plane' size='5 5 .1' condim='{condim}'/>"
    for solver, noslip in (("Newton", 0), ("CG", 0), ("PGS", 3)):
        m = tisim.Model.from_xml_string(
            f"<mujoco><option solver='{solver}' cone='{cone}' noslip_iterations='{noslip}'/><worldbody>{floor}"
            f"{body.format('0 0 .1')}{body.format('.02 0 .3')}</worldbody></mujoco>"
        )
        d = tisim.Data(m)
        d.qvel[0] = 1.0
        tisim.step(m, d, 40)
        for act in (lambda m, d: None, tisim.forward, tisim.inverse):
            act(m, d)
            n = d.count("ncon")
            force = tisim.contact_force(m, d, np.arange(n))[:, :3]
            frame = np.asarray(d.contact.frame).reshape(-1, 3, 3)
            vector = (force[:, :, None] * frame).sum(1)[force[:, 0] > 0] * m.vis.map.force / m.stat.meanmass
            kind, pos, mat, size, *_ = drawn.overlays(m, d, Look.of(option("CONTACTFORCE"), m))
            head = kind == tisim.mjtGeom.mjGEOM_ELLIPSOID
            tip = pos[head] + size[head][:, 2:] * mat[head][:, :, 2]
            assert len(vector) >= 4
            np.testing.assert_allclose(tip, np.asarray(d.contact.pos)[force[:, 0] > 0] + vector, atol=1e-9)
        m.opt.disableflags = int(tisim.mjtDisableBit.mjDSBL_CONSTRAINT)
        tisim.forward(m, d)
        assert not len(drawn.overlays(m, d, Look.of(option("CONTACTFORCE"), m))[0])


def test_a_world_among_many_shows_what_it_shows_alone():
    """Contacts of one world are found among those of all, more than one thread's block of them, in their order."""
    body = "<body pos='0 0 .0999'><freejoint/><geom size='.1'/></body>"
    ball = f"<replicate count='20' offset='.3 0 0'>{body}</replicate>"
    rows = "<replicate count='20' offset='0 .3 0'>" + ball + "</replicate>"
    m = tisim.Model.from_xml_string(f"<mujoco><worldbody><geom type='plane' size='9 9 1'/>{rows}</worldbody></mujoco>")
    d, alone = tisim.Data(m, nworld=3), tisim.Data(m)
    d.qpos[1, 0::7] += 0.05
    alone.qpos[:] = d.qpos[1]
    look = Look.of(option("CONTACTPOINT", "CONTACTFORCE", "COM", "JOINT", frame=tisim.mjtFrame.mjFRAME_CONTACT), m)
    look.chains = True
    for data in (d, alone):
        tisim.step(m, data, 3)
    assert d.count("ncon") == 3 * alone.count("ncon") == 3 * 400
    for many, one in zip(drawn.overlays(m, d, look, world=1), drawn.overlays(m, alone, look)):
        np.testing.assert_array_equal(many, one)


def test_what_pictures_do_not_show_is_refused_by_name(scene):
    m, d = scene
    with tisim.Renderer(m, 60, 80) as r:
        for made, word in ((option("ACTUATOR"), "mjVIS_ACTUATOR"), (option(label=1), "labels"),
                           (option(frame=99), "frame=99")):  # fmt: skip
            with pytest.raises(tisim.Error, match=word):
                r.update_scene(d, scene_option=made)


def test_lights_and_cameras_stand_where_mujocos_do():
    import mujoco

    xml = """<mujoco><worldbody><light pos="1 2 3" dir="0 .3 -1"/><light mode="targetbody" target="b" pos="2 0 3"/>
      <body name="a" pos=".1 .2 .3" euler="20 30 40"><freejoint/><geom size=".1" pos=".1 0 0"/>
        <light pos="0 0 .5" dir="1 0 -1"/>
        <light mode="track" pos="0 .5 .5" dir="0 1 -1"/><light mode="trackcom" pos=".5 0 .5" dir="1 1 -1"/>
        <body name="b" pos=".5 0 0"><joint axis="0 1 0"/><geom size=".1"/></body></body></worldbody></mujoco>"""
    m, peer = tisim.Model.from_xml_string(xml), mujoco.MjModel.from_xml_string(xml)
    d, data = tisim.Data(m), mujoco.MjData(peer)
    d.qpos[:] = data.qpos[:] = [0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5, 0.7]
    tisim.forward(m, d)
    mujoco.mj_forward(peer, data)
    at, direction = lights.poses(m, d)
    assert np.allclose(at, data.light_xpos) and np.allclose(direction, data.light_xdir)
