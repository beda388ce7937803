"""Records of what a window draws by Vulkan, as its shaders read them: words of 32 bits, twelve for each thing."""

from ..constants import BOX, CAPSULE, CYLINDER, NCLASS, NWORD, PICTURE_BLOCK, SPHERE
from ..rotation import mul_quat, normalize_quat
from ..sleep.awake import is_body_gone
from ..types import *
from .colors import word_of
from .records import SOLID
from .shapes import bits

NOWHERE = 1e9  # place of what is not to be seen [m]
# rows of a block in pic_extent: a box around all places, around those that throw shadows, whether one of these moved
LOW, HIGH, SOLID_LOW, SOLID_HIGH, MOVED, ROWS = range(6)


@func
def put_word(m, d, at, x):
    """Writes a number into a word of pic_drawn; 1 where another stood there, else 0."""
    word = bits(ti.cast(x, ti.f32))
    changed = ti.select(d.pic_drawn[at] != word, 1, 0)
    d.pic_drawn[at] = word
    return changed


@func
def put_extent(m, d, b, low, high, low2, high2, moved):
    """Rows of pic_extent for block b."""
    d.pic_extent[ROWS * b + LOW] = low
    d.pic_extent[ROWS * b + HIGH] = high
    d.pic_extent[ROWS * b + SOLID_LOW] = low2
    d.pic_extent[ROWS * b + SOLID_HIGH] = high2
    d.pic_extent[ROWS * b + MOVED] = vec3(moved, 0.0, 0.0)


