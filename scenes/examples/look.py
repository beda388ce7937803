"""What a camera sees of a scene: colours, how far away each pixel is, and which geom it shows.

python scenes/examples/look.py [picture.png]
"""

import sys

import numpy as np

import tisim


def look(width=640, height=360):
    """(colour, depth, segmentation) of a wall that a ball has just hit, with the contacts marked."""
    m = tisim.Model.from_scene("wall", n=60)
    d = tisim.Data(m)
    tisim.step(m, d, round(0.9 / m.opt.timestep))
    tisim.forward(m, d)
    camera = tisim.MjvCamera()
    camera.azimuth, camera.elevation, camera.distance, camera.lookat = 125, -20, 4.5, (0, 0, 0.5)
    option = tisim.MjvOption()
    option.flags[tisim.mjtVisFlag.mjVIS_CONTACTPOINT] = True
    with tisim.Renderer(m, height, width) as renderer:
        renderer.update_scene(d, camera, option)
        return renderer.render_all()


if __name__ == "__main__":
    color, depth, seg = look()
    seen = np.unique(seg[seg[..., 1] == tisim.mjtObj.mjOBJ_GEOM][:, 0])
    print(f"{len(seen)} geoms are seen, the nearest {depth.min():.2f} m away")
    if len(sys.argv) > 1:
        from tisim.viewer import save_png

        save_png(sys.argv[1], color)
