"""A model that is written as MJCF and read again compiles to the same arrays, bit for bit, from wherever it is read."""

import os
import pathlib

import pytest
from shared.compiled import bit_differences
from shared.images import png

from tisim import scenes
from tisim.mjcf import compile_scope, parse_file, parse_string
from tisim.mjcf.format.write import to_text

FOLDER = pathlib.Path(__file__).parent / "testdata"
FILES = sorted([*FOLDER.glob("compile/*.xml"), *FOLDER.glob("contacts/*.xml"), *FOLDER.glob("dynamics/*.xml")])
PNG = png(1, 1, b"\0abc")


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_file_round_trips(path, tmp_path):
    scope = parse_file(path)
    before = compile_scope(scope)
    text = to_text(scope)
    assert bit_differences(compile_scope(parse_string(text)), before) == []
    elsewhere = tmp_path / "saved.xml"
    elsewhere.write_text(to_text(scope, tmp_path), encoding="utf-8")
    assert bit_differences(compile_scope(parse_file(elsewhere)), before) == []
    assert to_text(parse_string(text)) == text, "writing what was written changes it"


@pytest.mark.parametrize("name", sorted(scenes.names()))
def test_every_scene_round_trips(name):
    scope = parse_string(scenes.build(name))
    assert bit_differences(compile_scope(parse_string(to_text(scope))), compile_scope(scope)) == []


REPEATED = """<mujoco>
  <compiler angle="radian" meshdir="a" texturedir="t"/> <compiler assetdir="b"/> <compiler texturedir="c"/>
  <option timestep="0.01" o_solref="0.1 2"><flag gravity="disable"/></option>
  <option o_solref="0.3"><flag gravity="enable" energy="enable"/></option>
  <size njmax="7"/> <size nuserdata="3"/>
  <visual><map znear="0.3"/><global fovy="20"/></visual> <visual><map zfar="7"/></visual>
  <statistic extent="3"/> <statistic center="1 2 3"/>
  <default><geom rgba="1 0 0 1"/><default class="a"><geom size=".3"/></default></default>
  <default><geom rgba="0 1 0 1" size=".2"/><default class="b"><joint damping="1"/></default></default>
  <default><default class="c"><geom friction=".1"/></default></default>
  <worldbody><geom class="a"/></worldbody>
  <worldbody><body name="x&lt;&quot;&#10;y"><joint class="b" range="0 1"/><geom/></body></worldbody>
  <keyframe><key qpos="1e-3"/></keyframe> <keyframe><key qpos="-0.1"/></keyframe>
</mujoco>"""


def test_repeated_sections_are_merged():
    scope = parse_string(REPEATED)
    text = to_text(scope)
    again = parse_string(text)
    assert bit_differences(compile_scope(again), compile_scope(scope)) == []
    assert again.compiler == scope.compiler
    for tag in ("compiler", "option", "size", "visual", "statistic", "worldbody", "keyframe"):
        assert text.count(f"<{tag}") == 1, tag


def test_numbers_are_written_exactly_and_short():
    text = to_text(parse_string('<mujoco><option timestep="0.1" gravity="1e-300 -0 0.30000000000000004"/></mujoco>'))
    assert 'timestep="0.1"' in text and 'gravity="1e-300 -0 0.30000000000000004"' in text


def test_files_are_found_from_another_folder(tmp_path, monkeypatch):
    """Textures by path, through texturedir, with strippath, and among the assets."""
    (tmp_path / "model" / "art").mkdir(parents=True)
    (tmp_path / "model" / "art" / "a.png").write_bytes(PNG)
    body = '<asset><texture name="t" type="2d" file="{}"/></asset><worldbody/>'
    for compiler, name in (
        ("", "art/a.png"),
        ('texturedir="art"', "a.png"),
        ('assetdir="art" strippath="1"', "x/a.png"),
    ):
        compiler = compiler.replace('"1"', '"true"')
        path = tmp_path / "model" / "m.xml"
        path.write_text(f"<mujoco><compiler {compiler}/>{body.format(name)}</mujoco>")
        scope = parse_file(path)
        before = compile_scope(scope)
        for folder in (tmp_path / "model", tmp_path):
            saved = folder / "saved.xml"
            saved.write_text(to_text(scope, folder))
            assert bit_differences(compile_scope(parse_file(saved)), before) == []
        monkeypatch.chdir(os.path.dirname(__file__))
        assert bit_differences(compile_scope(parse_string(to_text(scope))), before) == []
    text = f'<mujoco><compiler texturedir="art"/>{body.format("b.png")}</mujoco>'
    assets = {"b.png": PNG}
    scope = parse_string(text, assets)
    monkeypatch.chdir(tmp_path)
    assert bit_differences(compile_scope(parse_string(to_text(scope), assets)), compile_scope(scope)) == []
