"""A team: workers that live as long as one launch, share its work and meet at barriers, some 0.2 us each.

    @kernel
    def act(m, d):
        units = d.nhand * HAND
        crew(m, d, units, SERIAL, HAND, work)

    @func
    def work(m, d, me):  # what each worker does
        come(m, d)
        ...

Work that needs no barrier is handed out piece by piece: `take_near`. For work that does, `join` gives a worker its
number and the size of the team, or 0 if it came too late, and `meet` waits until all have written what the others will
read. Between two meetings a list is handed out piece by piece, too: `take_part`, each worker his own stretch first, so
that processors of unequal speed are done at the same time; or `share` cuts it into as many parts as there are workers,
`own_part` into parts that fit how long these waited for each other in the last launch, of a stage that learns it
(`learn_parts`): other programs take a part of one processor's time, and processors of one machine differ.

Results do not depend on the size of a team: sums go over blocks of a fixed size, then over all blocks in order
(`total`), each worker on its own and from the same bits, so that all decide alike and nobody leaves a loop alone.

Nobody waits for a worker that is not there. The first to join waits for those that have come, a little for others
(`d.patience` looks), then closes the team; whoever joins later finds it closed and goes home. So a launch ends on any
number of threads, one among them, and in a pool that runs the chunks one after the other. A worker in the team runs on
a thread of its own until the end.

d.team is lines of numbers: who came and joined, the size of the team; then of each worker the number of barriers it
came to and, a line further, how often it looked in vain, which the host reads (tisim/device/team.py), and how many
pieces of its stretches are taken. But for these a line has one writer at a time, and waiting is a plain read of it:
nothing moves between processors until it changes. What a worker waits with, an atomic on its own line, keeps the
compiler from moving reads and writes across.
"""

from .types import FP, func, ti

LINE = 32  # numbers of a line: two cache lines of a processor, which fetches pairs
WORKERS = 32
LINES = 2 + 2 * WORKERS
JOINED = 0  # workers that have joined; CLOSED more once nobody is admitted any longer
CAME = 4  # workers that have come
SIZE = LINE  # workers in the team, 0 while it is open
FIRST = 2 * LINE  # worker 0: barriers that it came to
LOOKED = LINE  # from there: how often it looked in vain at barriers
TAKEN = LINE + 2  # how many pieces of its stretch have been taken
LEARNT = LINE + 3  # what learn_parts has found of it
PARTS = LINE + 16  # the same of its part of each of LISTS lists, in each of TURNS meetings that follow each other
LISTS, TURNS = 3, 4
CLOSED = 1 << 20
WHOLE = 1 << 16  # d.parts: how many of so many parts of a list come before each worker's, behind the number of workers
LEARNING, MOST_UNEQUAL = 0.2, 0.25  # of what a wait tells; least part of an equal share
NEIGHBOURS = 32  # of a list that a worker takes at once, if that makes more than so many PIECES
PIECES = 64


