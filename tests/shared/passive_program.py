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
    start, steps = time.monotonic(), 0
    while viewer.is_running() and time.monotonic() - start < 30:
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
