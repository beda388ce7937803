"""What pictures can show: every overlay that a MjvOption switches on, and scenes before and after.

python scenes/examples/gallery.py [folder]
"""

import pathlib
import sys

import numpy as np

import tisim
from tisim.viewer import render

WIDTH, HEIGHT = 400, 250
SCENE = """<mujoco><option timestep=".002"/><visual><scale com=".25" camera=".5" light=".5" constraint=".15"/>
    <map force=".04"/><headlight ambient=".3 .3 .3" diffuse=".3 .3 .3"/></visual>
  <asset><texture name="dots" type="2d" builtin="checker" rgb1=".9 .75 .4" rgb2=".8 .5 .3" width="32" height="32"/>
    <texture name="grid" type="2d" builtin="checker" rgb1=".9 .92 .94" rgb2=".75 .8 .85" width="300" height="300"/>
    <material name="dots" texture="dots"/><mesh name="gem" builtin="sphere" params="1" scale=".1 .08 .06"/>
    <material name="grid" texture="grid" texrepeat="6 6" reflectance=".1"/></asset>
  <worldbody><light pos="-.7 -.6 1.25" dir=".35 .4 -1" cutoff="80" diffuse=".6 .6 .6"/>
    <camera name="eye" pos="1 -.1 .9" xyaxes="0 1 0 -.5 0 1"/>
    <geom type="plane" size="3 3 .1" material="grid"/><site name="hook" pos="-.9 0 1.2" size=".03" rgba=".9 .2 .2 1"/>
    <body pos="-.6 0 .9"><joint type="hinge" axis="0 1 0" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" rgba=".3 .6 .8 1"/>
      <site name="tip" pos=".3 0 0" size=".04" rgba=".9 .2 .2 1"/>
      <body pos=".3 0 0"><joint type="slide" axis="0 0 1" range="0 .1" limited="true"/>
        <geom size=".07" pos=".08 0 0" rgba=".8 .4 .6 1"/></body></body>
    <body pos="0 0 1.2"><joint type="ball" damping=".02"/>
      <geom type="ellipsoid" size=".06 .06 .2" pos="0 0 -.2" rgba=".6 .8 .4 1"/></body>
    <body name="low" pos=".5 0 .12"><freejoint/><geom type="box" size=".15 .12 .12" material="dots"/></body>
    <body name="high" pos=".5 0 .32"><freejoint/><geom type="box" size=".1 .08 .08" rgba=".5 .75 .5 1"/></body>
    <body name="held" pos=".35 0 .8"><freejoint/><site name="below" pos="0 0 -.07" zaxis="0 0 -1" size=".02"/>
      <geom type="mesh" mesh="gem" rgba=".7 .6 .8 1"/></body>
    <body pos="-.2 -.5 .1"><freejoint/><geom size=".1" rgba=".85 .5 .3 1"/></body></worldbody>
  <equality><connect body1="held" anchor="0 0 .25"/></equality>
  <tendon><spatial width=".012" rgba=".9 .2 .2 1"><site site="hook"/><site site="tip"/></spatial></tendon>
  <sensor><rangefinder site="below"/></sensor></mujoco>"""
GROUPS = "".join(
    f'<body pos="{0.24 * k - 0.6:.2f} {0.24 * group - 0.2:.2f} .1"><freejoint/>'
    f'<geom type="{shape}" size=".1 .1 .1" group="{group}"/></body>'
    for group in range(3)
    for k, shape in enumerate(("box", "sphere", "cylinder", "ellipsoid", "box", "sphere"))
)
GROUPS = f"<mujoco><worldbody><geom type='plane' size='3 3 .1'/>{GROUPS}</worldbody></mujoco>"
HULLS = """<mujoco><asset><mesh name="rock" builtin="sphere" params="1" scale=".12 .09 .07"/></asset><worldbody>
  <geom type="plane" size="3 3 .1"/><replicate count="4" offset=".26 0 0"><replicate count="4" offset="0 .24 0">
  <replicate count="3" offset=".02 .03 .25" euler="20 30 10"><body pos="-.4 -.4 .2"><freejoint/>
  <geom type="mesh" mesh="rock" rgba=".6 .65 .75 1"/></body></replicate></replicate></replicate></worldbody></mujoco>"""
