"""Arrays of a Data for sensors and rays."""

from ..declare import ALL

# sensors
COMPUTED = [
    ("sensordata", "f", ("nsensordata",), "any", "sensor", "values of the sensors, by sensor_adr"),
    ("cam_xpos", "f", ("ncam", 3), "m", "camera", "camera positions"),
    ("cam_xmat", "f", ("ncam", 9), "-", "camera", "camera orientations: right, up, back"),
    ("subtree_linvel", "f", ("nbody", 3), "m/s", "subtreeVel", "velocity of the centre of mass of each subtree"),
    ("subtree_angmom", "f", ("nbody", 3), "kg m2/s", "subtreeVel", "angular momentum of each subtree about it"),
]  # fmt: skip
SCRATCH = [
    ("sense_num", "i", ("nsensed",), "-", "sensor", "contact sides of each body with sensors of contacts"),
    ("sense_adr", "i", ("nsensed",), "-", "sensor", "first of them in sense_con"),
    ("sense_con", "i", ("nconmax", 2), "-", "sensor", "contact sides by such bodies: 2 * contact + side", 1),
    ("sense_ball", "f", ("nconmax", 4), "m", "sensor", "ball around each block of contacts: centre, radius"),
    ("picked_con", "i", ("nsensordata",), "-", "sensor", "contacts that a contact sensor shows, from sensor_adr on"),
    ("picked_key", "f", ("nsensordata",), "m, N2", "sensor", "their order: distance, or minus force squared"),
    ("pressed_num", "i", ("npressed",), "-", "sensor", "geoms that touch a body with tactile sensors"),
    ("pressed_adr", "i", ("npressed",), "-", "sensor", "first of them in pressed_con"),
    ("pressed_con", "i", ("nconmax", 2), "-", "sensor", "their first contacts: 2 * contact + the body's side", 1),
]  # fmt: skip
STAGE = [
    ("reach_geom1", "i", ("nreach",), "-", "sensor", "pairs of geoms that sensors of distances ask about, lower type"),
    ("reach_geom2", "i", ("nreach",), "-", "sensor", "their other geoms"),
    ("reach_kind", "i", ("nreach",), "-", "sensor", "their kinds (tisim/stages/colliders.py)"),
    ("reach_flip", "i", ("nreach",), "-", "sensor", "1: the sensor names geom 2 first"),
    ("reach_slot", "i", ("nreach",), "-", "sensor", "first slot in con_slot"),
    ("reach_sensor", "i", ("nreach",), "-", "sensor", "first sensor that asks"),
    ("reach_adr", "i", ("nasked",), "-", "sensor", "first pair of each sensor of a distance"),
    ("reach_num", "i", ("nasked",), "-", "sensor", "its pairs"),
    ("reach_dist", "f", ("nreachall",), "m", "sensor", "distance of a pair"),
    ("reach_from", "f", ("nreachall", 3), "m", "sensor", "its nearest point on what the sensor names first"),
    ("reach_to", "f", ("nreachall", 3), "m", "sensor", "the one on what it names second"),
    # rays, when they are cast
    ("ray_pnt", "f", ("nray", 3), "m", "rays", "where each ray starts"),
    ("ray_vec", "f", ("nray", 3), "m", "rays", "its direction, of any length"),
    ("ray_dist", "f", ("nray",), "-", "rays", "where it hits, as a multiple of its direction; -1: nowhere"),
    ("ray_geomid", "i", ("nray",), "-", "rays", "what it hits, or -1"),
    ("ray_sample", "f", (ALL, 198), "m", "rays", "sorted coordinates of a few geoms, median, spread, for each axis"),
    ("ray_leaf", "i", ("nleafall",), "-", "rays", "geom of each leaf of the trees of boxes, or -1"),
    ("ray_node", "f", ("nnodeall", 2, 3), "m", "rays", "lower and upper corner of each node's box"),
]  # fmt: skip
