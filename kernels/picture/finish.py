"""From colours of samples to bytes of pixels, and which pixels lie on edges. Samples of a tile stand row by row."""

from ..types import *
from .shapes import F, bits, high, low, real

OFFSETS = ((-0.375, -0.125), (0.125, -0.375), (-0.125, 0.375), (0.375, 0.125))  # of a pixel's four rays
ANY_STEP, RECORD_STEP = 0.15, 0.03  # sums of colour differences that are smoothed: anywhere, and between two records


@func
def byte(x):
    """A number from 0 to 1 as a byte."""
    return ti.cast(low(high(x, F(0.0)), F(1.0)) * F(255.0) + F(0.5), ti.i32)


@func
def word_of(grid, tile, row):
    """Where the words of a row of a tile's pixels begin in pic_word, which has row after row of the whole picture."""
    side = grid[2]
    return ((tile // grid[0] * side + row) * grid[0] + tile % grid[0]) * (side // 4 * 3)


@kernel
def to_bytes(m, d, nblock: ti.i32):
    """Red, green and blue bytes of each sample, those of four in three words of pic_word; parallel over blocks."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for block in range(nblock):
        grid = d.pic_grid[0]
        side = grid[2]
        tile = d.pic_block[block][2]
        begin = d.pic_block[block][0]
        end = d.pic_block[block][1]
        for i in range(begin, end):
            d.pic_tile[i] = byte(real(d.pic_red[i])) | byte(real(d.pic_green[i])) << 8 | byte(real(d.pic_blue[i])) << 16
        row = (begin - tile * side * side) // side
        column = (begin - tile * side * side) % side
        place = word_of(grid, tile, row) + column // 4 * 3
        for k in range(begin // 4, end // 4):
            i = 4 * k
            second = d.pic_tile[i + 1]
            third = d.pic_tile[i + 2]
            d.pic_word[place] = d.pic_tile[i] | second << 24
            d.pic_word[place + 1] = second >> 8 | third << 16
            d.pic_word[place + 2] = third >> 16 | d.pic_tile[i + 3] << 8
            place += 3
            column += 4
            if column == side:
                column = 0
                place += (grid[0] - 1) * (side // 4 * 3)


@func
def differ(m, d, i, k, wide, tall):
    """1 if samples i and k differ by what is smoothed, and k lies in the picture."""
    step = (
        ti.abs(real(d.pic_red[i]) - real(d.pic_red[k]))
        + ti.abs(real(d.pic_green[i]) - real(d.pic_green[k]))
        + ti.abs(real(d.pic_blue[i]) - real(d.pic_blue[k]))
    )
    floor = (d.pic_front[i] == d.pic_plane[0]) & (d.pic_front[k] == d.pic_plane[0])
    least = ti.select(floor, high(F(d.pic_look[2]), F(ANY_STEP)), F(ANY_STEP))
    found = (step > least) | ((step > F(RECORD_STEP)) & (d.pic_front[i] != d.pic_front[k]))
    inside = (real(d.pic_x[k]) < wide) & (real(d.pic_y[k]) < tall)
    return ti.select(found & inside, 1, 0)


@kernel
def find_edges(m, d):
    """pic_edge is 1 of each pixel that differs from one of its four neighbours, pic_first how many a tile has; parallel
    over tiles, of which each is a block or several."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for tile in range(d.pic_grid[0][0] * d.pic_grid[0][1]):
        grid = d.pic_grid[0]
        across = grid[0]
        side = grid[2]
        count = side * side
        begin = tile * count
        end = begin + count
        wide = F(d.pic_lens[0][1])
        tall = F(d.pic_lens[0][2])
        for i in range(begin, end - 1):  # a division would tell the last of a row, too, but not of eight at once
            right = ti.select(real(d.pic_x[i + 1]) > real(d.pic_x[i]), 1, 0)
            d.pic_tile[i] = right * differ(m, d, i, i + 1, wide, tall)
        d.pic_tile[end - 1] = 0
        for i in range(begin, end - side):
            d.pic_cosine[i] = differ(m, d, i, i + side, wide, tall)
        for i in range(end - side, end):
            d.pic_cosine[i] = 0
        d.pic_edge[begin] = d.pic_tile[begin] | d.pic_cosine[begin]
        for i in range(begin + 1, end):
            d.pic_edge[i] = d.pic_tile[i] | d.pic_cosine[i] | d.pic_tile[i - 1]
        for i in range(begin + side, end):
            d.pic_edge[i] = d.pic_edge[i] | d.pic_cosine[i - side]
        if tile % across > 0:
            for y in range(side):
                i = begin + y * side
                d.pic_edge[i] = d.pic_edge[i] | differ(m, d, i, i - count + side - 1, wide, tall)
        if tile % across < across - 1:
            for y in range(side):
                i = begin + y * side + side - 1
                d.pic_edge[i] = d.pic_edge[i] | differ(m, d, i, i + count - side + 1, wide, tall)
        if tile >= across:
            for i in range(begin, begin + side):
                d.pic_edge[i] = d.pic_edge[i] | differ(m, d, i, i - across * count + count - side, wide, tall)
        if tile < across * (grid[1] - 1):
            for i in range(end - side, end):
                d.pic_edge[i] = d.pic_edge[i] | differ(m, d, i, i + across * count - count + side, wide, tall)
        if (tile // across + 1) * side > tall or (tile % across + 1) * side > wide:
            for i in range(begin, end):
                inside = (real(d.pic_x[i]) < wide) & (real(d.pic_y[i]) < tall)
                d.pic_edge[i] = ti.select(inside, d.pic_edge[i], 0)
        found = 0
        for i in range(begin, end):
            found += d.pic_edge[i]
        d.pic_first[tile] = found


@kernel
def pick_edges(m, d):
    """Lists where the pixels on edges have their bytes by tiles, from pic_first on, and four places for rays of each;
    parallel over tiles.

    A tile with an odd number of them has its last one twice: samples are looked at eight at once.
    """
    ti.loop_config(serialize=SERIAL)
    for tile in range(d.pic_grid[0][0] * d.pic_grid[0][1]):
        grid = d.pic_grid[0]
        side = grid[2]
        at = d.pic_first[tile]
        end = d.pic_first[tile + 1]
        if at < end:
            begin = tile * side * side
            n = 0
            for row in range(side):
                for column in range(side):  # each is written, and kept if it is one: what to do next is never in doubt
                    d.pic_tile[begin + n] = row << 16 | column
                    n += d.pic_edge[begin + row * side + column]
            byte0 = 4 * word_of(grid, tile, 0)
            wide = 3 * side * grid[0]
            left = ti.cast(tile % grid[0] * side, ti.f32) + F(0.5)
            above = ti.cast(tile // grid[0] * side, ti.f32) + F(0.5)
            for k in range(at, end):
                place = d.pic_tile[begin + ti.min(k - at, n - 1)]
                row = place >> 16
                column = place & 0xFFFF
                d.pic_pick[k] = byte0 + row * wide + 3 * column
                x = ti.cast(column, ti.f32) + left
                y = ti.cast(row, ti.f32) + above
                for ray in ti.static(range(4)):
                    j = 4 * k + ray
                    d.pic_x[j] = bits(x + F(OFFSETS[ray][0]))
                    d.pic_y[j] = bits(y + F(OFFSETS[ray][1]))


@kernel
def mean_of_four(m, d):
    """Gives pixels on edges the mean colours of their four samples, as bytes of pic_word; parallel over tiles."""
    ti.static(VECTORS)
    ti.loop_config(serialize=SERIAL)
    for tile in range(d.pic_grid[0][0] * d.pic_grid[0][1]):
        begin = d.pic_first[tile]
        end = d.pic_first[tile + 1]
        for k in range(begin, end):
            i = 4 * k
            red = real(d.pic_red[i]) + real(d.pic_red[i + 1]) + real(d.pic_red[i + 2]) + real(d.pic_red[i + 3])
            green = (real(d.pic_green[i]) + real(d.pic_green[i + 1]) + real(d.pic_green[i + 2])
                     + real(d.pic_green[i + 3]))  # fmt: skip
            blue = real(d.pic_blue[i]) + real(d.pic_blue[i + 1]) + real(d.pic_blue[i + 2]) + real(d.pic_blue[i + 3])
            quarter = F(0.25)
            d.pic_tile[k] = byte(quarter * red) | byte(quarter * green) << 8 | byte(quarter * blue) << 16
        for k in range(begin, end):  # three bytes of one word or of two; four pixels that share words are in one tile
            first = d.pic_pick[k]
            word = first >> 2
            shift = (first & 3) << 3
            mean = d.pic_tile[k]
            d.pic_word[word] = (d.pic_word[word] & ~(0xFFFFFF << shift)) | mean << shift
            if shift > 8:
                d.pic_word[word + 1] = (d.pic_word[word + 1] & ~(0xFFFFFF >> (32 - shift))) | mean >> (32 - shift)