@func
def crew(m, d, units: ti.template(), serial: ti.template(), hand: ti.template(), work: ti.template()):
    """work(m, d, its number) by each of the workers. A worker is a chunk of Taichi's parallel loop, HAND units long.

    units  HAND times the workers;  serial, hand  SERIAL and HAND: all as in solver/blocks.each.
    """
    ti.loop_config(serialize=True)
    for _ in range(1):
        open_team(m, d)
    ti.loop_config(serialize=serial)
    for unit in range(units):
        if unit % hand == 0:
            work(m, d, unit // hand)


@func
def open_team(m, d):
    """Nobody is here and nothing is handed out; serial, before the workers."""
    for i in range(LINES * LINE):
        d.team[i] = 0


@func
def come(m, d):
    """A worker is here, and will join when there are no more pieces to take."""
    ti.atomic_add(d.team[CAME], 1)


@func
def take_near(m, d, hand, n):
    """The next of n pieces for worker `hand` of d.nhand, n if there are none left: of its own stretch, whose data it
    may have in its cache from other launches, then of the others'."""
    piece = n
    k = 0
    most = ti.min(d.nhand, WORKERS)
    while piece == n and k < most:
        whose = (hand + k) % most
        first, behind = share(n, whose, most)
        place = place_of(whose) + TAKEN
        if first + d.team[place] < behind:
            mine = first + ti.atomic_add(d.team[place], 1)
            if mine < behind:
                piece = mine
        k += 1
    return piece


@ti.func
def piece_size(n):
    """How many neighbours of a list of n make a piece: they share cache lines."""
    return ti.max(1, ti.min(NEIGHBOURS, n // PIECES))


@func
def take_all(m, d, hand, n, act: ti.template()):
    """act(m, d, k, hand) for those of n that are worker `hand`'s, who comes and joins nobody."""
    come(m, d)
    many = piece_size(n)
    pieces = (n + many - 1) // many
    piece = take_near(m, d, hand, pieces)
    while piece < pieces:
        for k in range(piece * many, ti.min((piece + 1) * many, n)):
            act(m, d, k, hand)
        piece = take_near(m, d, hand, pieces)


@func
def join(m, d, most):
    """(number, size) of this worker in a team of at most `most`; size 0: it is not in it."""
    me = ti.atomic_add(d.team[JOINED], 1)
    size = 0
    if me == 0 and most > 0:
        looks = 0
        while d.team[JOINED] < most and (looks < d.patience or d.team[JOINED] < d.team[CAME]):
            looks = ti.atomic_add(d.team[SIZE + 1], 1)
        size = ti.min(ti.atomic_add(d.team[JOINED], CLOSED), most)
        ti.atomic_add(d.team[SIZE], size)
    elif me < most:
        mine = place_of(me) + LOOKED + 1
        while d.team[SIZE] == 0:
            ti.atomic_add(d.team[mine], 1)
        size = ti.atomic_add(d.team[SIZE], 0)
    return me, size


@ti.func
def place_of(worker):
    """Where a worker's lines begin."""
    return FIRST + 2 * LINE * worker


@func
def take_part(m, d, me, size, which, n):
    """The next of n pieces of list `which` for worker me of a team, n if there are none left: of the second half of its
    own part, then of the others', if they lag by more than a piece. Between two meetings each list is gone through once
    at most."""
    piece = n
    k = 0
    turn = LISTS * (d.team[place_of(me)] % TURNS) + which
    while piece == n and k < size:
        whose = (me + k) % size
        first, behind = second_half(n, whose, size)
        place = place_of(whose) + PARTS + turn
        if first + d.team[place] + ti.min(k, 1) < behind:
            mine = first + ti.atomic_add(d.team[place], 1)
            if mine < behind:
                piece = mine
        k += 1
    return piece


@ti.func
def second_half(n, whose, size):
    """(first, one past the last) piece of a worker's part of n that others may take. What `share` has before it is its
    own, and all where nobody else is there."""
    first, behind = share(n, whose, size)
    return ti.select(size > 1, first + (behind - first) // 2, behind), behind


@func
def meet(m, d, me, size):
    """Waits until all workers of the team have come here; then they see what each other has written.

    Before, a worker clears what will count the pieces of its parts behind the next meeting: nobody has been looking at
    that since the last one.
    """
    if size > 1:
        mine = place_of(me)
        turn = LISTS * ((d.team[mine] + 2) % TURNS)
        for which in ti.static(range(LISTS)):
            d.team[mine + PARTS + turn + which] = 0
        meeting = ti.atomic_add(d.team[mine], 1) + 1
        for other in range(size):
            theirs = place_of(other)
            while d.team[theirs] < meeting:
                ti.atomic_add(d.team[mine + LOOKED], 1)
        ti.atomic_add(d.team[mine + LOOKED], 0)


@func
def forget_waits(m, d, me):
    """A worker that comes from a meeting has not waited so far: behind work that is not for all alike, from which
    nobody is to learn."""
    d.team[place_of(me) + LOOKED] = 0


@ti.func
def share(n, me, size):
    """(first, one past the last) of the n pieces in a row that are worker me's."""
    return n * me // size, n * (me + 1) // size


@func
def own_part(m, d, n, me, size):
    """(first, one past the last) of the n pieces in a row that are worker me's, as learn_parts has it."""
    return before(m, d, n, me, size, 0), before(m, d, n, me + 1, size, 0)


@func
def before(m, d, n, me, size, odd):
    """How many of n pieces come before those of worker me; odd: what is added, of WHOLE, before it is rounded down."""
    parts = me * WHOLE // size
    if d.parts[0] == size:
        parts = d.parts[1 + me]
    return ti.cast((ti.cast(n, ti.i64) * parts + odd) // WHOLE, ti.i32)


@func
def learn_parts(m, d, size, looks):
    """d.parts for the next launch, by one worker, when nobody asks for them any more: who waited for others in this one
    gets more. looks: how often one would have looked in vain, about, in the time of its own work."""
    if size > 1:
        mean, sum, part = FP(0.0), FP(0.0), FP(0.0)
        for k in range(size):
            mean += d.team[place_of(k) + LOOKED] / FP(size)
        for k in range(size):
            sum += wanted_part(m, d, k, size, mean, looks)
        for k in range(size):
            part += wanted_part(m, d, k, size, mean, looks)
            d.team[place_of(k) + LEARNT] = ti.cast(ti.round(WHOLE * part / sum), ti.i32)
        d.parts[0], d.parts[1] = size, 0
        for k in range(size):
            d.parts[2 + k] = d.team[place_of(k) + LEARNT]


@func
def wanted_part(m, d, k, size, mean, looks):
    """How large worker k's part is to be, of an equal one."""
    now = FP(1.0)
    if d.parts[0] == size:
        now = (d.parts[2 + k] - d.parts[1 + k]) * (FP(size) / WHOLE)
    waited = (d.team[place_of(k) + LOOKED] - mean) / ti.max(looks, FP(1.0))
    return ti.max(MOST_UNEQUAL, now * (1.0 + LEARNING * ti.max(-1.0, ti.min(1.0, waited))))


@ti.func
def total(first, n, sums: ti.template()):
    """Sum of n numbers from sums[first], in order."""
    s = FP(0.0)
    for i in range(first, first + n):
        s += sums[i]
    return s
