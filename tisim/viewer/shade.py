"""The light of a picture, computed from its depth, normals and colours, and from depth pictures taken from lamps.

One kernel does all that is done per pixel, and reads GGUI's buffers as they are. Numbers in it are f32 by name: others
have the running precision.
"""

import functools

import numpy as np

from tisim.device import session

GAMMA = 2.2
LINEAR = ((np.arange(256) / 255) ** GAMMA).astype(np.float32)  # of a colour's 8 bits
FLAT = 0.98, 0.03  # samples of a pixel get one light of the sky: least cosine of normals, most difference of distances
LAMP = 18  # numbers of a lamp: position, right, up, back, focal, texel, near, far, side and place of its depth


@functools.lru_cache(maxsize=None)
def _kernel(generation):
    import taichi as ti

    f = ti.f32
    vec3 = ti.types.vector(3, ti.f32)
    floats = ti.types.ndarray(dtype=ti.f32, ndim=1)
    table = ti.types.ndarray(dtype=ti.f32, ndim=2)
    image = ti.types.ndarray(dtype=ti.f32, ndim=3)

    @ti.func
    def unit(v):
        """v normalised; Taichi's own does it in the running precision."""
        return v / ti.max(ti.sqrt(v.dot(v)), f(1e-6))

    @ti.func
    def ray(c, r, width, height, focal, right, up, back):
        """Direction of the ray through a pixel; 1 along the view."""
        x = (ti.cast(c, f) + f(0.5) - f(0.5) * ti.cast(width, f)) / focal
        y = (f(0.5) * ti.cast(height, f) - ti.cast(r, f) - f(0.5)) / focal
        return x * right + y * up - back

    @ti.func
    def normal(painted: ti.template(), c, r):
        """Normal at a pixel, painted as a colour."""
        n = vec3(painted[c, r, 0], painted[c, r, 1], painted[c, r, 2]) * f(2.0) - f(1.0)
        return unit(n)

    @ti.func
    def seen(lamps: ti.template(), k, maps: ti.template(), point, n, cosine):
        """How much of lamp k a point sees, 0 to 1; cosine of the lamp's direction and the normal."""
        texel, near, far, side = lamps[k, 13], lamps[k, 14], lamps[k, 15], ti.cast(lamps[k, 16], ti.i32)
        p = point + f(1.5) * texel * n - vec3(lamps[k, 0], lamps[k, 1], lamps[k, 2])
        x = p.dot(vec3(lamps[k, 3], lamps[k, 4], lamps[k, 5]))
        y = p.dot(vec3(lamps[k, 6], lamps[k, 7], lamps[k, 8]))
        away = -p.dot(vec3(lamps[k, 9], lamps[k, 10], lamps[k, 11]))
        # a texel's depth varies by its width times the slope; very grazing light stays approximate
        slope = ti.min(f(12.0), ti.sqrt(ti.max(f(0.0), f(1.0) - cosine * cosine)) / cosine)
        limit = away - texel * (f(1.0) + f(1.5) * slope)
        z = (near * far / limit - near) / (far - near)  # what GGUI keeps of that distance; more is nearer
        middle = f(0.5) * ti.cast(side, f) - f(0.5)
        c, r = middle + lamps[k, 12] * x / away, middle - lamps[k, 12] * y / away
        ci, ri = ti.cast(ti.floor(c), ti.i32), ti.cast(ti.floor(r), ti.i32)
        result = f(1.0)
        if ci >= 0 and ri >= 0 and ci < side - 1 and ri < side - 1:
            # the four texels around the point, so that edges are soft
            fc, fr = c - ti.cast(ci, f), r - ti.cast(ri, f)
            i = ti.cast(lamps[k, 17], ti.i32) + ri * side + ci
            a = ti.select(maps[i] < z, f(1.0) - fc, f(0.0)) + ti.select(maps[i + 1] < z, fc, f(0.0))
            b = ti.select(maps[i + side] < z, f(1.0) - fc, f(0.0)) + ti.select(maps[i + side + 1] < z, fc, f(0.0))
            result = a * (f(1.0) - fr) + b * fr
        return result

    @ti.kernel
    def shade(
        color: image, depth: floats, painted: image, linear: floats, lamps: table, maps: floats, samples: ti.i32,
        focal: ti.f32, near: ti.f32, far: ti.f32, position: vec3, right: vec3, up: vec3, back: vec3, sun: vec3,
        sun_light: vec3, sky_light: vec3, sky_top: vec3, sky_low: vec3, reach: ti.f32, picture: image,
    ):  # fmt: skip
        """What the sun, the sky and light that bounced give, far ground fading, the samples of a pixel averaged."""
        width, height = color.shape[0], color.shape[1]
        ti.loop_config(block_dim=64)
        for row, column in ti.ndrange(height // samples, width // samples):
            total, first, first_away, dome = vec3(0, 0, 0), vec3(0, 0, 0), f(-1.0), f(0.0)
            for s in range(samples * samples):
                c, r = column * samples + s % samples, row * samples + s // samples
                upward = height - 1 - r
                own = vec3(color[c, upward, 0], color[c, upward, 1], color[c, upward, 2])
                z = depth[r * width + c]
                if z > f(0.0):
                    way, n = ray(c, r, width, height, focal, right, up, back), normal(painted, c, upward)
                    away = near * far / (z * (far - near) + near)
                    p = position + away * way
                    if n.dot(first) < f(FLAT[0]) or ti.abs(away - first_away) > f(FLAT[1]) * away:
                        first, first_away = n, away
                        light, weight = f(0.0), f(1e-6)
                        for k in range(1, lamps.shape[0]):
                            cosine = n.dot(vec3(lamps[k, 9], lamps[k, 10], lamps[k, 11]))
                            if cosine > f(0.0):
                                light += cosine * seen(lamps, k, maps, p, n, cosine)
                                weight += cosine
                        dome = ti.select(weight > f(1e-5), light / weight, f(1.0))
                    facing = n.dot(sun)
                    if facing > f(0.0):
                        if lamps.shape[0] > 0:
                            facing *= seen(lamps, 0, maps, p, n, facing)
                    else:
                        facing = f(0.0)
                    lit = f(0.06) + f(0.08) * ti.max(f(0.0), -n[2])  # light that bounced more than once
                    lit3 = lit + sun_light * facing + sky_light * (dome * (f(0.55) + f(0.45) * n[2]))
                    # a soft highlight of the sun: the 60th power
                    shine = ti.max(f(0.0), n.dot(unit(sun - unit(way))))
                    s4 = shine * shine * shine * shine
                    s12 = s4 * s4 * s4
                    s24 = s12 * s12
                    shine = s24 * s24 * s12 * f(0.22) * facing
                    fade = f(1.0) - ti.exp(-(away / reach) * (away / reach))
                    for j in ti.static(range(3)):
                        albedo = linear[ti.cast(own[j] * f(255.0) + f(0.5), ti.i32)]
                        toned = f(1.0) - ti.exp(f(-1.25) * (albedo * lit3[j] + shine))
                        own[j] = ti.pow(ti.max(f(0.0), toned), f(1 / GAMMA))
                    own = own + (sky_low - own) * fade
                else:
                    rise = f(1.0) - ti.cast(r, f) / ti.cast(ti.max(1, height - 1), f)
                    own = own + own * (sky_top - sky_low) / sky_low * (f(0.55) * rise * ti.sqrt(rise))
                total = total + own
            for j in ti.static(range(3)):
                picture[row, column, j] = total[j] / ti.cast(samples * samples, f)

    return shade


def lamp(position, axes, focal, texel, near, far, side, place):
    """The numbers (LAMP,) of a lamp: where its picture is taken from and its axes right, up, backward (3, 3).

    focal [pixel];  texel  width of a pixel [m];  near, far  planes [m];  side  of its depth picture [pixel];
    place  of that picture's first number.
    """
    return np.float32([*position, *np.ravel(axes), focal, texel, near, far, side, place])


def shade(color, depth, painted, lamps, maps, samples, focal, near, far, position, axes, sun, lights, reach):
    """The picture (height, width, 3) f32 from 0 to 1, `samples` pixels a side made one.

    color, painted  GGUI's images, with colours and with normals;  depth (n,)  GGUI's, of the same picture;
    lamps (k, LAMP)  the sun first, then the sky's; none: no shadows;  maps  depths seen from them;  focal [pixel];
    near, far  planes [m];  position (3,) and axes right, up, backward (3, 3) of the camera;  sun (3,)  way to it;
    lights  colours of the sun's and the sky's light, of the sky high up and low;  reach  where the ground fades [m].
    """
    width, height = color.shape[:2]
    picture = np.empty((height // samples, width // samples, 3), np.float32)
    _kernel(session.generation)(
        color, depth, painted, LINEAR, lamps, maps, samples, float(focal), float(near), float(far),
        *(tuple(map(float, v)) for v in (position, *axes, sun, *lights)), float(reach), picture,
    )  # fmt: skip
    return picture
