"""Poses and velocities of bodies behind a step, of LANES bodies at once where they turn little."""

from ..rotation import at3, at4, conj_quat, mul_quat, normalize_quat, rotate
from ..sleep.awake import body_at, is_body_asleep
from ..types import FP, func, narrow, ti, vec4
from .bodies import AXLE, BODY_SIZE, FINITE, MIDPOINT, SCALE_SIZE, WAY
from .lists import LANES
from .turns import axle_of, turned, turned_by_midpoint
from .visits import HELD

NUMBERS = 19  # of a body: orientation, place, velocity, angular velocity, accelerations
numbers = ti.types.vector(NUMBERS, FP)


@func
def end_bodies(m, d, first, behind, me):
    """qpos, qvel, qacc behind a step and lcp_before, of the bodies from place `first` to `behind` of those awake."""
    k = first
    while k < behind:
        many = 1
        if k + LANES <= behind and d.lcp_rotation == MIDPOINT:
            many = end_abreast(m, d, k, HELD * me)
        if many == 1:
            end_body(m, d, body_at(m, d, k))
        k += many


@func
def end_abreast(m, d, k, held):
    """The same of LANES bodies from place k on: LLVM computes their numbers as vectors, as all is read before anything
    is written, side by side to lcp_held. Returns how many are done, 1 for none."""
    many = 1
    b = [body_at(m, d, k + i) for i in ti.static(range(LANES))]
    move = [moves(m, d, b[i]) for i in ti.static(range(LANES))]
    if move[0] & move[1] & move[2] & move[3]:
        x = [behind_step(m, d, b[i], True) for i in ti.static(range(LANES))]
        for e in ti.static(range(NUMBERS)):
            for i in ti.static(range(LANES)):
                d.lcp_held[held + LANES * e + i] = x[i][0][e]
        if x[0][1] & x[1][1] & x[2][1] & x[3][1]:
            many = LANES
            for i in range(LANES):
                put_body(m, d, body_at(m, d, k + i), held + i)
    return many


@func
def moves(m, d, wb):
    """Whether body wb of all worlds has dofs and is awake."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    return (m.body_dofnum[b] > 0) & (not is_body_asleep(m, d, w, b))


@func
def end_body(m, d, wb):
    """The same of body wb of all worlds."""
    if moves(m, d, wb):
        x = behind_step(m, d, wb, False)[0]
        q, i = places_of(m, d, wb)
        for c in ti.static(range(7)):
            d.qpos[q + c] = x[c]
        for c in ti.static(range(6)):
            d.lcp_before[i + c] = d.qvel[i + c]
            d.qvel[i + c] = x[7 + c]
            d.qacc[i + c] = x[13 + c]


@func
def places_of(m, d, wb):
    """(first of qpos, first of qvel) of body wb of all worlds."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    return w * m.nq + m.jnt_qposadr[m.body_jntadr[b]], w * m.nv + m.body_dofadr[b]


@func
def behind_step(m, d, wb, little: ti.template()):
    """(the numbers of body wb of all worlds, whether they hold). little: its turns are taken for small ones."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    rate = 1.0 / m.opt.timestep
    q, i = places_of(m, d, wb)
    body, v, turn, holds = moved(m, d, wb, normalize_quat(narrow(at4(d.qpos, q + 3))), little)
    arm = rotate(body, m.body_ipos[w, b])
    x = d.xipos[wb] + d.lcp_scale[SCALE_SIZE * wb] * at3(d.lcp_body, BODY_SIZE * wb + WAY) - arm
    v -= turn.cross(arm)
    turn = rotate(conj_quat(body), turn)
    a, e = rate * (v - at3(d.qvel, i)), rate * (turn - at3(d.qvel, i + 3))
    return numbers(
        [x[0], x[1], x[2], body[0], body[1], body[2], body[3], v[0], v[1], v[2], turn[0], turn[1], turn[2],
         a[0], a[1], a[2], e[0], e[1], e[2]]
    ), holds  # fmt: skip


@func
def put_body(m, d, wb, held):
    """The numbers of a body from lcp_held to qpos, qvel and qacc."""
    q, i = places_of(m, d, wb)
    for c in ti.static(range(7)):
        d.qpos[q + c] = d.lcp_held[held + LANES * c]
    for c in ti.static(range(6)):
        d.lcp_before[i + c] = d.qvel[i + c]
        d.qvel[i + c] = d.lcp_held[held + LANES * (7 + c)]
        d.qacc[i + c] = d.lcp_held[held + LANES * (13 + c)]


@func
def moved(m, d, wb, before, little: ti.template()):
    """(orientation, velocity of the centre of mass, angular velocity, whether they hold) of body wb behind a step, from
    its orientation before; "Rotation" in tisim/LCP.md. little: as in turned_by_midpoint, which is taken."""
    w = wb // m.nbody
    b = wb - w * m.nbody
    scale = d.lcp_scale[SCALE_SIZE * wb]
    roots = at3(d.lcp_scale, SCALE_SIZE * wb + 1)
    v = scale * at3(d.lcp_body, BODY_SIZE * wb)
    turn, way = roots * at3(d.lcp_body, BODY_SIZE * wb + 3), roots * at3(d.lcp_body, BODY_SIZE * wb + WAY + 3)
    inertia = m.body_inertia[w, b]
    R = d.ximat[wb]
    local = m.body_iquat[w, b]
    old = mul_quat(before, local)
    new, holds = old, True
    if ti.static(little):
        new, turn, holds = turned_by_midpoint(inertia, R, old, turn, way, m.opt.timestep, True)
    else:
        if d.lcp_rotation == MIDPOINT:
            new, turn, holds = turned_by_midpoint(inertia, R, old, turn, way, m.opt.timestep, False)
            holds = True
        else:
            turn = R @ turn
            if d.lcp_rotation == FINITE:
                new = mul_quat(old, turned(way))
            else:
                rest = way
                if d.lcp_rotation == AXLE:
                    for c in ti.static(range(3)):
                        if c == axle_of(inertia):
                            rest[c] = 0.0
                    new = mul_quat(old, turned(way - rest))
                rest = rotate(old, rest)
                new = normalize_quat(new + 0.5 * mul_quat(vec4(0.0, rest[0], rest[1], rest[2]), new))
    return normalize_quat(mul_quat(new, conj_quat(local))), v, turn, holds
