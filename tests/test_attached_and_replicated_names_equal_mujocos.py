"""What `attach` and `replicate` copy, under which names and in which order, is what MuJoCo 3.4.0 makes of it.

The models of testdata/compile that begin with attach_ and replicate_ show it case by case; here are random ones, what
is refused, and what it costs.
"""

import time

import mujoco
import pytest
from shared.compiled import differences, their_model
from shared.cost import calls
from shared.random_models import random_model

from tisim import Model
from tisim.errors import Error, MjcfError, UnsupportedError

GEOM = '<geom size="0.1"/>'
PART = f'<mujoco model="part"><worldbody><body name="b"><joint name="j"/>{GEOM}</body></worldbody></mujoco>'


def main(world, rest="", asset='<model name="part" file="part.xml"/>'):
    return f"<mujoco><asset>{asset}</asset><worldbody>{world}</worldbody>{rest}</mujoco>"


def replicate(inside, count=2):
    return f'<replicate count="{count}" sep="_">{inside}</replicate>'


B = f'<body name="b"><joint name="j"/>{GEOM}<site name="s"/></body>'
ATTACH = '<attach model="part" body="b" prefix="x"/>'
OUT = f'<body name="o"><joint name="o"/>{GEOM}<site name="o"/></body>'


@pytest.mark.parametrize("block", range(8))
def test_random_models_equal_mujocos(block):
    agreed = 0
    for seed in range(50 * block, 50 * block + 50):
        text, parts = random_model(seed)
        assets = {name: part.encode() for name, part in parts.items()}
        theirs = their_model(text, assets)
        if theirs is None:
            with pytest.raises(Error):
                Model.from_xml_string(text, assets)
            continue
        try:
            ours = Model.from_xml_string(text, assets)
        except UnsupportedError:
            continue
        assert not differences(ours, theirs), (seed, text, parts)
        agreed += 1
    assert agreed >= 8


