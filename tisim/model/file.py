"""A compiled model as one file: NumPy's .npz with every array of model/fields.py and a JSON header.

Reading trusts nothing: format and version, names, dtypes, shapes, index ranges and runs of addresses are checked before
a Model is made, pickled objects are never loaded, and a zip entry larger than its header says is not unpacked.
"""

import io
import json
import os
import zipfile

import numpy as np

from tisim.device.damaged import DAMAGED
from tisim.device.whole_file import whole
from tisim.enums import mjtObj
from tisim.errors import Error
from tisim.mjcf.compile import Compiled
from tisim.mjcf.format.settings import OPTION, VISUAL

from . import options, validate
from .fields import FIELDS, complete, wrong
from .from_mujoco import NAMES
from .lcp import Lcp

STATISTIC = dict(meaninertia=1.0, meanmass=1.0, meansize=1.0, extent=1.0, center=(0.0, 0.0, 0.0))
FORMAT, VERSION = "tisim model", 1
HEADER = "header.json"
SUFFIXES = (".npz", ".xml")
# larger than any model that can be simulated; a damaged or hostile file must not fill the memory
MAX_BYTES = 8 << 30


def suffix(path):
    """How the name of a file ends that a model is written to: .npz or .xml. Raises Error for other names."""
    found = os.fspath(path)[-4:].lower()
    if found not in SUFFIXES:
        raise Error(f"{path}: expected a name that ends in .npz (compiled) or .xml (canonical MJCF)")
    return found


def save(m, path):
    """Writes a Model to an .npz file, all at once: an interrupted write leaves the old file as it was."""
    with whole(path, "model") as part:
        _write(m, part)


def to_bytes(m):
    """What `save` writes."""
    stream = io.BytesIO()
    _write(m, stream)
    return stream.getvalue()


def _write(m, file):
    """Writes a Model to a path or a stream."""
    header = dict(
        format=FORMAT, version=VERSION, modelname=m.modelname, sizes={k: int(v) for k, v in m._sizes.items()},
        names={kind.name: list(names) for kind, names in m._names.items()}, texts=m.texts, textures=m.textures,
        opt=_plain(m.opt), lcp=dict(m.lcp.items()), stat=_plain(m.stat), vis=_plain(m.vis),
    )  # fmt: skip
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        z.writestr(HEADER, json.dumps(header))
        for name in FIELDS:
            with z.open(f"{name}.npy", "w", force_zip64=True) as f:
                np.lib.format.write_array(f, np.asarray(m._arrays[name]), allow_pickle=False)


def _plain(settings):
    """A Settings group as JSON: arrays as lists, groups as objects."""
    out = {}
    for name, value in settings.items():
        if hasattr(value, "items"):
            out[name] = _plain(value)
        else:
            out[name] = np.asarray(value).tolist()
    return out


def load(path):
    """Compiled model of a file that `save` wrote. Raises Error where it is missing, damaged or of another kind."""
    path = os.fspath(path)
    return _loaded(path, path)


def from_bytes(data, name):
    """Compiled model of what `to_bytes` gave; name  of the file in messages. Errors as of `load`."""
    return _loaded(io.BytesIO(data), name)


def _loaded(file, path):
    try:
        with zipfile.ZipFile(file) as z:
            header, arrays = _read(z, path)
    except OSError as e:
        raise Error(f"{path}: cannot read the model: {e.strerror or e}") from None
    except DAMAGED as e:
        raise Error(f"{path}: the file is damaged or is no saved model: {e}") from None
    try:
        return _compiled(header, arrays)
    except Error as e:
        raise Error(f"{path}: damaged: {e}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise Error(f"{path}: the file is damaged, or from another tisim ({type(e).__name__}: {e})") from None


def _read(z, path):
    info = z.getinfo(HEADER) if HEADER in z.namelist() else None
    if info is None:
        raise Error(f"{path}: not a saved model: it has no {HEADER}")
    header = json.loads(_entry(z, info))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise Error(f"{path}: not a saved model")
    if header.get("version") != VERSION:
        raise Error(
            f"{path}: saved as version {header.get('version')}, this tisim reads version {VERSION}; save it again from "
            "its MJCF"
        )
    if sum(i.file_size for i in z.infolist()) > MAX_BYTES:
        raise Error(f"{path}: the file claims more than {MAX_BYTES >> 30} GiB")
    arrays = {}
    for info in z.infolist():
        name = info.filename.removesuffix(".npy")
        if name in FIELDS:
            arrays[name] = _array(_entry(z, info))
        elif info.filename != HEADER:
            raise Error(f"{path}: damaged: it holds an unknown entry '{info.filename[:60]}'")
    return header, arrays


def _entry(z, info):
    with z.open(info) as f:
        data = f.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise ValueError(f"{info.filename} has another length than its entry says")
    return data


def _array(data):
    f = io.BytesIO(data)
    version = np.lib.format.read_magic(f)
    shape, fortran, dtype = {
        (1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0,
    }[version](f)  # fmt: skip
    rest = data[f.tell() :]
    if dtype.hasobject or fortran or int(np.prod(shape, dtype=object)) * dtype.itemsize != len(rest):
        raise ValueError("an array's header does not fit its data")
    return np.frombuffer(rest, dtype).reshape(shape).copy()


def _compiled(header, arrays):
    sizes = {str(k): int(v) for k, v in header["sizes"].items()}
    if any(v < -1 for k, v in sizes.items() if k != "memory"):
        raise ValueError("a size is negative")
    if found := wrong(arrays, sizes):
        raise ValueError(found)
    out = Compiled()
    out.arrays, out.sizes = arrays, sizes
    recomputed = complete(arrays, sizes)[1]
    recomputed["ngravcomp"] = sizes.get("ngravcomp")  # stays as compiled where body_gravcomp is written
    if recomputed != sizes:
        raise ValueError(f"sizes do not fit the arrays: {sorted(k for k in sizes if sizes[k] != recomputed.get(k))}")
    if found := validate.problem(arrays, sizes):
        raise ValueError(found)
    out.names = {mjtObj[kind]: [str(n) for n in names] for kind, names in header["names"].items()}
    out.modelname, out.texts, out.textures = str(header["modelname"]), dict(header["texts"]), list(header["textures"])
    for kind, (size, _) in NAMES.items():
        if len(out.names.get(kind, ())) not in (0, sizes[size]):
            raise ValueError(f"{len(out.names[kind])} names of {sizes[size]} objects of type {kind.name}")
    out.option, out.stat = options.read("opt", header["opt"], OPTION), options.read("stat", header["stat"], STATISTIC)
    out.lcp = Lcp(header.get("lcp"))
    vis = {k.rstrip("_"): v for k, v in header["vis"].items()}
    if set(vis) != set(VISUAL):
        raise ValueError(f"vis: expected {', '.join(VISUAL)}")
    out.visual = {section: options.read(f"vis.{section}", values, VISUAL[section]) for section, values in vis.items()}
    return out
