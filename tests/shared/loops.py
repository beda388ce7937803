"""Scenes with connects and welds for dynamics="lcp": a parallelogram, bridges, random trees with loops, rings."""

import numpy as np
from scipy.integrate import solve_ivp

import tisim
from shared.joints import tree

# the sides are 0.4 m, what couples them is 0.5 m
PARALLELOGRAM = """<mujoco><option timestep="{h}"><flag contact="disable"/></option><worldbody>
<body pos="0 0 1"><joint axis="0 1 0"/><geom type="box" size=".02 .02 .2" pos="0 0 -.2"/>
<body pos="0 0 -.4"><joint axis="0 1 0"/><geom type="box" size=".25 .02 .02" pos=".25 0 0"/>
<body name="side" pos=".5 0 0"><joint axis="0 1 0"/><geom type="box" size=".02 .02 .2" pos="0 0 .2"/></body></body>
</body></worldbody><equality><connect body1="side" anchor="0 0 .4"/></equality></mujoco>"""

CARRIED = """<mujoco><option timestep="0.005"/><worldbody><body name="hand" mocap="true" pos="0 0 1"/>
<body name="box" pos="0 0 .9"><freejoint/><geom type="box" size=".1 .05 .05"/></body></worldbody>
<equality><weld body1="hand" body2="box"/></equality></mujoco>"""


def pendulum(m, angle, seconds):
    """Angle of the parallelogram's sides after this time, let go from an angle."""
    length, mass = 0.4, np.asarray(m.body_mass)[1:]
    inertia = 2 * (np.asarray(m.body_inertia)[1, 1] + mass[0] * 0.2**2) + mass[1] * length**2
    torque = 9.81 * (2 * mass[0] * 0.2 + mass[1] * length)
    ran = solve_ivp(lambda t, y: (y[1], -torque / inertia * np.sin(y[0])), (0, seconds), (angle, 0), rtol=1e-10)
    return ran.y[0, -1]


def bridge(n, free):
    """MJCF of n planks of 0.2 m that hang between two posts, nearer to one another than the bridge is long."""
    half = n // 2
    slope = 20.0  # degrees, of both halves
    s, c = np.sin(np.radians(slope)), np.cos(np.radians(slope))
    plank = '<geom type="box" size=".09 .3 .02" pos=".1 0 0"/>'
    joint = '<joint axis="0 1 0" damping="20"/>'
    if not free:
        body = ""
        for k in range(n):
            turn = slope if k == 0 else -2 * slope if k == half else 0
            body += f'<body name="{k}" pos="{0.2 * (k > 0)} 0 0" euler="0 {turn} 0">{joint}{plank}'
        body += "</body>" * n
        seams = f'<connect body1="{n - 1}" anchor=".2 0 0"/>'
    else:
        body, seams = "", ""
        x, z = 0.0, 0.0
        for k in range(n):
            turn = slope if k < half else -slope
            body += f'<body name="{k}" pos="{x} 0 {z}" euler="0 {turn} 0"><freejoint/>{plank}</body>'
            x, z = x + 0.2 * c, z + (-0.2 * s if k < half else 0.2 * s)
            for y in (-0.3, 0.3):
                seams += f'<connect body1="{k}" anchor="0 {y} 0"/>' if k == 0 else ""
                other = f'body2="{k + 1}"' if k < n - 1 else ""
                seams += f'<connect body1="{k}" {other} anchor=".2 {y} 0"/>'
    medium = ' density="40" viscosity="4"' if free else ""
    return (
        f'<mujoco><option timestep=".005"{medium}><flag contact="disable"/></option><worldbody>{body}</worldbody>'
        f"<equality>{seams}</equality></mujoco>"
    )


def random_loops(rng, n, weld):
    """MJCF of a random tree of a free body and n others by balls, with a connect of two bodies that have at least
    another one between them, and of two others a weld, or a connect of one to the world."""
    text = tree(rng, ["ball"] * n)
    parent = tisim.Model.from_xml_string(text).body_parentid

    def line(b):
        return {b} | (line(int(parent[b])) if b > 0 else set())

    a, b, c, d = 1, 1, 1, 1
    while len(line(a) ^ line(b)) < 3 or len(line(c) ^ line(d)) < 3 or line(c) & line(d) & ({a, b} - {1}):
        a, b, c, d = 1 + rng.choice(n + 1, 4, replace=False)
    place = 'anchor="{} {} {}"'.format(*rng.uniform(-0.2, 0.2, 3))
    ends = f'<connect body1="body{a - 1}" body2="body{b - 1}" {place}/>'
    ends += f'<weld body1="body{c - 1}" body2="body{d - 1}"/>' if weld else f'<connect body1="body{c - 1}" {place}/>'
    return text.replace("</mujoco>", f"<equality>{ends}</equality></mujoco>")


def many(n):
    """MJCF of n rings of three links and one that a weld adds, which fall on one another."""
    link = '<geom type="capsule" size=".04" fromto=".04 0 0 .16 0 0"/>'
    rings, ends = "", ""
    for i in range(n):
        rings += (
            f'<body name="r{i}" pos="{0.4 * (i % 3)} {0.4 * (i // 3 % 3)} {0.2 + 0.1 * i}" euler="{30 * i} 0 {40 * i}">'
            f'<freejoint/>{link}<body pos=".2 0 0" euler="0 120 0"><joint type="ball"/>{link}'
            f'<body name="e{i}" pos=".2 0 0" euler="0 120 0"><joint axis="0 1 0"/>{link}</body></body></body>'
            f'<body name="w{i}" pos="{0.4 * (i % 3)} {0.4 * (i // 3 % 3)} {0.4 + 0.1 * i}"><freejoint/>'
            '<geom type="sphere" size=".04"/></body>'
        )
        ends += f'<connect body1="e{i}" body2="r{i}" anchor=".2 0 0"/><weld body1="r{i}" body2="w{i}"/>'
    floor = '<geom type="plane" size="9 9 1"/>'
    return (
        f'<mujoco><option timestep="0.005"/><worldbody>{floor}{rings}</worldbody><equality>{ends}</equality></mujoco>'
    )
