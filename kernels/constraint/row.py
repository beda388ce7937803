"""A constraint row: a residual that any degrees of freedom enter, of one tree or several.

A maker is a kernel that appends the rows of one kind: it counts the rows and the entries of their Jacobians, scans, and
fills, for each row `start_row`, the entries J and J_dof (world-major dofs, ascending), `finish_row`. It counts all it
wants to add in d.nrow and d.nJ and fills only rows that `fits` allows; tisim/stages/constraint.py lists the makers, in
MuJoCo's order, and lets the lists grow. See "A constraint row" in tisim/SOLVER.md; seed 000, "Constraint model".
"""

from ..sleep.awake import tree_at, tree_count
from ..types import FP, MINVAL, SERIAL, func, kernel, ti
from .impedance import stiffness_damping_impedance
from .row_cost import is_friction


@func
def fits(m, d, r, adr, num):
    """Whether the lists hold row r, with num entries from adr."""
    return r < d.nrowmax and adr + num <= d.nJmax


@func
def start_row(m, d, r, kind, id, adr, num):
    """Row r of a mjtConstraint `kind`, made by the dof, joint, ... `id`, with num entries from adr."""
    d.row_type[r] = kind
    d.row_id[r] = id
    d.row_adr[r] = adr
    d.row_num[r] = num
    d.row_floss[r] = 0.0
    d.row_pose[r] = 0


@func
def row_times(m, d, r, x: ti.template()):
    """J x of row r."""
    s = FP(0.0)
    for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
        s += d.J[e] * x[d.J_dof[e]]
    return s


@func
def finish_row(m, d, r, pos, margin, at, diag, solref, solimp):
    """The rest of row r, once its entries stand.

    pos   violation where positive for an equality, distance for a limit; 0 for friction loss.
    at    distance that sets the impedance: pos - margin, or the norm of pos over all rows of an equality.
    diag  approximate diagonal of J M^-1 J'.
    """
    kbi = stiffness_damping_impedance(m, d, at, solref[0], solref[1], solimp)
    if is_friction(d.row_type[r]):
        kbi[0] = 0.0
    vel = row_times(m, d, r, d.qvel)
    d.row_R[r] = ti.max(MINVAL, (1.0 - kbi[2]) * diag / kbi[2])
    still = 0
    if d.row_R[r] <= MINVAL:  # its cost can be 1e15 times that of others, which would be lost in its rounding
        still = 1
        for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
            if ti.abs(d.J[e]) > MINVAL:
                still = 0
    d.row_still[r] = still
    d.row_aref[r] = -kbi[1] * vel - kbi[0] * kbi[2] * (pos - margin)
    d.row_pos[r] = pos
    d.row_margin[r] = margin
    d.row_diag[r] = diag
    d.row_K[r] = kbi[0]
    d.row_B[r] = kbi[1]
    d.row_imp[r] = kbi[2]
    d.row_vel[r] = vel


@func
def tree_of_dof(m, d, i):
    """World-major tree of a world-major dof."""
    return i // m.nv * m.ntree + m.dof_treeid[i % m.nv]


@func
def world_of_row(m, d, r):
    """World of row r, which all its dofs are of: entries are many and divisions slow."""
    return d.J_dof[d.row_adr[r]] // m.nv


@func
def is_coupled(m, d, r):
    """1 if the dofs of row r are not all ancestors of the last one."""
    coupled = 0
    first = world_of_row(m, d, r) * m.nv
    for e in range(d.row_adr[r] + 1, d.row_adr[r] + d.row_num[r]):
        before = d.J_dof[e - 1] - first
        i = d.J_dof[e] - first
        while i > before:
            i = m.dof_parentid[i]
        if i != before:
            coupled = 1
    return coupled


@func
def rows_alike(m, d, r, n):
    """How many of n rows have the dofs of row r: from it on, those of its connect or weld."""
    end = r + 1
    while end < n and d.row_pose[end] == -1:
        end += 1
    return end - r


@kernel
def row_lists(m, d):
    """The parts of rows that act on each tree, in the order of rows, and which rows couple dofs; which trees are single
    free bodies on which only contacts act, parallel over trees."""
    trees = tree_count(m, d)
    if ti.static(m.has.rows):
        ti.loop_config(serialize=True)
        for _ in range(1):
            n = d.nrow
            total = tree_count(m, d)
            for k in range(total):
                d.tree_segnum[tree_at(m, d, k)] = 0
            r = 0
            while r < n:
                alike = rows_alike(m, d, r, n)
                first = d.row_adr[r]
                w = world_of_row(m, d, r)
                tree = tree_of_dof(m, d, d.J_dof[first])
                coupled = is_coupled(m, d, r)
                for q in range(r, r + alike):
                    d.row_tree[q] = tree
                    d.row_coupled[q] = coupled
                last = -1
                for e in range(first, first + d.row_num[r]):
                    t = w * m.ntree + m.dof_treeid[d.J_dof[e] - w * m.nv]
                    if t != last:
                        d.tree_segnum[t] = d.tree_segnum[t] + alike
                    last = t
                r += alike
            start = 0
            for k in range(total):
                t = tree_at(m, d, k)
                d.tree_segadr[t] = start
                start += d.tree_segnum[t]
                d.tree_segnum[t] = 0
            r = 0
            while r < n:
                alike = rows_alike(m, d, r, n)
                num = d.row_num[r]
                w = world_of_row(m, d, r)
                e = d.row_adr[r]
                end = e + num
                while e < end:
                    t = w * m.ntree + m.dof_treeid[d.J_dof[e] - w * m.nv]
                    behind = e + 1
                    while behind < end and w * m.ntree + m.dof_treeid[d.J_dof[behind] - w * m.nv] == t:
                        behind += 1
                    s = d.tree_segadr[t] + d.tree_segnum[t]
                    d.tree_segnum[t] = d.tree_segnum[t] + alike
                    for q in range(alike):
                        d.seg_row[s + q] = r + q
                        d.seg_adr[s + q] = e + q * num
                        d.seg_num[s + q] = behind - e
                    e = behind
                r += alike
    ti.loop_config(serialize=SERIAL)
    for k in range(trees):
        t = tree_at(m, d, k)
        single = m.tree_free[t % m.ntree]
        if ti.static(m.has.rows):
            if d.tree_segnum[t] > 0:
                single = 0
        d.tree_single[t] = single
