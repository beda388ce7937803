"""How much of a lamp each point of a picture sees, looked up in the depth picture taken from the lamp."""

import functools


@functools.lru_cache(maxsize=None)
def _kernel(generation):
    import taichi as ti

    vec3 = ti.types.vector(3, ti.f32)
    floats = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def look_up(
        points: floats, normals: floats, depth: floats, width: ti.i32, height: ti.i32, focal: ti.f32, bias: ti.f32,
        position: vec3, right: vec3, up: vec3, back: vec3, light_out: floats, weight_out: floats,
    ):  # fmt: skip
        """Adds cos(angle to the lamp) * visible part to light_out and the cosine to weight_out, over points."""
        ti.loop_config(block_dim=256)
        for i in range(light_out.shape[0]):
            n = vec3(normals[3 * i], normals[3 * i + 1], normals[3 * i + 2])
            cosine = n.dot(back)
            if cosine > 0.0:
                p = vec3(points[3 * i], points[3 * i + 1], points[3 * i + 2]) - position
                away = -p.dot(back)
                # a texel's depth varies by its width times the slope; very grazing light stays approximate
                limit = away - bias * (1.0 + 1.5 * ti.min(12.0, ti.sqrt(ti.max(0.0, 1.0 - cosine * cosine)) / cosine))
                c = ti.cast(0.5 * width - 0.5 + focal * p.dot(right) / away, ti.f32)
                r = ti.cast(0.5 * height - 0.5 - focal * p.dot(up) / away, ti.f32)
                ci, ri = ti.cast(ti.floor(c), ti.i32), ti.cast(ti.floor(r), ti.i32)
                seen = ti.cast(1.0, ti.f32)
                if ci >= 0 and ri >= 0 and ci < width - 1 and ri < height - 1:
                    # the four texels around the point, so that edges are soft
                    fc, fr = c - ci, r - ri
                    k = ri * width + ci
                    a = ti.select(depth[k] > limit, 1.0 - fc, 0.0) + ti.select(depth[k + 1] > limit, fc, 0.0)
                    b = ti.select(depth[k + width] > limit, 1.0 - fc, 0.0)
                    b += ti.select(depth[k + width + 1] > limit, fc, 0.0)
                    seen = ti.cast(a * (1.0 - fr) + b * fr, ti.f32)
                light_out[i] += cosine * seen
                weight_out[i] += cosine

    return look_up


def look_up(points, normals, depth, focal, bias, position, axes, light_out, weight_out):
    """Adds one lamp: cos(angle) * visible part to light_out (n,), the cosine to weight_out (n,), both f32.

    points, normals (n, 3) f32;  depth (height, width) [m] seen from the lamp at `position` (3,), whose picture has
    the axes right, up, backward (3, 3);  focal [pixel];  bias  width of a texel of that picture [m].
    """
    from tisim.device import session

    height, width = depth.shape
    _kernel(session.generation)(
        points.reshape(-1), normals.reshape(-1), depth.reshape(-1), width, height, float(focal), float(bias),
        *(tuple(map(float, v)) for v in (position, *axes)), light_out, weight_out,
    )  # fmt: skip
