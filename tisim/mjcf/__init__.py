"""MJCF: the model format, from XML text to the arrays of a model.

rotations.py   quaternions and orientations             tree.py      index arrays of the kinematic tree
numbers.py     what counts as zero
format/        what may stand in a file: XML and URDF, places in files, the grammar, defaults, writing
scene/         the tree becomes flat lists of Items: frames, replicates, attached models, references
assets/        meshes, height fields, textures, skins and their files
elements/      each kind of element becomes its arrays
reference/     what follows from the reference pose
reduce/        compiler/fusestatic and compiler/discardvisual
lengthrange/   the short simulation behind actuator_lengthrange
compile.py     the order of the work, on one screen

What stands in this list imports only from what stands above it. `tisim.spec` builds and edits the tree that format/
reads and writes.
"""

from .compile import compile_scope
from .format.parse import parse_file, parse_string


def compile_file(path):
    """Compiled model of an MJCF file. Raises MjcfError or UnsupportedError with file, line and column."""
    return compile_scope(parse_file(path))


def compile_string(text, assets=None):
    """The same for a text; `assets` maps names of included files to their contents."""
    return compile_scope(parse_string(text, assets))
