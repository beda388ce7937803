"""Models with many sensors: three worlds, and all sensors of a type that they allow."""

import itertools

import mujoco

# objects of each world by kind, named so in its MJCF
NAMES = dict(
    arm=dict(body="base upper lower hand", geom="stone link", site="a b c h", camera="fixed chase eye",
             joint="shoulder elbow slide", limited="shoulder elbow", ball="wrist", tendon="fixed rope",
             actuator="motor winch push"),
    walker=dict(body="torso thigh foot", geom="trunk sole", site="top knee heel", camera="behind watch",
                joint="hip knee", limited="hip knee", ball="neck", tendon="cable", actuator="hip muscle"),
    crowd=dict(body="post one two pointer ride", geom="first second", site="root s1 s2 tip m", camera="look top",
               joint="lift tilt", limited="lift socket", ball="socket neck", tendon="join", actuator="lift crank"),
)  # fmt: skip
ARM = """<mujoco><option integrator="{integrator}" gravity="1 2 -9" magnetic=".3 -.5 .7"/>
<default><geom contype="0" conaffinity="0"/><joint damping=".2" armature=".01"/></default><worldbody>
<site name="a" pos="0 0 1.4" euler="10 20 30"/><geom name="stone" type="box" size=".1 .2 .1" pos="1 0 0" euler="5 0 9"/>
<camera name="fixed" pos="0 -3 1" xyaxes="1 0 0 0 .3 1" resolution="640 480"/>
<body name="base" pos="0 0 1" euler="0 0 40"><geom size=".1"/>
 <body name="upper"><joint name="shoulder" axis="0 1 .2" range="-40 20" limited="true" margin=".1"/>
  <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/><site name="b" pos=".2 0 .1" euler="0 70 0"/>
  <camera name="chase" mode="trackcom" pos="0 -1 .2" xyaxes="1 0 0 0 0 1" resolution="64 48" sensorsize=".01 .007"
   focal=".02 .03"/>
  <body name="lower" pos=".4 0 0"><joint name="elbow" axis="0 1 0" range="-5 5" limited="true" stiffness="3"/>
   <geom name="link" type="capsule" fromto="0 0 0 .3 0 0" size=".04" euler="0 10 0"/><site name="c" pos=".2 0 .05"/>
   <joint name="slide" type="slide" axis="1 0 0" damping="4"/>
   <camera name="eye" mode="targetbody" target="hand" pos=".1 .2 .3" resolution="32 32"/>
   <body name="hand" pos=".3 0 0"><joint name="wrist" type="ball"/><geom type="box" size=".05 .03 .1" pos=".1 0 .02"/>
    <site name="h" pos=".1 .02 0" euler="0 0 45"/></body></body></body></body></worldbody>
<tendon><fixed name="fixed" range="-.1 .2" limited="true" margin=".05"><joint joint="shoulder" coef="1"/>
 <joint joint="elbow" coef="-.7"/></fixed>
 <spatial name="rope" range="0 .7" limited="true" stiffness="3"><site site="a"/><site site="c"/></spatial></tendon>
<actuator><motor name="motor" joint="shoulder" gear="3"/><position name="winch" tendon="rope" kp="5"/>
 <motor name="push" site="h" gear="1 0 0 0 .5 0"/><motor tendon="rope"/></actuator>
<sensor>{sensors}</sensor></mujoco>"""
WALKER = """<mujoco><option integrator="{integrator}" cone="elliptic" magnetic="0 .4 0"/>
<default><joint damping=".1"/></default><worldbody><geom type="plane" size="5 5 .1"/>
<body name="torso" pos="0 0 .62"><freejoint/><geom name="trunk" type="box" size=".2 .1 .1"/>
 <site name="top" pos="0 0 .1" euler="0 20 0"/>
 <body pos="0 0 .2"><joint name="neck" type="ball"/><geom size=".05" pos="0 .01 .05"/></body>
 <camera name="behind" mode="track" pos="-1 0 .5" xyaxes="0 -1 0 0 0 1" resolution="100 80"/>
 <body name="thigh" pos="0 0 -.1"><joint name="hip" axis="0 1 0" range="-10 10" limited="true"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".04"/><site name="knee" pos="0 0 -.2"/>
  <body name="foot" pos="0 0 -.2"><joint name="knee" axis="0 1 0" range="-3 2" limited="true"/>
   <geom name="sole" type="box" size=".1 .08 .03" pos=".03 0 -.2"/><site name="heel" pos="-.05 0 -.2"/></body></body>
</body><camera name="watch" mode="targetbodycom" target="torso" pos="2 1 1" resolution="64 48"/></worldbody>
<tendon><spatial name="cable" range="0 .6" limited="true" margin=".02"><site site="top"/><site site="knee"/>
 <site site="heel"/></spatial></tendon>
<actuator><position name="hip" joint="hip" kp="20"/>
 <muscle name="muscle" tendon="cable" lengthrange=".2 .6" force="10"/></actuator>
<sensor>{sensors}</sensor></mujoco>"""
CROWD = """<mujoco><option integrator="{integrator}" density="50" viscosity=".1" magnetic="1 1 1"/>
<default><joint damping=".1"/></default><worldbody><site name="root" pos="0 0 2"/>
<geom name="first" type="plane" size="5 5 .1"/>
<body name="post" pos="1 0 .5"><geom size=".1" contype="0" conaffinity="0"/>
 <body name="two" pos="0 0 .3"><joint name="lift" type="slide" axis="0 0 1" range="-.1 .1" limited="true"/>
  <geom name="second" type="box" size=".1 .1 .1"/><joint name="tilt" axis="1 0 0"/><site name="s2" pos=".1 0 0"/>
  <body pos="0 0 .3"><joint name="neck" type="ball"/><geom size=".08" pos=".02 0 0"/></body></body></body>
<body name="one" pos="-.3 0 .4"><freejoint/><geom type="ellipsoid" size=".1 .2 .1"/><site name="s1" pos="0 .1 0"/>
 <camera name="look" mode="targetbody" target="two" resolution="64 64"/></body>
<body name="pointer" pos="0 1 .5"><joint name="socket" type="ball" range="0 30" limited="true" margin=".3"/>
 <geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/><site name="tip" pos=".3 0 0" euler="90 0 0"/></body>
<body name="ride" mocap="true" pos="0 -1 1" euler="0 30 0"><site name="m" pos=".1 0 0"/>
 <camera name="top" pos="0 0 2" resolution="64 64"/></body></worldbody>
<tendon><fixed name="join" range="-.05 .05" limited="true"><joint joint="lift" coef="1"/><joint joint="tilt" coef=".3"/>
 </fixed></tendon>
<equality><weld body1="one" body2="ride" relpose="0 .3 0 1 0 0 0"/></equality>
<actuator><velocity name="lift" joint="lift" kv="5"/><motor tendon="join"/>
 <motor name="crank" cranksite="s2" slidersite="root" cranklength="3"/></actuator><sensor>{sensors}</sensor></mujoco>"""
