"""Linear velocity and angular momentum of subtrees. Seed 003, "mj_subtreeVel"."""

from ..sleep.awake import is_body_gone, tree_at, tree_count
from ..spatial import cross, head, momentum, tail
from ..types import MINVAL, SERIAL, kernel, ti, vec3
from .kinematics import present_mass


@kernel
def tree_momenta(m, d):
    """subtree_linvel and subtree_angmom within trees; parallel over worlds and trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = tree_at(m, d, at)
        w = wt // m.ntree
        t = wt - w * m.ntree
        first = w * m.nbody + m.tree_bodyadr[t]
        num = m.tree_bodynum[t]
        centre = d.subtree_com[w * m.nbody + m.body_rootid[m.tree_bodyadr[t]]]
        for i in range(first, first + num):
            h = momentum(d.cinert, i, d.cvel[i])
            d.subtree_linvel[i] = tail(h)  # a momentum until the end
            d.subtree_angmom[i] = head(h)  # about the centre until the end
        for k in range(num - 1):
            i = first + num - 1 - k
            up = w * m.nbody + m.body_parentid[i - w * m.nbody]
            d.subtree_linvel[up] = d.subtree_linvel[up] + d.subtree_linvel[i]
            d.subtree_angmom[up] = d.subtree_angmom[up] + d.subtree_angmom[i]
        for i in range(first, first + num):
            p = d.subtree_linvel[i]
            d.subtree_angmom[i] = d.subtree_angmom[i] - cross(d.subtree_com[i] - centre, p)
            d.subtree_linvel[i] = p / ti.max(m.body_subtreemass[w, i - w * m.nbody], MINVAL)


@kernel
def static_momenta(m, d):
    """The same of static bodies, on which trees stand; parallel over worlds."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        o = w * m.nbody
        for b in range(m.nbody):
            if m.body_treeid[b] < 0:
                d.subtree_linvel[o + b] = vec3(0.0)
                d.subtree_angmom[o + b] = vec3(0.0)
        for k in range(m.nbody):
            b = m.nbody - 1 - k
            t = m.body_treeid[b]
            mass = m.body_subtreemass[w, b]
            if t < 0:
                mass = present_mass(m, d, w, b)
                d.subtree_linvel[o + b] = d.subtree_linvel[o + b] / ti.max(mass, MINVAL)
            if b > 0 and (t < 0 or m.tree_bodyadr[ti.max(t, 0)] == b) and not is_body_gone(m, d, w, b):
                up = o + m.body_parentid[b]
                p = mass * d.subtree_linvel[o + b]
                turn = d.subtree_angmom[o + b] + cross(d.subtree_com[o + b] - d.subtree_com[up], p)
                d.subtree_linvel[up] = d.subtree_linvel[up] + p
                d.subtree_angmom[up] = d.subtree_angmom[up] + turn
