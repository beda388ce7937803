"""A box on a page: says its address, then a line of JSON for each frame.

Usage: page_program.py pictures|shapes [turning]
turning  something beside the box turns, and the page is 320x180.
"""

import json
import sys

import numpy as np

import tisim
from tisim.viewer.browser import objects, pictures
from tisim.viewer.controls import Controls

XML = """<mujoco><visual><global azimuth="90" elevation="-20"/></visual><worldbody><geom type="plane" size="3 3 .1"/>
  <body name="box" pos="0 0 .5"><freejoint/><geom type="box" size=".5 .5 .5" rgba=".8 .1 .1 1"/></body>
  {}</worldbody></mujoco>"""
BLADE = """<body pos="-1.4 0 .5"><joint axis="0 0 1"/><geom type="box" size=".5 .05 .2" rgba=".1 .2 .8 1"
  contype="0" conaffinity="0"/></body>"""
turning = "turning" in sys.argv[2:]

tisim.init(threads=1)
m = tisim.Model.from_xml_string(XML.format(BLADE if turning else ""))
d = tisim.Data(m)
d.qvel[6:] = 2.0
tisim.forward(m, d)
width, height = (320, 180) if turning else (360, 240)
c = Controls(m, d, camera="90,-20,6", aspect=width / height)
if sys.argv[1] == "pictures":
    page = pictures.Pages(c, width, height, "127.0.0.1", 0)
else:
    page = objects.Shapes(c, "127.0.0.1", 0)
print(json.dumps(dict(url=page.url)), flush=True)
while page.frame():
    clients = page.server.watched if sys.argv[1] == "pictures" else len(page.server.get_clients())
    told = dict(time=float(d.time), running=bool(c.clock.running), selected=int(c.pert.select), visitors=clients,
                height=float(d.qpos[2]), force=float(np.abs(d.xfrc_applied).max()))  # fmt: skip
    print(json.dumps(told), flush=True)
