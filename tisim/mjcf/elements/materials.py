"""Materials: their arrays, and which elements have them."""

import numpy as np

from tisim.enums import mjtObj
from tisim.errors import each

from ..scene.items import column
from .object_names import Names

# mat_texid has one column per mjtTextureRole
NTEXROLE = 10


def check_materials(items):
    """Checks the Items of material assets and gives them `layers`, the nodes of their layers."""
    for item in items:
        node = item.node
        if item.children:
            item.attrib["layers"] = [*item.attrib.get("layers", ()), *item.children]
            if "texture" in node.attrib:
                raise node.error("'texture' and layers exclude each other")
        if not item.name:
            raise node.error("a material needs a name")


def compile_materials(a, materials, out):
    """Arrays mat_*."""
    ids = Names(out.names).of(mjtObj.mjOBJ_TEXTURE)
    texid = np.full((len(materials), NTEXROLE), -1, np.int32)
    for row, item in zip(texid, materials):
        if item.attrib["texture"]:
            row[1] = item.find(ids, item.attrib["texture"], "texture")
        for layer in item.attrib.get("layers", ()):
            row[layer.attrib["role"]] = item.find(ids, layer.attrib["texture"], "texture")
    a["mat_texid"] = texid
    a["mat_texuniform"] = column(materials, "texuniform", dtype=np.uint8)
    a["mat_texrepeat"] = column(materials, "texrepeat", 2, np.float32)
    for name in ("emission", "specular", "shininess", "reflectance", "metallic", "roughness"):
        a[f"mat_{name}"] = column(materials, name, dtype=np.float32)
    a["mat_rgba"] = column(materials, "rgba", 4, np.float32)


def material_ids(items, materials, others=None):
    """(n,) ids of the materials of geoms or sites, -1 where there is none.

    others  dict row -> Item whose material counts where the row names none.
    """
    ids = {item.name: i for i, item in enumerate(materials)}

    def find(i):
        item = others[i] if others and i in others and not items[i].attrib["material"] else items[i]
        name = item.attrib["material"]
        return item.find(ids, name, "material") if name else -1

    return np.array(each(find, range(len(items))), np.int32)
