"""Which attributes are names of other elements, and of which kind: one table for the whole of MJCF.

A line is `place  attribute:kind ...`. The place is the section and the tag, and for children the tags below; `body`
stands for everything below worldbody, wherever it is nested. The kind is the mjtObj of what is named, without its
prefix and in lower case; `@name` means that the attribute `name` of the same element says the kind. Classes
(`class`, `childclass`) are named too, but belong to a file, not to the model: they are not in the table.
"""

from tisim.enums import mjtObj

TABLE = """
body/geom                material:material mesh:mesh hfield:hfield
body/site                material:material
body/camera              target:body
body/light               target:body texture:texture
body/attach              model:model
asset/mesh               material:material
asset/material           texture:texture
asset/material/layer     texture:texture
asset/skin               material:material
asset/skin/bone          body:body
deformable/flex          body:body node:body material:material
deformable/skin          material:material
deformable/skin/bone     body:body
contact/pair             geom1:geom geom2:geom
contact/exclude          body1:body body2:body
equality/connect         body1:body body2:body site1:site site2:site
equality/weld            body1:body body2:body site1:site site2:site
equality/joint           joint1:joint joint2:joint
equality/tendon          tendon1:tendon tendon2:tendon
equality/flex            flex:flex
tendon/spatial           material:material
tendon/spatial/site      site:site
tendon/spatial/geom      geom:geom sidesite:site
tendon/fixed/joint       joint:joint
actuator/*               joint:joint jointinparent:joint tendon:tendon slidersite:site cranksite:site site:site
                       | refsite:site body:body
sensor/*                 site:site camera:camera joint:joint tendon:tendon actuator:actuator body:body body1:body
                       | body2:body geom:geom geom1:geom geom2:geom subtree1:body subtree2:body mesh:mesh
                       | objname:@objtype refname:@reftype
custom/tuple/element     objname:@objtype
"""

# words of objtype and reftype -> mjtObj
OBJTYPE = {kind.name[6:].lower(): kind for kind in mjtObj if kind != mjtObj.mjNOBJECT}


def _read():
    table = {}
    for line in TABLE.replace("\n                       |", "").strip().split("\n"):
        place, *words = line.split()
        table[place] = dict(word.split(":") for word in words)
    return table


REFERENCES = _read()


def place(section, *tags):
    """The key of REFERENCES for an element: "body" and its tag below worldbody, else section and tags."""
    exact = "/".join((section, *tags))
    return exact if exact in REFERENCES else f"{section}/*" if len(tags) == 1 else exact


def references(where, attrib):
    """The references of an element as a list of (attribute, name, mjtObj), empty names left out.

    where  its place() in the table;  attrib  its attributes, typed or as texts. A body named through its inertial frame
    (`body`) or its own (`xbody`) is mjOBJ_BODY both ways; mjOBJ_UNKNOWN where the kind is missing or no kind at all.
    """
    table = REFERENCES.get(where)
    if not table:
        return []
    return [(name, attrib[name], _kind(table[name], attrib)) for name in table if attrib.get(name)]


def _kind(word, attrib):
    if word.startswith("@"):
        word = attrib.get(word[1:])
    kind = OBJTYPE.get(word, mjtObj.mjOBJ_UNKNOWN) if isinstance(word, str) else mjtObj(word or 0)
    return mjtObj.mjOBJ_BODY if kind == mjtObj.mjOBJ_XBODY else kind