@kernel
def place_instances(m, d, picworld: ti.i32, npicinstance: ti.i32):
    """Place and rotation of each geom in the words of its record, the others stay; how far they reach, in pic_extent:
    of all first, then of each block; parallel over blocks of these geoms."""
    ti.loop_config(serialize=SERIAL)
    for block in range((npicinstance + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
        low, high = vec3(NOWHERE), vec3(-NOWHERE)
        low2, high2, moved = vec3(NOWHERE), vec3(-NOWHERE), 0
        for k in range(block * PICTURE_BLOCK, ti.min(npicinstance, (block + 1) * PICTURE_BLOCK)):
            g = d.pic_member[k][0]
            at = d.pic_member[k][1]
            solid = d.pic_member[k][2]
            b = m.geom_bodyid[g]
            x = narrow(d.geom_xpos[picworld * m.ngeom + g])
            q = mul_quat(narrow(d.xquat[picworld * m.nbody + b]), narrow(m.geom_quat[picworld, g]))
            sum = ti.abs(x[0]) + ti.abs(x[1]) + ti.abs(x[2]) + ti.abs(q[0]) + ti.abs(q[1]) + ti.abs(q[2]) + ti.abs(q[3])
            if is_body_gone(m, d, picworld, b) or not (sum < NOWHERE):
                x = vec3(NOWHERE, NOWHERE, NOWHERE)
                q = vec4(1.0, 0.0, 0.0, 0.0)
            else:
                low, high = ti.min(low, x), ti.max(high, x)
                if solid == 1:
                    low2, high2 = ti.min(low2, x), ti.max(high2, x)
            for a in ti.static(range(3)):
                moved |= solid & put_word(m, d, at + a, x[a])
            for a in ti.static(range(4)):
                moved |= solid & put_word(m, d, at + 4 + a, q[a])
        put_extent(m, d, 1 + block, low, high, low2, high2, moved)
    ti.loop_config(serialize=True)
    for once in range(1):
        low, high = vec3(NOWHERE), vec3(-NOWHERE)
        low2, high2, moved = vec3(NOWHERE), vec3(-NOWHERE), FP(0.0)
        for b in range(1, 1 + (npicinstance + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
            low, high = ti.min(low, d.pic_extent[ROWS * b + LOW]), ti.max(high, d.pic_extent[ROWS * b + HIGH])
            low2 = ti.min(low2, d.pic_extent[ROWS * b + SOLID_LOW])
            high2 = ti.max(high2, d.pic_extent[ROWS * b + SOLID_HIGH])
            moved = ti.max(moved, d.pic_extent[ROWS * b + MOVED][0])
        put_extent(m, d, 0, low, high, low2, high2, moved)


@func
def class_of(m, d, j):
    """Draw that a record belongs to: round, cylinder, box, and the same of what can be seen through; -1: none."""
    kind = d.pic_kind[j]
    which = -1
    if kind >= SPHERE and kind <= BOX:
        which = ti.select(kind == BOX, 2, ti.select(kind == CYLINDER, 1, 0))
        if d.pic_rgba[j][3] < SOLID:
            which += NCLASS // 2
    return which


@ti.func
def quat_of(R):
    """Quaternion of a rotation: the largest of its numbers is found first."""
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    q = vec4(1.0 + xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    if xx + yy + zz < 0.0:
        if xx >= yy and xx >= zz:
            q = vec4(R[2, 1] - R[1, 2], 1.0 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0])
        elif yy >= zz:
            q = vec4(R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1.0 - xx + yy - zz, R[1, 2] + R[2, 1])
        else:
            q = vec4(R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1.0 - xx - yy + zz)
    return normalize_quat(q)


@func
def put_words(m, d, at, j, x, size, half):
    """Words from place `at` on: a shape at x, turned and coloured as record j is; half  half length of a capsule."""
    q = quat_of(d.pic_mat[j])
    d.pic_shown[at + 3] = bits(ti.cast(half, ti.f32))
    d.pic_shown[at + 11] = word_of(d.pic_rgba[j])
    for a in ti.static(range(3)):
        d.pic_shown[at + a] = bits(ti.cast(x[a], ti.f32))
        d.pic_shown[at + 8 + a] = bits(ti.cast(size[a], ti.f32))
    for a in ti.static(range(4)):
        d.pic_shown[at + 4 + a] = bits(ti.cast(q[a], ti.f32))


@func
def put_record(m, d, at, j):
    """The words of record j from place `at` on."""
    kind = d.pic_kind[j]
    s = d.pic_size[j]
    half = FP(0.0)
    if kind == CAPSULE:
        half = s[1]
    if kind == SPHERE or kind == CAPSULE:
        s = vec3(s[0], s[0], s[0])
    elif kind == CYLINDER:
        s = vec3(s[0], s[0], s[1])
    put_words(m, d, at, j, d.pic_pos[j], s, half)


@func
def put_pieces(m, d, ball, rod, j):
    """The words of record j, a capsule, as two balls from place `ball` on and a cylinder from place `rod` on."""
    x = d.pic_pos[j]
    s = d.pic_size[j]
    R = d.pic_mat[j]
    way = s[1] * vec3(R[0, 2], R[1, 2], R[2, 2])
    put_words(m, d, ball, j, x - way, vec3(s[0], s[0], s[0]), FP(0.0))
    put_words(m, d, ball + NWORD, j, x + way, vec3(s[0], s[0], s[0]), FP(0.0))
    put_words(m, d, rod, j, x, vec3(s[0], s[0], s[1]), FP(0.0))


@kernel
def sort_records(m, d, picat: ti.i32, npic: ti.i32, picsplit: ti.i32):
    """Words of the records from picat on, class by class, where pic_class says; parallel over blocks of records.

    picsplit  1: a capsule is two balls and a cylinder.
    """
    ti.loop_config(serialize=SERIAL)
    for b in range((npic - picat + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
        for k in range(NCLASS):
            d.pic_place[NCLASS * b + k] = 0
        for j in range(picat + b * PICTURE_BLOCK, ti.min(npic, picat + (b + 1) * PICTURE_BLOCK)):
            k = class_of(m, d, j)
            if k >= 0:
                at = NCLASS * b + k
                if picsplit == 1 and d.pic_kind[j] == CAPSULE:
                    d.pic_place[at] = d.pic_place[at] + 2
                    d.pic_place[at + 1] = d.pic_place[at + 1] + 1
                else:
                    d.pic_place[at] = d.pic_place[at] + 1
    ti.loop_config(serialize=True)
    for once in range(1):
        total = 0
        for k in range(NCLASS):
            d.pic_class[k] = total
            for b in range((npic - picat + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
                found = d.pic_place[NCLASS * b + k]
                d.pic_place[NCLASS * b + k] = total
                total += found
        d.pic_class[NCLASS] = total
    ti.loop_config(serialize=SERIAL)
    for b in range((npic - picat + PICTURE_BLOCK - 1) // PICTURE_BLOCK):
        for j in range(picat + b * PICTURE_BLOCK, ti.min(npic, picat + (b + 1) * PICTURE_BLOCK)):
            k = class_of(m, d, j)
            if k >= 0:
                at = NCLASS * b + k
                to = d.pic_place[at]
                if picsplit == 1 and d.pic_kind[j] == CAPSULE:
                    rod = d.pic_place[at + 1]
                    put_pieces(m, d, NWORD * to, NWORD * rod, j)
                    d.pic_place[at] = to + 2
                    d.pic_place[at + 1] = rod + 1
                else:
                    put_record(m, d, NWORD * to, j)
                    d.pic_place[at] = to + 1
