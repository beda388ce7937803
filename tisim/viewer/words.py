"""What a window or a page says of a simulation: lines, labels in the scene, values that can be set."""

import time

import numpy as np

from tisim.viewer import decor, perturb

SAID = 5.0  # how long a note is shown [s]


def lines(c):
    """What runs, of Controls."""
    now, ncon = (float(np.atleast_1d(v)[c.world]) for v in (c.d.time, c.d.ncon))
    yield f"time {now:.3f} s, {c.m.nbody - 1} bodies, {int(ncon)} contacts"
    if c.passive:
        return
    speed = f"{100 * c.clock.speed:g} % aimed at" if c.clock.notch else "real time"
    yield f"{c.clock.factor:.2f} x real time ({speed})" if c.clock.running else "paused"


def note(c):
    """What is to be said for some seconds, "" where nothing is."""
    now = time.perf_counter()
    if c.told:
        c.said, c.until, c.told = c.told, now + SAID, ""
    return c.said if c.until > now else ""


def of_selected(c):
    """Of the selected body: name, mass, speed, contacts; nothing where none is."""
    selected = c.about_selected()
    if not selected:
        return []
    name, mass, speed, ncon = selected
    return [name, f"{mass:.3g} kg", f"{speed:.2f} m/s", f"{ncon} contacts"]


def labels(c, width, height):
    """Texts in a picture of this size: (x, y, lines) [pixel], of the selected body and of what the options ask for."""
    texts, selected = [], of_selected(c)
    if selected:
        texts.append((perturb.held_point(c.m, c.d, c.pert, c.world), selected))
    texts += [(at, [text]) for at, text in decor.labels(c.m, c.d, c.opt, c.world, c.user_scn)]
    if not texts:
        return
    places, depth = c.camera.project(np.array([at for at, _ in texts]), width, height)
    for (x, y), far, (_, said) in zip(places, depth, texts):
        if far > 0 and -50 <= x < width and -50 <= y < height:
            yield float(x), float(y), said


def actuators(c, most, first=0):
    """(name, control, least, greatest) of at most so many actuators, from one on."""
    ctrl = perturb.of_world(c.d, "ctrl", c.world)
    for i in range(first, min(c.m.nu, first + most)):
        low, high = c.m.actuator_ctrlrange[i] if c.m.actuator_ctrllimited[i] else (-1.0, 1.0)
        yield c.name("actuator", i), float(ctrl[i]), float(low), float(high)


def equalities(c, most, first=0):
    """(name, whether it holds) of at most so many equalities, from one on."""
    active = perturb.of_world(c.d, "eq_active", c.world)
    for i in range(first, min(c.m.neq, first + most)):
        yield c.name("equality", i), bool(active[i])
