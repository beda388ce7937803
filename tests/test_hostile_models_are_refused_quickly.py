"""A hostile model compiles or raises tisim.Error within 10 s, and never takes more than 2 GB of memory."""

import json
import math
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import time
import zlib

import pytest
from shared.images import png

SECONDS, MEMORY = 10, 2 * 10**9
GEOM = '<geom size=".1"/>'
BIG = 2**31 - 1


def world(inside, rest=""):
    return f"<mujoco>{rest}<worldbody>{inside}</worldbody></mujoco>"


def nested(start, end, depth, inside=GEOM):
    return start * depth + inside + end * depth


def replicates(*counts, inside=GEOM, own=""):
    for count in counts:
        inside = f'<replicate count="{count}" {own}>{inside}</replicate>'
    return inside


def asset(text, **files):
    return world("", f"<asset>{text}</asset>"), {name.replace("_", "."): data for name, data in files.items()}


def sized(attributes, geoms=1):
    return world(GEOM * geoms, f"<size {attributes}/>")


def classes(depth):
    start = "".join(f'<default class="c{i}"><geom user="{i}"/>' for i in range(depth))
    return world(GEOM, f"<default>{start}{'</default>' * depth}</default>")


def includes(depth):
    files = {f"{i}.xml": f'<mujoco><include file="{i + 1}.xml"/></mujoco>' for i in range(depth)}
    return files["0.xml"], files | {f"{depth}.xml": "<mujoco><worldbody/></mujoco>"}


def attaches(depth, width, inside=GEOM):
    """Models that attach the next one `width` times."""
    files = {}
    for i in range(depth):
        attach = "".join(f'<attach model="m" prefix="p{j}_"/>' for j in range(width))
        files[f"{i}.xml"] = world(attach, f'<asset><model name="m" file="{i + 1}.xml"/></asset>')
    files[f"{depth}.xml"] = world(f'<body name="b">{inside}</body>')
    return files["0.xml"], files


def chains(depth, bodies):
    """Models that attach the next one to the end of a chain of bodies."""
    files, start = {}, f"<body><joint/>{GEOM}"
    for i in range(depth):
        inside, rest = '<attach model="m" prefix="p"/>', f'<asset><model name="m" file="{i + 1}.xml"/></asset>'
        files[f"{i}.xml"] = world(nested(start, "</body>", bodies, inside), rest)
    files[f"{depth}.xml"] = world(nested(start, "</body>", bodies))
    return files["0.xml"], files


def attached(**files):
    text = world('<attach model="m" prefix="p"/>', '<asset><model name="m" file="a.xml"/></asset>')
    return text, {name + ".xml": data for name, data in files.items()}


SELF = world('<attach model="m" prefix="p"/>', '<asset><model name="m" file="{}.xml"/></asset>')


