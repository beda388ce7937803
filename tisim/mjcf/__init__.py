"""MJCF: the model format, from XML text to the arrays of a model.

grammar.py   the table of elements and attributes        xmltext.py    XML, includes, places in files
parse.py     checks a file against the table             defaults.py   default classes
world.py     the body tree, frames, replicate            shapes.py     volumes, inertias, bounds
elements.py  geoms, joints, sites                        bodies.py     bodies and their inertia
extras.py    assets, cameras, pairs                      tree.py       index arrays of the kinematic tree
sensor.py    sensors                                     custom.py     numeric, text, tuple
keyframe.py  keyframes                                   usage.py      what other elements name
fuse.py      compiler/fusestatic                         discard.py    compiler/discardvisual
setconst.py  constants of the reference pose             compile.py    the order of all this
write.py     a specification as MJCF text                spec*.py      tisim.Spec: build, edit, attach
"""

from .compile import compile_scope
from .format.parse import parse_file, parse_string


def compile_file(path):
    """Compiled model of an MJCF file. Raises MjcfError or UnsupportedError with file, line and column."""
    return compile_scope(parse_file(path))


def compile_string(text, assets=None):
    """The same for a text; `assets` maps names of included files to their contents."""
    return compile_scope(parse_string(text, assets))
