"""A mesh in a format that MuJoCo cannot read is the mesh that MuJoCo reads from the same shape as OBJ."""

import mujoco
import numpy as np
import pytest
import trimesh

import tisim

BOX = trimesh.creation.box((0.2, 0.4, 0.6))
BOX.apply_translation((0.1, 0.2, 0.3))
ROBOT = """<robot name="r"><link name="a"><collision><geometry>
<mesh filename="package://robot/box.{}" scale="{}"/></geometry></collision></link></robot>"""
FIELDS = "mesh_vert mesh_face mesh_normal mesh_pos mesh_quat mesh_scale geom_size geom_pos geom_quat geom_aabb".split()


def obj(mesh):
    lines = ["v {} {} {}".format(*map(repr, map(float, v))) for v in mesh.vertices]
    return "\n".join(lines + ["f {} {} {}".format(*f) for f in mesh.faces + 1]).encode()


def export(kind):
    if kind == "ply (text)":
        return "ply", BOX.export(file_type="ply", encoding="ascii")
    data = BOX.export(file_type=kind)
    return kind, data.encode() if isinstance(data, str) else data


@pytest.mark.parametrize("scale", ["1 1 1", "1 -2 1"])
@pytest.mark.parametrize("kind", ["ply", "ply (text)", "off"])
def test_a_box(kind, scale):
    kind, data = export(kind)
    ours = tisim.Model.from_xml_string(ROBOT.format(kind, scale), {f"box.{kind}": data})
    theirs = mujoco.MjModel.from_xml_string(ROBOT.format("obj", scale), {"box.obj": obj(BOX)})
    assert ours.mesh(0).name == "box"
    for name in FIELDS:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-6, err_msg=name)


HEAD = b"ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
HEAD += b"element face %d\nproperty list uchar int vertex_indices\nend_header\n"
HOSTILE = {
    "empty.ply": b"", "word.ply": b"ply", "garbage.ply": bytes(range(256)) * 9, "cut.ply": export("ply")[1][:-40],
    "huge.ply": HEAD % (10**15, 10**15), "large.ply": HEAD % (10**9, 1), "digits.ply": HEAD.replace(b"%d", b"9" * 5000),
    "points.ply": HEAD % (4, 0) + b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n",
    "index.ply": HEAD % (4, 1) + b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 7\n",
    "nan.ply": HEAD % (4, 1) + b"0 0 nan\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n",
    "empty.off": b"", "huge.off": b"OFF\n999999999999 999999999999 0\n", "garbage.off": b"OFF\na b c\n1 2",
    "cut.off": export("off")[1][:-40], "noise.off": bytes(range(255, 0, -1)),
    "negative.off": b"OFF\n-3 -1 0\n",
    "robot.dae": b"<COLLADA/>", "robot.glb": b"glTF", "none.ply": None,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_broken_files_are_refused(name):
    mesh = f'<geometry>\n<mesh filename="{name}"/></geometry>'
    text = f'<robot name="r"><link name="a"><collision>{mesh}</collision></link></robot>'
    assets = {} if HOSTILE[name] is None else {name: HOSTILE[name]}
    with pytest.raises(tisim.MjcfError) as info:
        tisim.Model.from_xml_string(text, assets)
    assert info.value.line == 2
    told = dict.fromkeys(("empty.off", "noise.off"), "this is no .off file: it does not begin with the word OFF")
    told |= dict.fromkeys(("empty.ply", "garbage.ply"), "this is no .ply file: it does not begin with the word PLY")
    told |= {"garbage.off": "the .off file is damaged or cut short: "}
    assert told.get(name, "") in str(info.value) and str(info.value).count("\n") == 0
