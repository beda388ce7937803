"""compiler/discardvisual: what exists only to be seen is left out; masses and inertias stay what they were.

After MuJoCo's compiler (Apache-2.0) for what goes: all materials and textures, geoms that cannot collide and that
no contact pair, sensor, tendon or tuple names, and meshes that no other geom and no sensor or tuple uses.
"""

import numpy as np

from tisim.enums import mjtObj, mjtTexture

from ..assets import mesh
from ..scene.items import first, unique_names
from ..scene.usage import referenced


def discard_materials(scene, items):
    """Takes materials and textures out of the lists, and their names out of the elements that have one."""
    for tag, kind in (("material", mjtObj.mjOBJ_MATERIAL), ("texture", mjtObj.mjOBJ_TEXTURE)):
        unique_names(items[tag], kind)
        nameless = [not item.name and not item.attrib.get("file") and tag == "texture" and
                    item.attrib["type"] != mjtTexture.mjTEXTURE_SKYBOX for item in items[tag]]  # fmt: skip
        first(items[tag], nameless, "a texture needs a name, or a file, or to be a skybox")
        items[tag] = []
    for item in scene.geoms + scene.sites + items["tendon"] + items["mesh"] + items["skin"]:
        if item.attrib.get("material"):
            item.attrib = {**item.attrib, "material": None}


def discard_visual(a, scene, items, meshes, out):
    """Takes geoms and meshes out of the arrays and lists, in place; tree.link has to renew what counts geoms.

    a  dict of arrays;  scene  World;  items  sections.Lists;  meshes  list of mesh.Mesh;  out  Compiled.
    """
    number = len(scene.geoms)
    keep = (a["geom_contype"] != 0) | (a["geom_conaffinity"] != 0)
    ids = {item.name: i for i, item in enumerate(scene.geoms) if item.name}
    keep[list(referenced(items, mjtObj.mjOBJ_GEOM, ids))] = True

    names = out.names[mjtObj.mjOBJ_MESH]
    mesh_ids = {name: i for i, name in enumerate(names)}
    used = set(referenced(items, mjtObj.mjOBJ_MESH, mesh_ids))
    used |= {item.find(mesh_ids, item.attrib["mesh"], "mesh") for item, stays in zip(scene.geoms, keep)
             if stays and item.attrib["mesh"]}  # fmt: skip
    new = np.full(len(names) + 1, -1, np.int32)
    new[sorted(used)] = np.arange(len(used))
    a.update(mesh.arrays([meshes[i] for i in sorted(used)]))
    out.names[mjtObj.mjOBJ_MESH] = [names[i] for i in sorted(used)]
    of_mesh = np.array([bool(item.attrib["mesh"]) for item in scene.geoms], bool)
    a["geom_dataid"] = np.where(of_mesh, new[a["geom_dataid"]], a["geom_dataid"]).astype(np.int32)

    for name in [name for name in a if name.startswith("geom_") and len(a[name]) == number]:
        a[name] = a[name][keep]
    scene.geoms = [item for item, stays in zip(scene.geoms, keep) if stays]
