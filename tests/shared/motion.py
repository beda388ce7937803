"""Models that move, one feature each: for tests of integrators, passive forces, inverse dynamics and derivatives."""

import numpy as np

CHAIN = """<body pos="0 0 1"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size=".04" fromto="0 0 0 .3 0 0"/>
<body pos=".3 0 0"><joint type="hinge" axis="1 1 0"/><geom type="box" size=".1 .05 .03" pos=".1 0 0"/>
<body pos=".2 0 0"><joint type="slide" axis="1 0 1"/><geom size=".05"/></body>
<body pos="0 .2 0"><joint type="ball"/><geom type="ellipsoid" size=".1 .05 .03" pos="0 .1 0"/></body></body></body>"""
FREE = """<body pos="0 0 1"><freejoint/><geom type="ellipsoid" size=".1 .2 .3" pos=".1 0 0" euler="10 20 30"/>
<geom size=".08"/><body pos="0 0 .4"><joint type="ball"/><geom type="capsule" size=".05 .1"/></body></body>"""
BRICK = '<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/></body>'
FLOOR = '<geom type="plane" size="5 5 .1"/>'
LANDED = """<body pos="0 0 .095"><freejoint/><geom size=".1"/></body>
<body pos="1 0 .13" euler="80 10 0"><freejoint/><geom type="capsule" size=".05 .1"/></body>
<body pos="2 0 .099"><freejoint/><geom type="box" size=".1 .15 .1"/></body>
<body pos="2.02 0 .297"><freejoint/><geom type="box" size=".1 .1 .1"/></body>"""
ALL = CHAIN + FREE.replace('pos="0 0 1"', 'pos="2 0 1"', 1) + BRICK.replace('pos="0 0 1"', 'pos="3 0 1"', 1)
AIR = 'density="50" viscosity=".5"'


def xml(world, option="", joint="", geom="", flags=""):
    """MJCF of a world, with options, and defaults of joints and geoms."""
    return (
        f'<mujoco><option timestep="0.004" {option}><flag {flags}/></option><default><joint {joint}/><geom {geom}/>'
        f"</default><worldbody>{world}</worldbody></mujoco>"
    )


