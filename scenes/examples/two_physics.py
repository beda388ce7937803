"""A wall that a ball hits, an arch and a bridge of hinges, under both dynamics.

python scenes/examples/two_physics.py [--picture two.webp]     writes two-convex-0.5.webp, two-lcp-0.5.webp, ...
"""

import argparse
import pathlib

import numpy as np

import tisim

BRICK = (0.2, 0.1, 0.08)  # half sizes: along the wall, through it, up [m]
STONES, INNER, OUTER, DEEP = 13, 1.0, 1.3, 0.2  # of the arch: how many, radii, half its width [m]
PLANKS, PITCH = 16, 0.22  # of the bridge, from hinge to hinge [m]
TIMES = (0.5, 4.0)  # of the pictures [s]
VIEW = "76,-13,8.2,0.7,0,0.75"  # azimuth, elevation, distance, point looked at


def colors(i):
    """Colours of stones, in turn."""
    return f"{0.85 - 0.1 * (i % 3):.2f} {0.72 - 0.08 * (i % 4):.2f} {0.5 - 0.06 * (i % 2):.2f} 1"


def wall(courses=9, across=6):
    """Bodies of a wall, and of the ball before it."""
    text, i = "", 0
    for k in range(courses):
        for c in range(across - k % 2):
            x = -3.6 + (2 * c + k % 2 - across + 1) * BRICK[0] * 1.01
            text += (
                f'<body pos="{x:.4f} 0 {BRICK[2] * (2 * k + 1):.4f}"><freejoint/><geom type="box" density="900" '
                f'size="{BRICK[0]} {BRICK[1]} {BRICK[2]}" rgba=".{70 + 7 * (i % 4)} .34 .27 1"/></body>'
            )
            i += 1
    ball = '<geom size=".25" density="3000" rgba=".2 .25 .32 1"/>'
    return text + f'<body name="ball" pos="-3.6 -2.2 .9"><freejoint/>{ball}</body>'


def arch():
    """(assets, bodies) of a half circle of wedges on two piers."""
    half = np.pi / STONES / 2
    corners = [(r * np.sin(s * half), y, r * np.cos(s * half))
               for r in (INNER, OUTER) for s in (-1, 1) for y in (-DEEP, DEEP)]  # fmt: skip
    middle = (INNER + OUTER) / 2
    vertices = " ".join(f"{x:.6f} {y:.6f} {z - middle:.6f}" for x, y, z in corners)
    text = "".join(
        f'<geom type="box" pos="{side * middle} 0 .3" size=".22 .25 .3" rgba=".55 .55 .58 1"/>' for side in (-1, 1)
    )
    for k in range(STONES):
        angle = -np.pi / 2 + (2 * k + 1) * half
        x, z = middle * np.sin(angle), 0.6 + middle * np.cos(angle)
        text += (
            f'<body pos="{x:.6f} 0 {z:.6f}" euler="0 {np.degrees(angle):.6f} 0"><freejoint/>'
            f'<geom type="mesh" mesh="stone" density="2000" friction=".8" rgba="{colors(k)}"/></body>'
        )
    return f'<mesh name="stone" vertex="{vertices}"/>', text


def bridge():
    """(bodies, equalities) of planks that hinges hold to each other, a connect to the far pier; boxes lie on them."""
    length, slope, text, loads = PLANKS * PITCH, 14, "", ""
    first = 3.0
    for k in range(PLANKS):
        turn = slope if k == 0 else -2 * slope if k == PLANKS // 2 else 0
        at = f"{first} 0 1.2" if k == 0 else f"{PITCH} 0 0"
        text += (
            f'<body name="plank{k}" pos="{at}" euler="0 {turn} 0"><joint axis="0 1 0" damping="2"/><geom type="box" '
            f'pos="{PITCH / 2} 0 0" size="{PITCH / 2 - 0.01} .4 .025" density="600" rgba="{colors(k)}"/>'
        )
    text += "</body>" * PLANKS
    span = length * np.cos(np.radians(slope))
    for x in (first - 0.15, first + span + 0.15):
        text += f'<geom type="box" pos="{x:.4f} 0 .6" size=".14 .5 .6" rgba=".55 .55 .58 1"/>'
    for k in range(4):
        loads += (
            f'<body pos="{first + span * (k + 1) / 5:.4f} {0.1 * (-1) ** k} 1.5"><freejoint/>'
            f'<geom type="box" size=".12 .12 .12" density="400" rgba=".3 .5 .{60 + 8 * k} 1"/></body>'
        )
    return text + loads, f'<connect body1="plank{PLANKS - 1}" anchor="{PITCH} 0 0"/>'


def scene():
    """MJCF of all three."""
    asset, stones = arch()
    planks, ends = bridge()
    return (
        '<mujoco model="two physics"><option timestep="0.005"><flag multiccd="enable"/></option>'
        f"<asset>{asset}</asset><worldbody>"
        f'<geom type="plane" size="9 9 1" rgba=".8 .82 .84 1"/>{wall()}{stones}{planks}</worldbody>'
        f"<equality>{ends}</equality></mujoco>"
    )


def simulated(dynamics, times=TIMES):
    """Yields (time, Model, Data) of the scene under one dynamics."""
    m = tisim.Model.from_xml_string(scene())
    m.opt.dynamics = dynamics
    d = tisim.Data(m)
    d.qvel[m.body_dofadr[m.name2id("body", "ball")] + 1] = 7.0
    for t in times:
        tisim.step(m, d, round((t - float(d.time)) / m.opt.timestep))
        yield t, m, d


def told(m, d):
    """[mm, mm, mm/s]: greatest depth of contacts, gap of the bridge's far end, greatest velocity in the arch."""
    stones = [b for b in range(m.nbody) if m.geom_type[m.body_geomadr[b]] == 7 and m.body_geomnum[b]]
    i = np.asarray(m.body_dofadr)[stones]
    speed = max(np.abs(np.array(d.qvel)[k : k + 3]).max() for k in i)
    last = m.name2id("body", f"plank{PLANKS - 1}")
    end = np.array(d.xpos)[last] + np.array(d.xmat)[last].reshape(3, 3) @ [PITCH, 0, 0]
    far = np.array([3.0 + PLANKS * PITCH * np.cos(np.radians(14)), 0, 1.2])
    return 1e3 * max(0, -np.array(d.contact.dist).min()), 1e3 * np.linalg.norm(end - far), 1e3 * speed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--picture")
    a = p.parse_args()
    for dynamics in ("convex", "lcp"):
        for t, m, d in simulated(dynamics):
            tisim.forward(m, d)
            depth, gap, speed = told(m, d)
            print(f"{dynamics} after {t} s: contacts up to {depth:.3f} mm deep, the bridge's end {gap:.3f} mm off, "
                  f"stones of the arch at most {speed:.2f} mm/s")  # fmt: skip
            if a.picture:
                from PIL import Image

                from tisim.viewer import render

                path = pathlib.Path(a.picture)
                picture = Image.fromarray(render(m, d, 640, 200, camera=VIEW))
                picture.save(path.with_name(f"{path.stem}-{dynamics}-{t:g}{path.suffix}"))


if __name__ == "__main__":
    main()
