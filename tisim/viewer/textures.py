"""Textures as pictures need them: texels of several sizes in one array, and how each record's lies on it."""

import numpy as np

from tisim.enums import mjtGeom, mjtTexture, mjtTextureRole

ROLES = mjtTextureRole.mjTEXROLE_RGB, mjtTextureRole.mjTEXROLE_RGBA
SPECULAR, SHININESS = 0.5, 0.5  # of what has no material, as in MuJoCo


def pyramid(m):
    """(pic_texinfo (ntex, 4), pic_texel): of each texture the first texel, width, height and levels; each level is half
    as wide and high as the one before."""
    info, texels, at = np.zeros((max(1, m.ntex), 4), np.int32), [], 0
    for t in range(m.ntex):
        height, width, nchannel = int(m.tex_height[t]), int(m.tex_width[t]), int(m.tex_nchannel[t])
        start = int(m.tex_adr[t])
        image = np.asarray(m.tex_data)[start : start + height * width * nchannel].reshape(height, width, nchannel)
        image = image.astype(float)
        if nchannel < 3:
            image = np.repeat(image[..., :1], 3, axis=2)
        info[t] = at, width, height, 1
        cube = m.tex_type[t] != mjtTexture.mjTEXTURE_2D
        while True:
            word = np.clip(image[..., :3] + 0.5, 0, 255).astype(np.int32) @ np.array([1, 256, 65536], np.int32)
            texels.append(word.ravel().astype(np.int32))
            at += word.size
            height, width = image.shape[:2]
            if width % 2 or height % 2 or (cube and width < 4):
                break
            image = image.reshape(height // 2, 2, width // 2, 2, -1).mean((1, 3))
            info[t, 3] += 1
    return info, np.concatenate(texels) if texels else np.zeros(1, np.int32)


def of_materials(m, materials):
    """Texture of each material id (n,), -1 where there is none: what colours it."""
    chosen = np.full(len(materials), -1, np.int32)
    if not m.nmat or not m.ntex:
        return chosen
    tex = np.asarray(m.mat_texid).reshape(m.nmat, -1)
    for role in ROLES:
        found = tex[np.maximum(materials, 0), role]
        chosen = np.where((chosen < 0) & (np.asarray(materials) >= 0), found, chosen)
    return chosen.astype(np.int32)


def maps(m, tex, materials, kind, size, data):
    """pic_map (n, 3) of things with these textures (n,), materials (n,), mjtGeom (n,), sizes (n, 3), meshes (n,)."""
    out = np.zeros((len(tex), 3))
    has = tex >= 0
    if not has.any():
        return out
    mat, size = np.maximum(materials, 0), np.array(size, float).reshape(-1, 3)
    repeat = np.asarray(m.mat_texrepeat, float).reshape(-1, 2)[mat]
    uniform = np.asarray(m.mat_texuniform, bool)[mat][:, None]
    flat = np.asarray(m.tex_type)[np.maximum(tex, 0)] == mjtTexture.mjTEXTURE_2D
    ball = kind == mjtGeom.mjGEOM_SPHERE
    size[ball] = size[ball][:, :1]
    rod = (kind == mjtGeom.mjGEOM_CAPSULE) | (kind == mjtGeom.mjGEOM_CYLINDER)
    size[rod] = size[rod][:, [0, 0, 1]]
    field = kind == mjtGeom.mjGEOM_HFIELD
    if field.any():
        size[field] = np.asarray(m.hfield_size, float).reshape(-1, 4)[data[field]][:, :3]
    size[kind == mjtGeom.mjGEOM_MESH] = 1.0
    per = 1.0 / np.where((size > 0) & ~uniform, size, 1.0)
    out[:, :2] = 0.5 * repeat * per[:, :2]
    out[~flat] = per[~flat]
    mesh = flat & (kind == mjtGeom.mjGEOM_MESH) & (data >= 0)
    if mesh.any():
        coords = np.where(mesh, np.asarray(m.mesh_texcoordadr)[np.maximum(data, 0)], -1) >= 0
        radius = np.abs(np.asarray(m.mesh_vert)).max() if m.nmeshvert else 1.0
        out[coords] = 1.0, 1.0, -0.5 / max(radius, 1e-9)  # texrepeat is not for them
    out[~has] = 0.0
    return out


def matter(m, materials):
    """pic_matter (n, 3) of things of these materials (n,): emission, specular part, exponent of the highlight."""
    out = np.tile([0.0, SPECULAR, 128 * SHININESS], (len(materials), 1))
    has = np.asarray(materials) >= 0
    if has.any():
        mat = np.asarray(materials)[has]
        out[has] = np.column_stack([m.mat_emission[mat], m.mat_specular[mat], 128 * m.mat_shininess[mat]])
    return out


def reflectance(m, materials):
    """(n,) share of light that mirrors: of planes only it is drawn."""
    has = np.asarray(materials) >= 0
    out = np.zeros(len(materials))
    if has.any():
        out[has] = np.clip(np.asarray(m.mat_reflectance, float)[np.asarray(materials)[has]], 0, 1)
    return out


def skybox(m):
    """The texture of the sky, -1 for none."""
    found = np.flatnonzero(np.asarray(m.tex_type) == mjtTexture.mjTEXTURE_SKYBOX)
    return int(found[0]) if len(found) else -1