MODELS = {
    "hinge": xml('<body><joint axis="0 1 0" pos=".1 0 .2"/><geom type="box" size=".1 .2 .3"/></body>'),
    "slide": xml('<body><joint type="slide" axis="1 0 1"/><geom type="box" size=".1 .2 .3"/></body>'),
    "ball": xml('<body><joint type="ball" pos="0 0 .3"/><geom type="box" size=".1 .2 .3"/></body>'),
    "free": xml(BRICK),
    "free_off_centre": xml(FREE),
    "chain": xml(CHAIN),
    "joints_of_one_body": xml(
        '<body><joint type="slide"/><joint type="slide" axis="0 1 0"/><joint type="ball"/>'
        '<geom type="cylinder" size=".05 .2" pos="0 0 .2"/></body>'
    ),
    "armature": xml(CHAIN, joint='armature=".1"'),
    "damping": xml(ALL, joint='damping=".3"'),
    "no_eulerdamp": xml(CHAIN, joint='damping=".3"', flags='eulerdamp="disable"'),
    "no_damper": xml(CHAIN, joint='damping=".3" stiffness="2"', flags='damper="disable"'),
    "stiffness": xml(ALL.replace("<freejoint/>", '<joint type="free" stiffness="3"/>'), joint='stiffness="3"'),
    "no_spring": xml(CHAIN, joint='damping=".3" stiffness="2"', flags='spring="disable"'),
    "springref": xml(CHAIN.replace("hinge\"", 'hinge" springref="30"'), joint='stiffness="3"'),
    "springdamper": xml(CHAIN, joint='springdamper=".05 1.2"'),
    "gravcomp": xml(CHAIN.replace("<body pos=\".2", '<body gravcomp=".7" pos=".2')),
    "no_gravity": xml(ALL.replace("<body pos=\".2", '<body gravcomp=".7" pos=".2'), flags='gravity="disable"'),
    "medium_box": xml(ALL, AIR),
    "medium_ellipsoid": xml(ALL, AIR, geom='fluidshape="ellipsoid"'),
    "density": xml(ALL, 'density="100"'),
    "viscosity": xml(ALL, 'viscosity="2"'),
    "wind": xml(ALL, AIR + ' wind="3 -2 1"'),
    "wind_ellipsoid": xml(ALL, AIR + ' wind="3 -2 1"', geom='fluidshape="ellipsoid"'),
    "fluidcoef": xml(ALL, AIR, geom='fluidshape="ellipsoid" fluidcoef="1 .1 2 .5 3"'),
    "some_fluidshape": xml(ALL.replace('type="box"', 'type="box" fluidshape="ellipsoid"'), AIR),
    "all_shapes_in_medium": xml(
        "".join(
            f'<body pos="{k} 0 0"><freejoint/><geom type="{kind}" size=".1 .2 .3" fluidshape="ellipsoid"/></body>'
            for k, kind in enumerate(("sphere", "capsule", "ellipsoid", "cylinder", "box"))
        ), AIR),
    "no_passive_forces": xml(ALL, AIR, joint='damping=".3"', flags='spring="disable" damper="disable"'),
    "limits": xml(CHAIN.replace('type="hinge"', 'type="hinge" limited="true" range="-1 1"').replace(
        'type="ball"', 'type="ball" limited="true" range="0 1"')),
    "frictionloss": xml(CHAIN, joint='frictionloss=".2"'),
    "contacts": xml(FLOOR + LANDED),
    "contacts_in_medium": xml(FLOOR + LANDED + CHAIN.replace("0 0 1", "0 1 .06", 1), AIR, joint='damping=".2"'),
    "contacts_condim6": xml(FLOOR + LANDED, geom='condim="6"'),
    "contacts_condim1": xml(FLOOR + LANDED, geom='condim="1"'),
}  # fmt: skip
DRIVEN = """<body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".1"/>
<geom type="capsule" size=".04" fromto="0 0 0 .3 0 0"/><site name="s0" pos=".1 0 .1"/>
<body pos=".3 0 0"><joint name="b" axis="1 1 0"/><geom type="box" size=".1 .05 .03" pos=".1 0 0"/>
<site name="s1" pos=".1 0 .1"/><body pos=".2 0 0"><joint name="c" type="slide" axis="1 0 1"/><geom size=".05"/></body>
<body pos="0 .2 0"><joint type="ball"/><geom type="ellipsoid" size=".1 .05 .03" pos="0 .1 0"/><site name="s2"/></body>
</body></body><body pos="2 0 1"><freejoint name="f"/><geom type="box" size=".1 .2 .3"/>
<site name="s3" pos=".1 .1 .1" euler="10 20 30"/></body>"""
TENDONS = """<tendon><fixed name="t0" damping=".7" stiffness="3"><joint joint="a" coef="1"/>
<joint joint="c" coef="-.5"/></fixed>
<spatial name="t1" damping="1.5" stiffness="2"><site site="s0"/><site site="s2"/></spatial>
<spatial name="t2" damping=".4"><site site="s1"/><site site="s3"/></spatial></tendon>"""
ACTUATORS = {
    "tendons": "",
    "position": '<position joint="a" kp="10" kv="2"/><position joint="b" kp="5" kv="1" forcerange="-1 1"/>'
    '<velocity joint="c" kv="3"/>',
    "affine": '<damper joint="a" kv="2" ctrlrange="0 1"/><general joint="b" gaintype="affine" gainprm="1 2 .3" '
    'biastype="affine" biasprm="1 2 -3"/><motor joint="c" ctrllimited="true" ctrlrange="-.5 .5"/>',
    "activations": '<intvelocity joint="a" kp="3" kv="1" actrange="-1 1"/><general joint="b" dyntype="filterexact" '
    'dynprm=".01" gainprm="2"/><general joint="c" dyntype="filter" dynprm=".1" actearly="true" gaintype="affine" '
    'gainprm="1 1 1"/><general joint="a" dyntype="integrator" actlimited="true" actrange="-.001 .001"/>',
    "muscle": '<muscle joint="a" lengthrange="-1 1" timeconst=".02 .05"/><muscle tendon="t1" lengthrange=".3 1"/>',
    "sites": '<general joint="f" gear="1 2 3 4 5 6" biastype="affine" biasprm="0 0 -2"/><general site="s3" '
    'gear="1 0 0 0 1 0" biastype="affine" biasprm="0 0 -1"/><general site="s2" refsite="s0" gear="0 1 0 0 0 1" '
    'biastype="affine" biasprm="0 -3 -1"/>',
    "tendon_actuators": '<position tendon="t1" kp="3" kv="1"/><velocity tendon="t0" kv="2"/>',
}
for _name, _text in ACTUATORS.items():
    MODELS[_name] = xml(DRIVEN).replace("</mujoco>", f"{TENDONS}<actuator>{_text}</actuator></mujoco>")
MODELS["no_actuation"] = MODELS["position"].replace("<flag", '<flag actuation="disable"')
MODELS["no_damper_of_tendons"] = MODELS["tendons"].replace("<flag", '<flag damper="disable"')
TOUCHING = ("limits", "frictionloss", "contacts", "contacts_in_medium", "contacts_condim6", "contacts_condim1")
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")


def with_integrator(text, integrator, cone="pyramidal", enable=""):
    """The model with an integrator, a cone and flags that are enabled."""
    words = "".join(f' {flag}="enable"' for flag in enable.split())
    return text.replace("<option", f'<option integrator="{integrator}" cone="{cone}"').replace("<flag", "<flag" + words)


def disturb(pair, rng, size=0.3):
    """A random state and random forces near the start, in MuJoCo's data, then in tisim's."""
    import mujoco

    mujoco.mj_resetData(pair.mm, pair.md)
    mujoco.mj_integratePos(pair.mm, pair.md.qpos, 0.1 * size * rng.normal(size=pair.mm.nv), 1)
    pair.md.qvel[:] = size * rng.normal(size=pair.mm.nv)
    pair.md.qfrc_applied[:] = size * rng.normal(size=pair.mm.nv)
    pair.md.xfrc_applied[:] = size * rng.normal(size=(pair.mm.nbody, 6))
    pair.md.ctrl[:] = rng.normal(size=pair.mm.nu)
    pair.md.act[:] = size * rng.normal(size=pair.mm.na)
    pair.copy_state()


def derivative(m, d, world=0):
    """The derivative of the smooth forces by velocity that an implicit step has left, dense."""
    row, col = (d.host(name)[world] for name in ("qDeriv_row", "qDeriv_col"))
    full = np.zeros((m.nv, m.nv))
    for k in range(m.nv):
        place, a = int(m.dof_Madr[k]), k
        while a >= 0:
            full[a, k], full[k, a] = col[place], row[place]
            place, a = place + 1, int(m.dof_parentid[a])
    return full