def tendon(number):
    path = '<site site="a"/><site site="b"/>' * (number // 2)
    bodies = "".join(f'<body pos="{i} 0 0"><joint/>{GEOM}<site name="{n}"/></body>' for i, n in enumerate("ab"))
    return world(bodies, f"<tendon><spatial>{path}</spatial></tendon>")


def keys(number, count=1):
    key = f'<key qpos="{" ".join(["0.5"] * number)}"/>' * count
    return world(f"<body><freejoint/>{GEOM}</body>", f"<keyframe>{key}</keyframe>")


def bomb(width, height):
    """A PNG whose pixels unpack to more than its header may say."""
    return png(width, height, packed=zlib.compress(b"\0" * 10**6) * 20)


def many(text, number):
    return "".join(text.replace("#", str(i)) for i in range(number))


def ball(number):
    """Points of a sphere."""
    angle = [2.399963 * i for i in range(number)]
    height = [2 * (i + 0.5) / number - 1 for i in range(number)]
    radius = [math.sqrt(1 - z * z) for z in height]
    return " ".join(f"{r * math.cos(a):.6f} {r * math.sin(a):.6f} {z:.6f}" for a, r, z in zip(angle, radius, height))


def links(number):
    """A chain of links in URDF."""
    joint = '<joint name="j#" type="revolute"><parent link="l#"/><child link="k#"/></joint>'
    inside = "".join(joint.replace("k#", f"l{i + 1}").replace("#", str(i)) for i in range(number))
    return f'<robot name="r">{many("<link name=" + Q + "l#" + Q + "/>", number + 1)}{inside}</robot>'


FILE = '<{} name="a" file="{}"/>'
NAME = "a" * 100_000
Q = '"'
CASES = {
    # depth
    "bodies in bodies": lambda: world(nested("<body>", "</body>", 490)),
    "too many bodies in bodies": lambda: world(nested("<body>", "</body>", 10**6)),
    "frames in frames": lambda: world(nested('<frame euler="1 2 3">', "</frame>", 490)),
    "unknown elements in unknown ones": lambda: world(nested("<a>", "</a>", 490)),
    "jointed bodies in bodies": lambda: world(nested(f"<body><joint/>{GEOM}", "</body>", 490)),
    "classes in classes": lambda: classes(490),
    "includes in includes": lambda: includes(2000),
    "links on links": lambda: links(450),
    "too many links on links": lambda: links(20_000),
    "materials in materials": lambda: f'<robot name="r">{nested("<material>", "</material>", 490, "")}</robot>',
    # recursion
    "a file includes itself": lambda: ('<mujoco><include file="a.xml"/></mujoco>', {
        "a.xml": '<mujoco><include file="a.xml"/></mujoco>'}),
    "a model attaches itself": lambda: attached(a=SELF.format("a")),
    "two models attach each other": lambda: attached(a=SELF.format("b"), b=SELF.format("a")),
    "models attach models": lambda: attaches(200, 1),
    "models attach models twice": lambda: attaches(40, 2),
    "models attach replicates": lambda: attaches(3, 100, replicates(1000)),
    # numbers of copies
    "a huge replicate": lambda: world(replicates(BIG)),
    "replicates of replicates": lambda: world(replicates(*[1000] * 5)),
    "replicates of replicates of two": lambda: world(replicates(*[2] * 60)),
    "replicates of nothing": lambda: world(replicates(*[BIG] * 5, inside="")),
    "replicates of one": lambda: world(replicates(*[1] * 480)),
    "a replicate of no copies": lambda: world(replicates(*[0] * 400)),
    "a replicate of sensors": lambda: world(
        replicates(1000, inside='<body name="b"><joint name="j"/><geom size=".1"/></body>'),
        "<sensor>" + '<clock/><jointpos joint="j"/>' * 100 + "</sensor>"),
    "a long prefix": lambda: (
        world(f'<attach model="m" prefix="{NAME}"/>', '<asset><model name="m" file="a.xml"/></asset>'),
        {"a.xml": world(many('<geom name="g#" size=".1"/>', 10_000))}),
    "a long chain of attached chains": lambda: chains(45, 480),
    "a long suffix": lambda: world(replicates(10_000, inside='<geom name="g" size=".1"/>', own=f'sep="{NAME}"')),
    "a negative replicate": lambda: world(replicates(-BIG)),
    # sizes
    "user numbers of all": lambda: sized(f'nuser_geom="{BIG}" nuser_body="{BIG}" nuser_site="{BIG}"'),
    "user numbers of many": lambda: sized('nuser_geom="100000"', 20_000),
    "user sensors": lambda: world("", f'<sensor><user dim="{BIG}"/></sensor>'),
    "many user sensors": lambda: world("", f'<sensor>{f"""<user dim="{BIG}"/>""" * 100}</sensor>'),
    "keys": lambda: sized(f'nkey="{BIG}"'),
    "keys of many joints": lambda: world("<body><freejoint/><geom size='.1'/></body>" * 2000, '<size nkey="1000000"/>'),
    "userdata": lambda: sized(f'nuserdata="{BIG}"'),
    "contacts": lambda: sized(f'nconmax="{BIG}" njmax="{BIG}" nstack="{BIG}"'),
    "memory": lambda: sized('memory="9999999999999E"'),
    "memory of words": lambda: sized('memory="' + "9" * 10**6 + 'K"'),
    "negative sizes": lambda: sized(f'nuserdata="-{BIG}" nkey="-{BIG}"'),
    "numeric": lambda: world("", f'<custom><numeric name="n" size="{BIG}"/></custom>'),
    "actdim": lambda: world(
        f'<body><joint name="j"/>{GEOM}</body>',
        f'<actuator><general joint="j" dyntype="user" actdim="{BIG}"/></actuator>'),
    "many actdims": lambda: world(
        f'<body><joint name="j"/>{GEOM}</body>',
        "<actuator>" + '<general joint="j" dyntype="user" actdim="1000000"/>' * 1000 + "</actuator>"
        '<keyframe><key ctrl="1"/></keyframe>'),
    "numbers in many numerics": lambda: world(
        "", f"<custom>{many('<numeric name=' + Q + '#' + Q + ' size=' + Q + '500' + Q + '/>', 50_000)}</custom>"),
    "steps of a length range": lambda: world(
        f'<body><joint name="j"/>{GEOM}</body>',
        '<compiler><lengthrange inttotal="1e9" interval="1e9" timestep="1e-9"/></compiler>'
        '<actuator><muscle joint="j"/></actuator>'),
    "length ranges of many muscles": lambda: world(
        many(f'<body><joint name="j#"/>{GEOM}</body>', 500),
        f"<actuator>{many('<muscle joint=' + Q + 'j#' + Q + '/>', 500)}</actuator>"),
    "a tendon of many joints": lambda: world(
        many(f'<body><joint name="j#"/>{GEOM}</body>', 3000),
        "<tendon><fixed armature='1'>" + many('<joint coef="1" joint="j#"/>', 3000) + "</fixed></tendon>"),
    # long lists
    "a long tendon": lambda: tendon(20_000),
    "a million numbers in a key": lambda: keys(10**6),
    "numbers in many keys": lambda: keys(7, 20_000),
    "a million user numbers": lambda: world(f'<geom size=".1" user="{"1 " * 10**6}"/>'),
    "many words": lambda: world(f'<geom size="{"1 " * 10**6}"/>'),
    "digits": lambda: world(f'<geom size="{"9" * 10**6}"/>'),
    "digits of an integer": lambda: world(f'<geom size=".1" group="{"9" * 10**6}"/>'),
    "long names": lambda: world(f'<geom name="{NAME}" size=".1"/>' * 20),
    "a long unknown attribute": lambda: world(f'<geom {NAME}="1"/>'),
    "many misspelt attributes": lambda: world(many('<geom sise#="1"/>', 20_000)),
    "many misspelt elements": lambda: world(many("<goem#/>", 20_000)),
    "many unknown materials": lambda: world(
        many('<geom size=".1" material="material_x#"/>', 5000),
        f'<asset>{many("<material name=" + Q + "material_y#" + Q + "/>", 5000)}</asset>'),
    "many unknown classes": lambda: world(many('<geom size=".1" class="x#"/>', 20_000)),
    "many names used twice": lambda: world('<geom name="a" size=".1"/>' * 20_000),
    "many equal pairs": lambda: world(
        '<geom name="a" size=".1"/><body><freejoint/><geom name="b" size=".1"/></body>',
        "<contact>" + '<pair geom1="a" geom2="b"/>' * 20_000 + "</contact>"),
    "many keyframes of nothing": lambda: world("", "<keyframe>" + "<key/>" * 100_000 + "</keyframe>"),
    # assets
    "a height field": lambda: asset('<hfield name="h" size="1 1 1 1" nrow="100000" ncol="100000"/>'),
    "a huge height field": lambda: asset(f'<hfield name="h" size="1 1 1 1" nrow="{BIG}" ncol="{BIG}"/>'),
    "many height fields": lambda: asset(many('<hfield name="h#" size="1 1 1 1" nrow="9999" ncol="9999"/>', 100)),
    "the header of a height field": lambda: asset(
        '<hfield size="1 1 1 1" file="a.bin"/>', a_bin=struct.pack("<2i", 2**30, 2**30)),
    "a texture": lambda: asset(f'<texture name="t" builtin="flat" width="{BIG}" height="{BIG}"/>'),
    "textures": lambda: asset(many('<texture name="t#" type="2d" builtin="checker" width="9999" height="9999"/>', 50)),
    "a texture of many channels": lambda: asset(
        f'<texture name="t" builtin="flat" width="9" height="9" nchannel="{BIG}"/>'),
    "a cube texture": lambda: asset('<texture name="t" type="cube" builtin="gradient" width="20000" height="120000"/>'),
    "a grid of textures": lambda: asset(
        f'<texture name="t" type="cube" file="a.png" gridsize="{BIG} {BIG}"/>', a_png=bomb(8, 8)),
    "a huge PNG": lambda: asset('<texture name="t" type="2d" file="a.png"/>', a_png=bomb(100_000, 100_000)),
    "a PNG that unpacks to more": lambda: asset('<texture name="t" type="2d" file="a.png"/>', a_png=bomb(8, 8)),
    "a height field of a huge PNG": lambda: asset('<hfield size="1 1 1 1" file="a.png"/>', a_png=bomb(60_000, 60_000)),
    "the header of a texture": lambda: asset('<texture name="t" file="a.bin"/>', a_bin=struct.pack("<2i", BIG, BIG)),
    "a built mesh": lambda: asset('<mesh name="m" builtin="sphere" params="100"/>'),
    "a built torus": lambda: asset('<mesh name="m" builtin="supertorus" params="1000000000 1 1 1"/>'),
    "a built plate": lambda: asset('<mesh name="m" builtin="plate" params="1000000 1000000"/>'),
    "the header of an STL file": lambda: asset(
        '<mesh file="a.stl"/>', a_stl=bytes(80) + struct.pack("<I", 2**32 - 1)),
    "the header of an MSH file": lambda: asset('<mesh file="a.msh"/>', a_msh=struct.pack("<4i", *[BIG] * 4)),
    "faces of an OBJ file": lambda: asset('<mesh file="a.obj"/>', a_obj=b"v 0 0 0\nf " + b"1 " * 10**6),
    "indices of an OBJ file": lambda: asset('<mesh file="a.obj"/>', a_obj=b"v 0 0 0\nf 1 2 999999999999999999999\n"),
    "the header of a PLY file": lambda: asset(
        '<mesh file="a.ply"/>', a_ply=b"ply\nformat ascii 1.0\nelement vertex 999999999999\nend_header\n"),
    "the header of a skin": lambda: asset('<skin file="a.skn"/>', a_skn=struct.pack("<4i", *[BIG] * 4)),
    "a mesh of many points": lambda: asset(
        f'<mesh name="m" vertex="{many("# 1 2 # 2 1 3 # 9 ", 30_000)}" inertia="convex"/>'),
    "a mesh of many corners": lambda: asset(f'<mesh name="m" vertex="{ball(70_000)}" inertia="convex"/>'),
    # places
    **{f"{what} at {place[:20]}": (lambda what=what, place=place: asset(FILE.format(what, place)))
       for what in ("mesh", "texture", "model", "skin")
       for place in ("/dev/zero", "/dev/stdin", "/", ".", "..", "/proc/self/mem", NAME, "a/" * 5000, "&#127;", "%s%n")},
    "an include of a device": lambda: '<mujoco><include file="/dev/zero"/></mujoco>',
    "an include of a folder": lambda: '<mujoco><include file="/"/></mujoco>',
    "a folder of a long name": lambda: world("", f'<compiler meshdir="{NAME}"/><asset><mesh file="a.stl"/></asset>'),
    # text
    "entities": lambda: '<!DOCTYPE a [<!ENTITY b "c">]><mujoco model="&b;"/>',
    "a comment": lambda: f"<mujoco><!--{'-a' * 10**6}--></mujoco>",
    "zeros": lambda: "\0" * 10**6,
    "angle brackets": lambda: "<" * 10**6,
    "attributes": lambda: f"<mujoco {many(' a#=' + Q + Q, 100_000)}/>",
    "empty elements": lambda: world("<frame/>" * 100_000),
}  # fmt: skip


def attempt(name):
    """Compiles a case in this process; what happened, as a word."""
    import warnings

    import tisim

    given = CASES[name]()
    text, files = given if isinstance(given, tuple) else (given, {})
    start = time.process_time()  # the machine may have others to serve
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tisim.Model.from_xml_string(text, files)
        word = "compiled"
    except tisim.Error as e:
        word = "refused" if len(str(e)) < 10**6 else "a message that nobody reads"
    except BaseException as e:
        word = f"{type(e).__name__}: {e}"[:300]
    return word, time.process_time() - start


def run_all(names):
    """{name: [what happened, seconds, bytes]}, each case in a forked process with bounded memory."""
    import tisim.mjcf  # noqa: F401  so that the children need not

    out = {}
    for name in names:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS))
            signal.alarm(12 * SECONDS)
            os.write(write, json.dumps(attempt(name)).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            found = pipe.read()
        os.waitpid(child, 0)
        out[name] = json.loads(found) if found else ["died", 4 * SECONDS]
    return out


@pytest.fixture(scope="module")
def results():
    command = [sys.executable, __file__]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_model(results, name):
    word, seconds = results[name]
    assert word in ("compiled", "refused")
    assert seconds < SECONDS


def test_special_files(tmp_path):
    """A FIFO is not waited for, a folder is not read."""
    import tisim

    fifo = tmp_path / "pipe.xml"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, "/dev/zero", "/dev/stdin", "", "a" * 5000, "a\0b", tmp_path / "none" / ".." / "x.xml"):
        with pytest.raises(tisim.Error):
            tisim.Model.from_xml_path(path)


if __name__ == "__main__":
    print(json.dumps(run_all(sys.argv[1:] or CASES)))