WORLDS = dict(arm=(ARM, "Euler"), walker=(WALKER, "Euler"), crowd=(CROWD, "implicitfast"))
FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
OF = dict.fromkeys("accelerometer velocimeter gyro force torque magnetometer".split(), "site")
OF |= dict.fromkeys(("jointpos", "jointvel", "jointactuatorfrc"), "joint")
OF |= dict.fromkeys(("tendonpos", "tendonvel", "tendonactuatorfrc"), "tendon")
OF |= dict.fromkeys(("actuatorpos", "actuatorvel", "actuatorfrc"), "actuator")
OF |= dict.fromkeys(("ballquat", "ballangvel"), "ball")
OF |= dict.fromkeys(("jointlimitpos", "jointlimitvel", "jointlimitfrc"), "limited")
OF |= dict.fromkeys(("tendonlimitpos", "tendonlimitvel", "tendonlimitfrc"), "tendon")
OF |= dict.fromkeys(("subtreecom", "subtreelinvel", "subtreeangmom"), "body")
PLAIN = ("e_potential", "e_kinetic", "clock")
TYPES = (*OF, *FRAMES, "framelinacc", "frameangacc", "camprojection", *PLAIN, "user")


def objects(world):
    """(mjtObj's word, name) of all objects with frames."""
    names = NAMES[world]
    return [
        (word, name)
        for kind in ("body", "geom", "site", "camera")
        for word in (("body", "xbody") if kind == "body" else (kind,))
        for name in names[kind].split()
    ]


def sensors_of(world, tag):
    """MJCF of all sensors of a type that a world allows; of frames, each object, and pairs of kinds of objects."""
    names = NAMES[world]
    if tag in PLAIN:
        return [f"<{tag}/>"]
    if tag == "user":
        return ['<user dim="2"/>', '<user dim="3" needstage="vel" cutoff="1"/>']
    if tag == "camprojection":
        pairs = itertools.product(names["site"].split(), names["camera"].split())
        return [f'<camprojection site="{site}" camera="{camera}"/>' for site, camera in pairs]
    if tag in OF:
        word = {"limited": "joint", "ball": "joint"}.get(OF[tag], OF[tag])
        return [f'<{tag} {word}="{name}"/>' for name in names[OF[tag]].split()]
    found = [f'<{tag} objtype="{kind}" objname="{name}"/>' for kind, name in objects(world)]
    if tag in FRAMES:
        one = dict(objects(world)).items()  # the last of each kind
        first = dict(reversed(objects(world))).items()
        found += [
            f'<{tag} objtype="{a}" objname="{x}" reftype="{b}" refname="{y}"/>'
            for (a, x), (b, y) in itertools.product(first, one)
        ]
    return found


def world(name, types=TYPES, integrator=None, more=""):
    """(MJCF of a world with all sensors of these types, {type: how many})."""
    text, default = WORLDS[name]
    lists = {tag: sensors_of(name, tag) for tag in types}
    sensors = "".join(itertools.chain(*lists.values())) + more
    return text.format(sensors=sensors, integrator=integrator or default), {tag: len(s) for tag, s in lists.items()}


def shake(pair, rng):
    """A random state and random inputs in MuJoCo's data."""
    mm, md = pair.mm, pair.md
    mujoco.mj_resetData(mm, md)
    mujoco.mj_integratePos(mm, md.qpos, rng.normal(0, 0.15, mm.nv), 1.0)
    md.qvel[:] = rng.normal(size=mm.nv)
    md.ctrl[:] = rng.uniform(0, 1, mm.nu)
    md.act[:] = rng.uniform(0, 1, mm.na)
    md.qfrc_applied[:] = rng.normal(size=mm.nv)
    md.xfrc_applied[1:] = rng.normal(size=(mm.nbody - 1, 6))
    md.time = rng.uniform(0, 3)