OVERLAYS = """TEXTURE TENDON RANGEFINDER CONSTRAINT JOINT CAMERA LIGHT CONTACTPOINT CONTACTFORCE CONTACTSPLIT COM
    INERTIA CONVEXHULL TRANSPARENT ISLAND STATIC""".split()
FRAMES = "BODY GEOM SITE CAMERA LIGHT CONTACT WORLD".split()
INSIDE = {"CONTACTPOINT", "CONTACTFORCE", "CONTACTSPLIT", "COM", "INERTIA", "BODY", "GEOM", "CONTACT", "JOINT"}
OFF = {"TEXTURE", "STATIC"}  # the pictures show what it looks like without


def option(name=None):
    """A MjvOption with one overlay, or frame in small letters, alone."""
    made = tisim.MjvOption()
    for flag in ("TENDON", "RANGEFINDER"):
        made.flags[tisim.mjtVisFlag[f"mjVIS_{flag}"]] = 0
    if name is None:
        return made
    shown = [name] + ["TRANSPARENT"] * (name.upper() in INSIDE) + ["CONTACTFORCE"] * (name == "CONTACTSPLIT")
    for flag in shown:
        if flag.isupper():
            made.flags[tisim.mjtVisFlag[f"mjVIS_{flag}"]] = flag not in OFF
    if name.islower():
        made.frame = tisim.mjtFrame[f"mjFRAME_{name.upper()}"]
    return made


def overlays(names=None, width=WIDTH, height=HEIGHT):
    """Pictures of one scene by the name of the overlay that they show; "none" has none."""
    m = tisim.Model.from_xml_string(SCENE)
    d = tisim.Data(m)
    d.xfrc_applied[m.body("low").id, 0] = 60.0  # so that friction holds something
    tisim.step(m, d, 150)
    tisim.forward(m, d)
    camera = tisim.MjvCamera()
    camera.azimuth, camera.elevation, camera.distance, camera.lookat = 100, -14, 2.7, (0, 0, 0.58)
    found = {}
    with tisim.Renderer(m, height, width) as renderer:
        for name in [None, *(names or [*OVERLAYS, *map(str.lower, FRAMES)])]:
            renderer.update_scene(d, camera, option(name))
            found[name or "none"] = renderer.render()
    return found


def after(m, *seconds, width=WIDTH, height=HEIGHT, **look):
    """Pictures of a model at these times."""
    d = tisim.Data(m)
    for t in seconds:
        tisim.step(m, d, round((t - float(d.time)) / m.opt.timestep))
        tisim.forward(m, d)
        yield render(m, d, width, height, **look)


def scenes():
    """Pictures of scenes by name."""
    dominos = tisim.Model.from_scene("dominos", n=100)
    yield from zip(("dominos_before", "dominos_after"), after(dominos, 0, 6))
    yield "pile_islands", next(after(tisim.Model.from_scene("pile", n=150), 0.5, color="island"))
    asleep = tisim.Model.from_scene("pyramids", n=9, sleep=True)
    yield "sleeping", next(after(asleep, 0.3))
    yield "asleep", next(after(asleep, 0.3, color="asleep"))
    yield "groups", next(after(tisim.Model.from_xml_string(GROUPS), 0.3, color="group"))
    yield "meshes", next(after(tisim.Model.from_xml_string(HULLS), 1.0))
    yield "height_field", next(after(tisim.Model.from_scene("terrain"), 1.0))
    wall = tisim.Model.from_scene("wall", n=100)
    for name, look in (("speed", dict(color="speed")), ("contacts", dict(show_contacts=True))):
        yield name, next(after(wall, 0.9, **look))
    yield "force", next(after(tisim.Model.from_scene("pile", n=150), 2.0, color="force"))
    yield "chains", next(after(tisim.Model.from_scene("pyramid"), 1.0, chains=True))


if __name__ == "__main__":
    from PIL import Image

    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {f"overlay_{k}_frame" if k.islower() and k != "none" else f"overlay_{k.lower()}": v
                for k, v in overlays().items()} | dict(scenes())  # fmt: skip
    for name, picture in pictures.items():
        Image.fromarray(np.ascontiguousarray(picture)).save(folder / f"{name}.webp", quality=80, method=6)
    print(f"{len(pictures)} pictures in {folder}")
