"""A program as users of mujoco.viewer.launch_passive write it; it prints what it saw and closes its window."""

import json
import time

import tisim
import tisim.viewer

m = tisim.Model.from_scene("wall", n=12)
d = tisim.Data(m)
tisim.forward(m, d)
pressed = []
told = {}
OWN = [0.0, 0.0, 1e-3, 0.0, 0.0, 0.0]  # what the program applies to every body itself
d.xfrc_applied[1:] = OWN


def pull(viewer, body):
    """The program's hand on a brick: half a metre upwards. What it applies, how far the brick rises, what is left."""
    pert, at = viewer.perturb, d.xpos[body].copy()
    pert.select, pert.active, pert.localmass = body, int(tisim.mjtPertBit.mjPERT_TRANSLATE), m.body_mass[body]
    pert.refselpos = at + [0, 0, 0.5]
    viewer.sync()
    force = d.xfrc_applied[body].tolist()
    for _ in range(100):
        tisim.step(m, d)
        viewer.sync()
    rise = float(d.xpos[body][2] - at[2])
    pert.active = 0
    viewer._due = -1e9
    viewer.sync()
    return dict(force=force, rise=rise, left=bool((d.xfrc_applied[1:] == OWN).all()), select=pert.select)


with tisim.viewer.launch_passive(m, d, key_callback=pressed.append) as viewer:
    told["camera"] = [viewer.cam.azimuth, viewer.cam.distance, viewer.cam.lookat.tolist()]
    with viewer.lock():
        viewer.opt.flags[tisim.mjtVisFlag.mjVIS_CONTACTPOINT] = True
        viewer.cam.distance = 5
    scene = viewer.user_scn
    tisim.mjv_init_geom(scene.geoms[0], tisim.mjtGeom.mjGEOM_SPHERE, [0.3, 0, 0], [0, 0, 2], None, [0, 1, 0, 1])
    tisim.mjv_connector(scene.geoms[1], tisim.mjtGeom.mjGEOM_ARROW, 0.03, [0, 0, 0], [0, 0, 2])
    scene.ngeom = 2
    try:
        tisim.viewer.launch_passive(m, d)
    except tisim.Error as error:
        told["second"] = str(error)
    told["pull"] = pull(viewer, m.nbody - 2)  # one on top
    start, steps = time.monotonic(), 100
    while viewer.is_running() and time.monotonic() - start < 140:
        tisim.step(m, d)
        steps += 1
        viewer.sync()
        if pressed:
            break
    told |= dict(steps=steps, time=float(d.time), pressed=pressed, pictures=viewer._show.frames)
    told |= dict(distance=viewer.cam.distance, running=viewer.is_running())
viewer.sync()
viewer.close()
told |= dict(after=viewer.is_running())
with tisim.viewer.launch_passive(m, d) as again:  # one after the other
    told |= dict(again=again.is_running())
print(json.dumps(told), flush=True)