# text, parts, words that the message must hold: MuJoCo refuses these too
WRONG = {
    "unknown model": (main('<attach model="prt" prefix=""/>'), "model 'prt' 'part'"),
    "unknown body": (main('<attach model="part" body="c" prefix=""/>'), "'part' body 'c'"),
    "no prefix": (main('<attach model="part" body="b"/>'), "attach prefix"),
    "no file": (main("", asset='<model name="part"/>'), "model file"),
    "missing file": (main("", asset='<model name="part" file="nothing.xml"/>'), "nothing.xml"),
    "same prefix": (
        main('<attach model="part" prefix="x"/><frame><attach model="part" prefix="x"/></frame>'),
        "'xb' already body"),
    "body in another body": (
        main(f'{ATTACH}<body>{GEOM}{ATTACH}</body>'),
        "'xb' another body"),
    "name of a copy": (
        main(replicate(B), '<sensor><jointpos name="p" joint="j"/><jointvel name="p_0" joint="j"/></sensor>'),
        "'p_0'"),
    "name of a copy in a later template": (
        main(replicate(B) + replicate(f'<body name="b_0">{GEOM}</body>'), "<sensor><clock/></sensor>"), "'b_0' body"),
    "target outside of the replicate": (
        main(OUT + replicate(f'<body>{GEOM}<camera target="o" mode="targetbody"/></body>')), "body 'o_0'"),
    "tuple of replicated names": (
        main(replicate(B), '<custom><tuple name="t"><element objtype="site" objname="s"/></tuple></custom>'),
        "site 's'"),
    "key of the whole model": (main(replicate(B), '<keyframe><key qpos="1 2"/></keyframe>'), "qpos 2 1"),
    "outside defined later": (
        main(replicate(B) + OUT, '<sensor><framepos objtype="body" objname="b" reftype="body" refname="o"/></sensor>'),
        "body 'b'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_mujoco_refuses_has_an_error_with_its_place(case):
    text, words = WRONG[case]
    with pytest.raises(ValueError) if case != "no file" else pytest.raises(Exception):
        mujoco.MjModel.from_xml_string(text, {"part.xml": PART.encode()})
    with pytest.raises(MjcfError) as caught:
        Model.from_xml_string(text, {"part.xml": PART})
    assert all(word in str(caught.value) for word in words.split()), caught.value
    assert caught.value.line == 1


# what MuJoCo drops from the model without a word
LOST = {
    "joint equality": '<equality><joint joint1="o" joint2="j"/></equality>',
    "weld": '<equality><weld body1="b" body2="o"/></equality>',
    "reference site": '<actuator><motor site="s" refsite="o" gear="1 0 0 0 0 0"/></actuator>',
}


@pytest.mark.parametrize("case", LOST)
def test_what_would_be_lost_is_refused_by_name(case):
    text = main(OUT + replicate(B), LOST[case])
    theirs = mujoco.MjModel.from_xml_string(text, {"part.xml": PART.encode()})
    assert theirs.neq == theirs.nu == 0
    with pytest.raises(UnsupportedError, match="inside and the outside of a replicate"):
        Model.from_xml_string(text, {"part.xml": PART})


@pytest.mark.parametrize("attached", [False, True])
def test_a_copied_tendon_needs_side_sites(attached):
    sites = '<site name="s" pos="1 0 0"/><site name="t" pos="0 1 0"/>'
    body = f'<body name="b"><joint/><geom name="g" size="0.1"/>{sites}</body>'
    tendon = '<tendon><spatial><site site="s"/><geom geom="g"/><site site="t"/></spatial></tendon>'
    part = f"<mujoco><worldbody>{body}</worldbody>{tendon}</mujoco>"
    text = main(ATTACH) if attached else main(replicate(body), tendon)
    assert mujoco.MjModel.from_xml_string(text, {"part.xml": part.encode()}).ntendon == 0
    with pytest.raises(UnsupportedError, match="sidesite"):
        Model.from_xml_string(text, {"part.xml": part})


def test_a_model_that_attaches_itself_is_an_error():
    part = f'<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody>{ATTACH}</worldbody></mujoco>'
    with pytest.raises(MjcfError, match="cannot attach itself"):
        Model.from_xml_string(main(ATTACH), {"part.xml": part})
    parts = {f"{i}.xml": main("", asset=f'<model name="part" file="{i + 1}.xml"/>') for i in range(100)}
    with pytest.raises(MjcfError, match="in a row"):
        Model.from_xml_string(main("", asset='<model name="part" file="0.xml"/>'), parts)


def test_errors_of_a_part_name_its_file(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.xml").write_text(main("", asset='<model name="part" file="sub/part.xml"/>'))
    (tmp_path / "sub" / "part.xml").write_text("<mujoco>\n  <worldbody><goem/></worldbody></mujoco>")
    with pytest.raises(MjcfError, match="goem") as caught:
        Model.from_xml_path(tmp_path / "main.xml")
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(tmp_path / "sub" / "part.xml"), 2, 14)


def test_sensors_without_an_object_double_up_to_a_bound():
    def sensors(count):
        model = Model.from_xml_string(main(replicate(B, count), '<sensor><clock name="c"/></sensor>', ""))
        return [model.id2name("sensor", i) for i in range(model.nsensor)]

    assert len(sensors(13)) == 2**13  # as in MuJoCo: see replicate_sensors.xml
    assert sensors(14) == sensors(1000) == ["c"]


REFERRING = """<contact><exclude body1="b" body2="world"/></contact>
<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
<actuator><motor name="m" tendon="t"/></actuator><sensor><accelerometer name="a" site="s"/></sensor>"""


def copies(count):
    text = main(replicate(B, count), REFERRING, "")
    model = Model.from_xml_string(text)
    assert (model.nsensor, model.nu, model.ntendon, model.nexclude) == (count,) * 4


def test_copying_what_refers_costs_the_same_per_copy():
    few, some, many = (calls(lambda n=n: copies(n)) for n in (100, 400, 1600))
    per_copy = (some - few) / 300
    assert (many - some) / 1200 < per_copy * 1.05 + 1  # four times as much if each copy looked at all


def test_many_copies_of_what_refers_take_seconds():
    start = time.process_time()
    copies(20_000)
    assert time.process_time() - start < 30


HOSTILE = {
    "copies of a part": main(replicate('<attach model="part" prefix="x"/>', 2_000_000)),
    "copies of copies": main(replicate(replicate(replicate(B, 1000), 1000), 1000)),
    "copies of what refers": main(replicate(B, 400_000), "<sensor>" + 20 * '<jointpos joint="j"/>' + "</sensor>"),
    "keys": main(replicate(B, 20_000), '<keyframe><key qpos="1"/></keyframe>'),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_counts_are_refused_at_once(case):
    start = time.process_time()
    with pytest.raises(Error, match="more than"):
        Model.from_xml_string(HOSTILE[case], {"part.xml": PART})
    assert time.process_time() - start < 20


def test_models_that_attach_two_models_each_are_counted_before_they_are_made():
    parts = {"30.xml": PART}
    for i in range(30):
        two = '<attach model="part" prefix="x"/><attach model="part" prefix="y"/>'
        parts[f"{i}.xml"] = main(two, asset=f'<model name="part" file="{i + 1}.xml"/>')
    text = main('<attach model="part" prefix="x"/>', asset='<model name="part" file="0.xml"/>')
    start = time.process_time()
    with pytest.raises(MjcfError, match="more than"):
        Model.from_xml_string(text, parts)
    assert time.process_time() - start < 5
