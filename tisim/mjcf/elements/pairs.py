"""Pairs of geoms that touch always, and pairs of bodies that never do."""

import numpy as np

from tisim.enums import mjtObj
from tisim.errors import each

from ..scene.items import column, first, unique_names
from .object_names import Names


def compile_contacts(a, pairs, excludes, out):
    """Arrays pair_* and exclude_signature, sorted by the pair of bodies as in MuJoCo."""
    ids = Names(out.names)
    geom_ids, body_ids = ids.of(mjtObj.mjOBJ_GEOM), ids.of(mjtObj.mjOBJ_BODY)

    def ends(items, attributes, known, what):
        wanted = [(item, name) for item in items for name in attributes]
        found = each(lambda p: p[0].find(known, p[0].attrib.get(p[1], ""), what), wanted)
        return np.array(found, np.int64).reshape(-1, 2)

    ask = [(pairs, ("geom1", "geom2"), geom_ids, "geom"), (excludes, ("body1", "body2"), body_ids, "body")]
    geom, excluded = each(lambda question: ends(*question), ask)
    body = a["geom_bodyid"][geom].reshape(-1, 2)
    swap = body[:, 0] > body[:, 1]
    geom[swap], body[swap] = geom[swap, ::-1], body[swap, ::-1]
    signature = _signature(body)
    order = np.argsort(signature, kind="stable")
    pairs = [pairs[i] for i in order]
    condim = column(pairs, "condim", dtype=np.int32)
    first(pairs, ~np.isin(condim, [1, 3, 4, 6]), "'condim' is 1, 3, 4 or 6")
    a.update(
        pair_dim=condim, pair_geom1=geom[order, 0].astype(np.int32), pair_geom2=geom[order, 1].astype(np.int32),
        pair_signature=signature[order], pair_solref=column(pairs, "solref", 2),
        pair_solreffriction=column(pairs, "solreffriction", 2), pair_solimp=column(pairs, "solimp", 5),
        pair_margin=column(pairs, "margin"), pair_gap=column(pairs, "gap"), pair_friction=column(pairs, "friction", 5),
    )  # fmt: skip

    body = np.sort(excluded, axis=1)
    signature = _signature(body)
    order = np.argsort(signature, kind="stable")
    a["exclude_signature"] = signature[order]
    out.names[mjtObj.mjOBJ_PAIR] = unique_names(pairs, mjtObj.mjOBJ_PAIR)
    out.names[mjtObj.mjOBJ_EXCLUDE] = unique_names([excludes[i] for i in order], mjtObj.mjOBJ_EXCLUDE)


def _signature(body):
    """(n,) int32 of body pairs, as MuJoCo packs them: 16 bits each, wrapping around in larger models."""
    packed = (body[:, 0] << 16) + body[:, 1]
    return packed.astype(np.uint32).astype(np.int32)
