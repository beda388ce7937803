"""Motions that the hinges and slides of a body leave: their axes, and coordinates out of where parent and child are.

A body has up to three of them. Its hinges have one anchor. Slides stand before them, then their axes are the parent's,
or behind them, then the child's. The velocity of a coordinate is the product of the relative velocity with the dual of
its axis among those of its kind; the force of a dof acts along that dual, too, so that it does no work on the others.
"""

from ..constants import SLIDE
from ..rotation import axis_angle_to_quat, conj_quat, mul_quat, rotate
from ..types import FP, func, narrow, ti, vec3

LEAST_VOLUME = 1e-3  # of three hinges, which have no coordinates where it is 0


@func
def is_slide(m, j):
    """Whether joint j is a slide."""
    return m.jnt_type[j] == SLIDE


@func
def parts_of(m, b):
    """(how many slides, how many hinges, the first of both) of body b, which has no ball and no free joint."""
    first = m.body_jntadr[b]
    slides, slide, hinge = 0, first, first
    for j in range(first, first + m.body_jntnum[b]):
        if is_slide(m, j):
            slides += 1
    hinges = m.body_jntnum[b] - slides
    if slides > 0 and hinges > 0:
        if is_slide(m, first):
            hinge = first + slides
        else:
            slide = first + hinges
    return slides, hinges, slide, hinge


@func
def is_mixed(m, b):
    """Whether body b has several slides, or slides and hinges."""
    mixed = False
    if m.body_jntnum[b] > 1:
        slides, _hinges, _slide, _hinge = parts_of(m, b)
        mixed = slides > 0
    return mixed


@ti.func
def dual(a, b, c, n, k):
    """Vector k of the dual basis of the first n of three unit vectors, in their span."""
    s, other = a, b
    if k == 1:
        s, other = b, a
    if n == 2:
        x = a.dot(b)
        s = (s - x * other) / (1.0 - x * x)
    elif n == 3:
        s = b.cross(c)
        if k == 1:
            s = c.cross(a)
        elif k == 2:
            s = a.cross(b)
        volume = a.dot(b.cross(c))
        s = s / (ti.select(volume < 0.0, -1.0, 1.0) * ti.max(ti.abs(volume), FP(LEAST_VOLUME)))
    return s


@func
def dual_axis(m, d, w, b, j, turn, qc):
    """The dual of the world axis of hinge or slide j of body b. turn: orientation that the parent has the body in while
    its joints are at their reference; qc: its own."""
    slides, hinges, slide, hinge = parts_of(m, b)
    first, n, k = hinge, hinges, j - hinge
    at = turn
    if is_slide(m, j):
        first, n, k = slide, slides, j - slide
        if slide > hinge:
            at = qc
    axis1 = rotate(at, narrow(m.jnt_axis[first]))
    axis2, axis3 = axis1, axis1
    if n > 1:
        if is_slide(m, j):
            axis2 = rotate(at, narrow(m.jnt_axis[first + 1]))
            if n == 3:
                axis3 = rotate(at, narrow(m.jnt_axis[first + 2]))
        elif n == 2:
            axis2 = rotate(qc, narrow(m.jnt_axis[first + 1]))
        else:
            angle = three_angles(m, d, w, first, mul_quat(conj_quat(turn), qc))[0]
            first_turn = axis_angle_to_quat(narrow(m.jnt_axis[first]), angle)
            axis2 = rotate(turn, rotate(first_turn, narrow(m.jnt_axis[first + 1])))
            axis3 = rotate(qc, narrow(m.jnt_axis[first + 2]))
    return dual(axis1, axis2, axis3, n, k)


@func
def part_of(m, d, w, b, j, rest):
    """The turn of hinge j out of that of body b, which may have three."""
    part = rest
    _slides, hinges, _slide, first = parts_of(m, b)
    if hinges == 2:
        a, c = narrow(m.jnt_axis[first]), narrow(m.jnt_axis[first + 1])
        v = rotate(rest, c)
        part = axis_angle_to_quat(a, ti.atan2(v.dot(a.cross(c)), v.dot(c - a.dot(c) * a)))
        if j > first:
            part = mul_quat(conj_quat(part), rest)
    elif hinges == 3:
        angles = three_angles(m, d, w, first, rest)
        angle = angles[0]
        if j == first + 1:
            angle = angles[1]
        elif j == first + 2:
            angle = angles[2]
        part = axis_angle_to_quat(narrow(m.jnt_axis[j]), angle)
    return part


@func
def three_angles(m, d, w, first, rest):
    """Angles of three hinges, of which neighbours are orthogonal, out of their turn; of both that there are those whose
    middle one is nearer to what qpos has."""
    a, b, c = narrow(m.jnt_axis[first]), narrow(m.jnt_axis[first + 1]), narrow(m.jnt_axis[first + 2])
    q = m.jnt_qposadr[first + 1]
    near = narrow(d.qpos[w * m.nq + q]) - narrow(m.qpos0[q])
    v = rotate(rest, c)
    lead = ti.atan2(b.dot(a.cross(c)), a.dot(c))
    bend = ti.atan2(v.cross(a).norm(), v.dot(a))
    one, other = bend - lead, -bend - lead
    middle = one
    if ti.cos(other - near) > ti.cos(one - near):
        middle = other
    e = rotate(axis_angle_to_quat(b, middle), c)
    angle = ti.atan2(a.dot(e.cross(v)), e.dot(v) - a.dot(e) * a.dot(v))
    both = mul_quat(axis_angle_to_quat(a, angle), axis_angle_to_quat(b, middle))
    left = mul_quat(conj_quat(both), rest)
    return vec3(angle, middle, 2.0 * ti.atan2(c.dot(vec3(left[1], left[2], left[3])), left[0]))


@func
def anchor_of(m, w, b):
    """In the frame of body b, which has several slides, or slides and hinges: the anchor of its hinges, or its centre
    of mass."""
    _slides, hinges, _slide, hinge = parts_of(m, b)
    at = m.body_ipos[w, b]
    if hinges > 0:
        at = narrow(m.jnt_pos[hinge])
    return at
