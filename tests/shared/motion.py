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
