"""Scenes for sensors of rays, distances, places and touched meshes: a room, an arm at a shelf, a rover."""

SHAPES = dict(sphere='size=".1"', capsule='size=".08 .1"', ellipsoid='size=".1 .15 .08"', cylinder='size=".1 .12"',
              box='size=".1 .12 .08"', mesh='mesh="gem"')  # fmt: skip
BODIES = "".join(
    f'<body name="b_{k}" pos="{0.35 * i - 1:.2f} 0 .6"><freejoint/><geom name="g_{k}" type="{k}" {size}/>'
    f'<site name="s_{k}" type="{"box" if k == "mesh" else k}" size=".12 .14 .13" euler="20 40 10"/></body>'
    for i, (k, size) in enumerate(SHAPES.items())
)
ROOM = f"""<mujoco><option ccd_iterations="150"/>
<asset><mesh name="gem" vertex=".1 .1 .1 -.1 .1 .1 .1 -.1 .1 .1 .1 -.1 -.1 -.1 .1 .12 -.1 -.13 0 0 -.2 .2 0 0"/>
<mesh name="pad" builtin="plate" params="5 4" scale=".2 .2 .1"/>
<hfield name="hills" nrow="4" ncol="4" size="1 1 .2 .2" elevation="0 1 0 2 1 1 0 2 1 0 1 1 0 0 1 2"/></asset>
<worldbody><geom name="floor" type="plane" size="5 5 1"/><camera name="cam" pos="0 0 .7"/>
<body name="hills"><geom type="hfield" hfield="hills" pos="3 0 0" contype="2" conaffinity="2"/>
 <geom size=".1" pos="3 0 1"/>
 <geom name="ghost" size=".3" pos="0 0 1.5" rgba="0 0 0 0" contype="0" conaffinity="0"/></body>
<site name="up" pos="0 .1 .01"/><site name="down" pos="0 0 3" euler="180 0 0"/>
 <site name="side" pos="-2 0 .3" euler="0 90 0"/>
<body name="hand" pos="0 .3 .3"><freejoint/><geom name="pad" type="box" size=".2 .2 .1"/>
 <site name="palm" pos="0 0 .05"/>
 <body pos="0 0 -.1"><geom type="box" size=".2 .2 .05"/></body></body>{BODIES}</worldbody>
<sensor>%s</sensor></mujoco>"""
PAIRS = [(a, b) for a in SHAPES for b in SHAPES if a != b]
KINDS = dict(
    rangefinder=[f'<rangefinder site="{name}"{cut}/>' for cut in ("", ' cutoff=".3"')
                 for name in ("up", "down", "side", "palm", *(f"s_{k}" for k in SHAPES))],
    insidesite=[f'<insidesite site="s_{k}" objtype="{kind}" objname="{name}"/>' for k in SHAPES
                for kind, name in (("camera", "cam"), ("body", "hand"), ("xbody", "hand"), ("site", "palm"),
                                   *(("geom", f"g_{b}") for b in SHAPES))],
    tactile=['<tactile geom="pad" mesh="pad"/>', '<tactile geom="g_box" mesh="pad"/>'],
    distance=[f'<distance geom1="g_{a}" geom2="g_{b}" cutoff="1"/>' for a, b in PAIRS],
    normal=[f'<normal geom1="g_{a}" geom2="g_{b}" cutoff=".2"/>' for a, b in PAIRS],
    fromto=[f'<fromto geom1="g_{a}" geom2="g_{b}" cutoff="1"/>' for a, b in PAIRS],
    penetration=[f'<fromto geom1="g_{a}" body2="hand"/>' for a in SHAPES],
    body=[f'<{tag} body1="{a}" body2="b_{b}" cutoff=".6"/>' for tag in ("distance", "normal", "fromto")
          for a in ("world", "hand", "hills") for b in SHAPES],
)  # fmt: skip
# an arm whose joints, mocap tray and welded parts place everything: no free body, side sites and pads on links
SHELF = """<mujoco><option ccd_iterations="150"/><asset>
<mesh name="wedge" vertex="0 0 0 .3 0 0 0 .3 0 .3 .3 0 0 0 .15 .3 0 .15"/>
<mesh name="skin" builtin="plate" params="6 3" scale=".1 .05 .1"/></asset>
<worldbody><site name="eye" pos="1.2 0 .9" euler="0 -110 0"/>
<site name="door" type="box" size=".4 .6 .3" pos=".7 0 .5"/>
<body name="shelf" pos=".8 0 .3"><geom name="board" type="box" size=".3 .5 .02"/>
 <geom name="back" type="box" size=".02 .5 .3" pos=".3 0 .3"/>
 <geom name="vase" type="cylinder" size=".08 .15" pos="0 .3 .18"/>
 <geom name="wedge" type="mesh" mesh="wedge" pos="-.2 -.4 .05"/></body>
<body name="tray" mocap="true" pos=".4 -.3 .6"><geom name="tray" type="box" size=".2 .15 .02"/>
 <site name="hatch" type="cylinder" size=".25 .3"/></body>
<body name="upper" pos="0 0 .5"><joint axis="0 0 1"/><joint axis="0 1 0"/>
 <geom name="upper" type="capsule" fromto="0 0 0 .4 0 0" size=".05"/><site name="elbow" pos=".35 0 .05"/>
 <body name="lower" pos=".4 0 0"><joint axis="0 1 0"/><joint type="slide" axis="1 0 0"/>
  <geom name="lower" type="capsule" fromto="0 0 0 .3 0 0" size=".04"/><camera name="lens" pos=".3 0 .1"/>
  <body name="hand" pos=".35 0 0"><joint type="ball"/><geom name="tip" type="ellipsoid" size=".08 .06 .05"/>
   <geom name="plate" type="box" size=".1 .05 .02" pos=".05 0 -.05"/><site name="laser" pos=".1 0 0" euler="0 90 0"/>
   <site name="beam" euler="180 0 0"/><site name="grip" type="ellipsoid" size=".3 .2 .25"/></body></body></body>
</worldbody><sensor><rangefinder site="eye"/><rangefinder site="elbow"/><rangefinder site="laser"/>
<rangefinder site="beam" cutoff=".4"/><rangefinder site="hatch"/>
<distance geom1="tip" geom2="vase" cutoff="1"/><distance body1="hand" body2="shelf" cutoff=".7"/>
<distance geom1="lower" body2="tray" cutoff=".5"/><normal geom1="upper" geom2="back" cutoff="2"/>
<normal geom1="tip" geom2="wedge" cutoff="1"/><normal body1="lower" body2="shelf" cutoff=".3"/>
<fromto geom1="tip" geom2="tray" cutoff="1"/><fromto body1="tray" body2="shelf" cutoff="1"/>
<fromto geom1="vase" body2="lower" cutoff=".6"/>
<insidesite site="door" objtype="body" objname="hand"/><insidesite site="door" objtype="camera" objname="lens"/>
<insidesite site="hatch" objtype="geom" objname="tip"/><insidesite site="grip" objtype="geom" objname="vase"/>
<insidesite site="grip" objtype="xbody" objname="tray"/>
<tactile geom="plate" mesh="skin"/><tactile geom="board" mesh="skin"/><tactile geom="tip" mesh="skin"/>
</sensor></mujoco>"""
# a vehicle over hills, which its pads do not touch (MuJoCo stops there), with rays in all directions
ROVER = """<mujoco><option ccd_iterations="150" cone="elliptic"/><default><geom condim="4"/></default><asset>
<mesh name="tread" builtin="plate" params="4 4" scale=".15 .15 .1"/>
<hfield name="land" nrow="5" ncol="5" size="2 2 .3 .2" elevation="0 1 0 2 1 1 0 2 1 0 0 1 1 0 0 1 2 0 1 0 1 1 0 2 0"/>
</asset><worldbody><geom name="land" type="hfield" hfield="land" contype="2" conaffinity="2"/>
<geom name="post" type="cylinder" size=".1 .5" pos=".6 .4 .6" euler="0 15 0"/>
<geom name="veil" type="box" size=".01 .5 .5" pos="-.8 0 .6" contype="0" conaffinity="0"/>
<site name="goal" type="sphere" size=".5" pos=".2 .1 .5"/><site name="gate" type="capsule" size=".3 .3" pos="-.3 0 .5"/>
<body name="rover" pos="0 0 .5"><freejoint/><geom name="hull" type="box" size=".2 .12 .05"/>
 <geom name="mast" type="capsule" fromto="0 0 .05 0 0 .3" size=".03"/><camera name="mast" pos="0 0 .35"/>
 <site name="ahead" pos=".2 0 0" euler="0 90 0"/><site name="left" pos="0 .12 0" euler="-90 0 0"/>
 <site name="below" euler="160 0 0"/><site name="hold" type="box" size=".25 .2 .1"/>
 <body name="wheel" pos=".15 .15 -.05"><joint axis="0 1 0"/>
  <geom name="wheel" type="cylinder" size=".08 .03" euler="90 0 0"/>
  <site name="hub" euler="0 20 0"/></body>
 <body name="nose" pos=".25 0 0"><joint type="slide" axis="1 0 0"/><geom name="nose" size=".06"/></body></body>
<body name="rock" pos=".4 0 .6"><freejoint/><geom name="rock" type="ellipsoid" size=".12 .1 .08"/>
 <geom name="chip" size=".05" pos="0 0 .1"/></body>
<body name="log" pos="-.3 .2 .6"><freejoint/><geom name="log" type="capsule" size=".07 .2" euler="90 0 0" contype="3"
 conaffinity="3"/></body>
</worldbody><sensor><rangefinder site="ahead"/><rangefinder site="left"/><rangefinder site="below"/>
<rangefinder site="hub"/><rangefinder site="ahead" cutoff=".5"/>
<distance geom1="nose" geom2="rock" cutoff="1"/><distance body1="rover" body2="log" cutoff="1"/>
<distance body1="rock" body2="world" cutoff=".4"/><distance geom1="wheel" geom2="post" cutoff="2"/>
<normal geom1="hull" geom2="log" cutoff="1"/><normal body1="wheel" body2="rock" cutoff="1"/>
<normal geom1="chip" geom2="veil" cutoff="2"/><fromto geom1="mast" geom2="post" cutoff="1"/>
<fromto body1="log" body2="rock" cutoff="1"/><fromto geom1="veil" body2="rover" cutoff="2"/>
<insidesite site="goal" objtype="body" objname="rover"/><insidesite site="gate" objtype="geom" objname="log"/>
<insidesite site="hold" objtype="xbody" objname="rock"/><insidesite site="goal" objtype="camera" objname="mast"/>
<insidesite site="goal" objtype="site" objname="hub"/>
<tactile geom="hull" mesh="tread"/><tactile geom="wheel" mesh="tread"/><tactile geom="rock" mesh="tread"/>
</sensor></mujoco>"""
ROOMS = dict(room=ROOM % "".join(text for kind in KINDS.values() for text in kind), shelf=SHELF, rover=ROVER)
