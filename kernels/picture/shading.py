"""Light and shadow of what a picture shows, through all layers, and how that becomes colours of the picture."""

from tisim.device.specialise import specialise

from ..types import *
from .rays import faces_of, light_block, normal_of, pixel_ray, see_block, world_ray
from .shapes import F, bits, high, low, real, row3
from .surface import paint_block
from .texture import skybox_at

UNSEEN = 1.0 / 512.0  # what comes through less is not looked for
STEPS = 2048.0  # entries of pic_tone per unit of the root of light
INFINITE = 0x7F800000  # its bits
SEE_BLOCK = PAINT_BLOCK = LIGHT_BLOCK = None  # what draw() sets
_made = {}


@func
def place_of_half(m, d, column, row):
    """Where the sample of a column and row of the half-size picture stands."""
    grid = d.pic_grid[0]
    half = grid[2] // 2
    tile = row // half * grid[0] + column // half
    return (tile * half + row % half) * half + column % half


@func
def sky_at(m, d, i):
    """Share of the sky seen, of the four nearest points of the half-size picture that show the same record."""
    grid = d.pic_grid[0]
    wide = grid[0] * (grid[2] // 2)
    tall = grid[1] * (grid[2] // 2)
    u = F(0.5) * real(d.pic_x[i]) - F(0.5)
    w = F(0.5) * real(d.pic_y[i]) - F(0.5)
    a = ti.cast(ti.floor(u), ti.i32)
    b = ti.cast(ti.floor(w), ti.i32)
    total = F(0.0)
    weight = F(0.0)
    mean = F(0.0)
    for k in ti.static(range(4)):
        c = a + k % 2
        r = b + k // 2
        o = place_of_half(m, d, ti.max(0, ti.min(wide - 1, c)), ti.max(0, ti.min(tall - 1, r)))
        sky = real(d.pic_sky[o])
        share = (F(1.0) - ti.abs(u - ti.cast(c, ti.f32))) * (F(1.0) - ti.abs(w - ti.cast(r, ti.f32))) + F(1e-3)
        same = d.pic_owner[o] == d.pic_record[i]
        mean += F(0.25) * sky
        total += ti.select(same, share * sky, F(0.0))
        weight += ti.select(same, share, F(0.0))
    return ti.select(weight > F(0.0), total / high(weight, F(1e-6)), mean)


@func
def place_of_tone(x):
    """Where light as a picture shows it stands in pic_tone, a table over its root."""
    return ti.cast(low(ti.sqrt(high(x, F(0.0))) * F(STEPS), F(3.0 * STEPS)) + F(0.5), ti.i32)


@func
def sky_color(m, d, i, k):
    """Colour k of the sky behind sample i: it changes with height in the picture."""
    rise = high(F(0.0), F(1.0) - real(d.pic_y[i]) * F(1.0 / d.pic_lens[0][2]))
    return F(d.pic_light[2][k]) + rise * ti.sqrt(rise) * F(d.pic_light[3][k])


@func
def begin_colors(m, d, begin, end):
    """Before the first surface: no colour, and all comes through."""
    for i in range(begin, end):
        zero = bits(F(0.0))
        d.pic_red[i] = zero
        d.pic_green[i] = zero
        d.pic_blue[i] = zero
        d.pic_through[i] = bits(F(1.0))
        d.pic_front[i] = d.pic_record[i]
        d.pic_away[i] = ti.select(d.pic_record[i] < 0, INFINITE, d.pic_depth[i])


@func
def add_colors(m, d, begin, end):
    """Adds the light of surfaces by what came through those before. Returns through how many something still comes."""
    more = 0
    for i in range(begin, end):
        through = real(d.pic_through[i])
        alpha = real(d.pic_alpha[i])
        part = through * alpha
        d.pic_red[i] = bits(real(d.pic_red[i]) + part * real(d.pic_r[i]))
        d.pic_green[i] = bits(real(d.pic_green[i]) + part * real(d.pic_g[i]))
        d.pic_blue[i] = bits(real(d.pic_blue[i]) + part * real(d.pic_b[i]))
        through = ti.select(d.pic_record[i] >= 0, through * (F(1.0) - alpha), F(0.0))
        through = ti.select(through < F(UNSEEN), F(0.0), through)
        d.pic_through[i] = bits(through)
        more += ti.select(through > F(0.0), 1, 0)
    return more


@func
def shade_block(m, d, begin, end, layer, half_wide):
    """Adds the surface that each sample of a block shows to its colour: sun, sky, light that bounced, a highlight. Far
    ground fades; what shows nothing gets the sky. half_wide 0: the sky is seen from everywhere.

    Returns through how many something still comes.
    """
    if layer == 0:
        begin_colors(m, d, begin, end)
    for i in range(begin, end):
        d.pic_cosine[i] = bits(F(1.0))
    if half_wide > 0:
        for i in range(begin, end):
            if d.pic_record[i] >= 0:
                d.pic_cosine[i] = bits(sky_at(m, d, i))
    up = d.pic_axes[0] @ vec3(0.0, 0.0, 1.0)
    upward = row3(up[0], up[1], up[2])
    to = d.pic_axes[0] @ (d.pic_axes[1].transpose() @ vec3(0.0, 0.0, 1.0))
    sun = row3(to[0], to[1], to[2])
    light = d.pic_light[0]
    sunlight = row3(light[0], light[1], light[2])
    light = d.pic_light[1]
    skylight = row3(light[0], light[1], light[2])
    for i in range(begin, end):
        n = normal_of(m, d, i)
        v = pixel_ray(m, d, i)
        rise = n.dot(upward)
        cosine = real(d.pic_lit[i])
        between = sun - v * (F(1.0) / ti.sqrt(v.dot(v)))
        shine = high(F(0.0), n.dot(between))
        s2 = shine * shine / high(F(1e-12), between.dot(between))
        s4 = s2 * s2
        s8 = s4 * s4
        s12 = s8 * s4
        s24 = s12 * s12
        spot = F(0.22) * s24 * s24 * s12 * cosine  # of the sun, by the 60th power of a cosine
        sky = real(d.pic_cosine[i]) * (F(0.55) + F(0.45) * rise)
        lit = F(0.06) + F(0.08) * high(F(0.0), -rise)  # light that bounced more than once
        d.pic_r[i] = place_of_tone(real(d.pic_r[i]) * (lit + sunlight[0] * cosine + skylight[0] * sky) + spot)
        d.pic_g[i] = place_of_tone(real(d.pic_g[i]) * (lit + sunlight[1] * cosine + skylight[1] * sky) + spot)
        d.pic_b[i] = place_of_tone(real(d.pic_b[i]) * (lit + sunlight[2] * cosine + skylight[2] * sky) + spot)
    for i in range(begin, end):  # look-ups on their own, or all that leads to them would be done one by one, too
        d.pic_r[i] = d.pic_tone[d.pic_r[i]]
        d.pic_g[i] = d.pic_tone[d.pic_g[i]]
        d.pic_b[i] = d.pic_tone[d.pic_b[i]]
    for i in range(begin, end):
        d.pic_r[i] = bits(faded(m, d, i, real(d.pic_r[i]), 0))
        d.pic_g[i] = bits(faded(m, d, i, real(d.pic_g[i]), 1))
        d.pic_b[i] = bits(faded(m, d, i, real(d.pic_b[i]), 2))
    return add_colors(m, d, begin, end)


@kernel
def shade(m, d, nblock: ti.i32, layer: ti.i32, skybox: ti.i32):
    """Adds what each sample shows to its colour, in the light of the model's lamps, as MuJoCo's pictures have it; in
    parallel over blocks. skybox  texture of the sky."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        place = d.pic_block[block]
        if layer == 0:
            begin_colors(m, d, place[0], place[1])
        for i in range(place[0], place[1]):
            light_by_lamps(m, d, i, skybox)
        add_colors(m, d, place[0], place[1])


@func
def faded(m, d, i, shown, k):
    """Colour k of what sample i shows, as far ground fades, or of the sky where there is nothing."""
    far = F(d.pic_light[2][k])
    surface = shown + (far - shown) * real(d.pic_fade[i])
    return ti.select(d.pic_record[i] >= 0, surface, sky_color(m, d, i, k))


@func
def light_by_lamps(m, d, i, skybox):
    """Colour of what sample i shows in the light of the model's lamps, into pic_r, pic_g and pic_b."""
    j = d.pic_record[i]
    far = d.pic_light[2]
    own = vec3(sky_color(m, d, i, 0), sky_color(m, d, i, 1), sky_color(m, d, i, 2))
    if skybox >= 0:
        own = skybox_at(m, d, skybox, world_ray(m, d, i))
        far = own
    if j >= 0:
        albedo = vec3(real(d.pic_r[i]), real(d.pic_g[i]), real(d.pic_b[i]))
        fade = real(d.pic_fade[i])
        for k in ti.static(range(3)):
            light = d.pic_matter[j][0] + d.pic_lamp[5][k] + d.pic_gain[i][k]
            shown = d.pic_tint[i][k] * ti.min(1.0, albedo[k] * light + d.pic_gloss[i][k])
            own[k] = shown + (far[k] - shown) * fade
    d.pic_r[i] = bits(ti.cast(own[0], ti.f32))
    d.pic_g[i] = bits(ti.cast(own[1], ti.f32))
    d.pic_b[i] = bits(ti.cast(own[2], ti.f32))


@func
def bring_rays(m, d, begin, slot, count):
    """Where so many rays go, from the samples that begin there to places of a chunk."""
    for k in range(count):
        d.pic_x[slot + k] = d.pic_x[begin + k]
        d.pic_y[slot + k] = d.pic_y[begin + k]


def _draw(
    m, d, nblock: ti.i32, npicplane: ti.i32, shadows: ti.i32, half_wide: ti.i32, picslot: ti.i32,
    picmost: ti.i32, picchunk: ti.i32,
):  # fmt: skip
    """Colours of all samples in the light of sun and sky, layer by layer; parallel over chunks of picchunk blocks.

    What is only needed on the way lies in places of the chunk, picmost from picslot on, for what is written to memory
    and fetched from there costs more than computing it.
    """
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for chunk in range((nblock + picchunk - 1) // picchunk):
        slot = picslot + chunk * picmost
        for block in range(chunk * picchunk, ti.min(nblock, (chunk + 1) * picchunk)):
            place = d.pic_block[block]
            begin = place[0]
            count = place[1] - begin
            bring_rays(m, d, begin, slot, count)
            layer = 0
            more = 1
            while more > 0:
                SEE_BLOCK(m, d, slot, slot + count, place[2], npicplane, layer)
                PAINT_BLOCK(m, d, slot, slot + count)
                LIGHT_BLOCK(m, d, slot, slot + count, 1, 0, shadows)
                more = shade_block(m, d, slot, slot + count, layer, half_wide)
                layer += 1
            for k in range(count):
                d.pic_red[begin + k] = d.pic_red[slot + k]
                d.pic_green[begin + k] = d.pic_green[slot + k]
                d.pic_blue[begin + k] = d.pic_blue[slot + k]
                d.pic_front[begin + k] = d.pic_front[slot + k]
                d.pic_away[begin + k] = d.pic_away[slot + k]


def _see_sky(
    m, d, nblock: ti.i32, npicplane: ti.i32, picend: ti.i32, picslot: ti.i32, picmost: ti.i32,
    picchunk: ti.i32,
):  # fmt: skip
    """Share of the light of the sky's lamps, views 2 to picend - 1, that each sample gets, for sky_at; in parallel and
    with places as in `draw`."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for chunk in range((nblock + picchunk - 1) // picchunk):
        slot = picslot + chunk * picmost
        for block in range(chunk * picchunk, ti.min(nblock, (chunk + 1) * picchunk)):
            place = d.pic_block[block]
            begin = place[0]
            count = place[1] - begin
            bring_rays(m, d, begin, slot, count)
            SEE_BLOCK(m, d, slot, slot + count, place[2], npicplane, 0)
            PAINT_BLOCK(m, d, slot, slot + count)
            for lamp in range(2, picend):
                LIGHT_BLOCK(m, d, slot, slot + count, lamp, lamp - 2, 1)
            for k in range(count):
                weight = real(d.pic_weight[slot + k])
                share = real(d.pic_lit[slot + k]) / high(weight, F(1e-6))
                d.pic_sky[begin + k] = bits(ti.select(weight > F(1e-6), share, F(1.0)))
                d.pic_owner[begin + k] = d.pic_record[slot + k]


def see_sky(kinds):
    """The kernel that looks how much of the sky is seen, for records of these shapes (a tuple)."""
    faces = faces_of(kinds)
    if ("see_sky", faces) not in _made:
        inner = dict(SEE_BLOCK=see_block(faces), PAINT_BLOCK=paint_block(faces), LIGHT_BLOCK=light_block(faces))
        _made["see_sky", faces] = kernel(specialise(_see_sky, "see_sky", **inner))
    return _made["see_sky", faces]


def draw(kinds, textures=False):
    """The kernel that colours what samples show by sun and sky, for records of these shapes (a tuple), some with
    textures."""
    faces = faces_of(kinds)
    key = "draw", faces, textures
    if key not in _made:
        inner = dict(
            SEE_BLOCK=see_block(faces), PAINT_BLOCK=paint_block(faces, textures), LIGHT_BLOCK=light_block(faces)
        )
        _made[key] = kernel(specialise(_draw, "draw", **inner))
    return _made[key]
