"""The rules of tisim/model/validate.py for meshes, height fields and other lists of runs."""

import numpy as np

from .validate_rule import rule, tiles, wrong_at

# runs one behind the other: address, number of rows, size that they fill
RUNS = """mesh_vertadr mesh_vertnum nmeshvert, mesh_faceadr mesh_facenum nmeshface, mesh_normaladr mesh_normalnum
    nmeshnormal, mesh_texcoordadr mesh_texcoordnum nmeshtexcoord, mesh_polyadr mesh_polynum nmeshpoly, mesh_polyvertadr
    mesh_polyvertnum nmeshpolyvert, mesh_polymapadr mesh_polymapnum nmeshpolymap, tendon_adr tendon_num nwrap,
    sensor_adr sensor_dim nsensordata, numeric_adr numeric_size nnumericdata, text_adr text_size ntextdata, tuple_adr
    tuple_size ntupledata, skin_vertadr skin_vertnum nskinvert,
    skin_faceadr skin_facenum nskinface, skin_boneadr skin_bonenum nskinbone, skin_bonevertadr skin_bonevertnum
    nskinbonevert, actuator_actadr actuator_actnum na"""


def _run(words):
    adr, num, size = words.split()
    return rule(f"{adr} {num}")(lambda a, sizes: tiles(a, adr, num, sizes[size]))


def _owners(a, num):
    """Mesh of each row of its runs."""
    return np.repeat(np.arange(len(a[num])), a[num])


def _local(name, num, of):
    """A rule: rows of `name`, as many per mesh as `num`, hold numbers below the mesh's `of`."""

    def check(a, sizes):
        end = a[of][_owners(a, num)].reshape(-1, *[1] * (a[name].ndim - 1))
        return wrong_at(name, a[name], (a[name] >= 0) & (a[name] < end), f"numbers below the mesh's {of}")

    return rule(f"{name} {num} {of}")(check)


@rule("mesh_facetexcoord mesh_facenum mesh_texcoordnum")
def _texcoords(a, sizes):
    end = np.maximum(a["mesh_texcoordnum"], 1)[_owners(a, "mesh_facenum"), None]
    values = a["mesh_facetexcoord"]
    return wrong_at("mesh_facetexcoord", values, (values >= 0) & (values < end), "numbers below mesh_texcoordnum")


@rule("mesh_polyvertnum mesh_polyvert mesh_polynum mesh_polymapnum mesh_polymap mesh_vertnum mesh_vertadr")
def _polygons(a, sizes):
    """Corners of a mesh's polygons, and polygons around its vertices, numbered within the mesh."""
    for name, parts, own, of in (
        ("mesh_polyvert", "mesh_polyvertnum", "mesh_polynum", "mesh_vertnum"),
        ("mesh_polymap", "mesh_polymapnum", "mesh_vertnum", "mesh_polynum"),
    ):
        mesh = np.repeat(_owners(a, own), a[parts])
        if found := wrong_at(name, a[name], (a[name] >= 0) & (a[name] < a[of][mesh]), f"numbers below the mesh's {of}"):
            return found
    return wrong_at("mesh_vertnum", a["mesh_vertnum"], a["mesh_vertnum"] > 0, "some vertices")


@rule("mesh_graphadr mesh_graph mesh_vertnum")
def _graphs(a, sizes):
    """Hulls: vertices with neighbours, whose lists end with -1, and faces, one hull behind the other."""
    graph, end = a["mesh_graph"], 0
    for mesh, adr in enumerate(a["mesh_graphadr"].tolist()):
        if adr < 0:
            continue
        what = f"mesh_graph of mesh {mesh}"
        if adr != end or adr + 2 > len(graph):
            return f"mesh_graphadr[{mesh}] is {adr}, expected {end}, the end of the one before"
        nvert, nface = graph[adr : adr + 2].tolist()
        if nvert < 1 or nface < 0 or adr + 2 + 3 * nvert + 6 * nface > len(graph):
            return f"{what} claims {nvert} vertices and {nface} faces"
        start, ids, edge, face = np.split(
            graph[adr + 2 : adr + 2 + 3 * nvert + 6 * nface], [nvert, 2 * nvert, 3 * nvert + 3 * nface]
        )
        end = adr + 2 + 3 * nvert + 6 * nface
        for values, low, stop, word in (
            (start, 0, len(edge), "lists of neighbours"), (ids, 0, int(a["mesh_vertnum"][mesh]), "vertices"),
            (edge, -1, nvert, "neighbours"), (face, 0, int(a["mesh_vertnum"][mesh]), "faces"),
        ):  # fmt: skip
            if values.size and (values.min() < low or values.max() >= stop):
                return f"{what} holds {word} {values.min()} .. {values.max()}, expected {low} .. {stop - 1}"
        if edge[-1] != -1:
            return f"{what}: the last list of neighbours does not end with -1"
    return None if end == len(graph) else f"mesh_graph has {len(graph)} numbers, the hulls have {end}"


@rule("hfield_nrow hfield_ncol hfield_adr")
def _fields(a, sizes):
    for name in ("hfield_nrow", "hfield_ncol"):
        if found := wrong_at(name, a[name], a[name] > 1, "at least 2"):
            return found
    number = a["hfield_nrow"].astype(np.int64) * a["hfield_ncol"]
    return tiles(dict(hfield_adr=a["hfield_adr"], cells=number), "hfield_adr", "cells", sizes["nhfielddata"])


@rule("tex_height tex_width tex_nchannel tex_adr")
def _textures(a, sizes):
    for name in ("tex_height", "tex_width", "tex_nchannel"):
        if found := wrong_at(name, a[name], (a[name] > 0) & (a[name] < 1 << 20), "a positive number"):
            return found
    number = a["tex_height"].astype(np.int64) * a["tex_width"] * a["tex_nchannel"]
    return tiles(dict(tex_adr=a["tex_adr"], texels=number), "tex_adr", "texels", sizes["ntexdata"])


@rule("skin_bonevertid skin_face skin_facenum skin_vertnum skin_bonenum skin_bonevertnum")
def _skins(a, sizes):
    end = a["skin_vertnum"][_owners(a, "skin_facenum"), None]
    if found := wrong_at("skin_face", a["skin_face"], a["skin_face"] < end, "numbers below skin_vertnum"):
        return found
    owner = np.repeat(_owners(a, "skin_bonenum"), a["skin_bonevertnum"])
    ids = a["skin_bonevertid"]
    return wrong_at("skin_bonevertid", ids, ids < a["skin_vertnum"][owner], "numbers below skin_vertnum")


ASSET_RULES = (
    *map(_run, RUNS.replace("\n", " ").split(",")), _local("mesh_face", "mesh_facenum", "mesh_vertnum"),
    _local("mesh_facenormal", "mesh_facenum", "mesh_normalnum"), _texcoords, _polygons, _graphs, _fields, _textures,
    _skins,
)  # fmt: skip
