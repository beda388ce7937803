"""The phases of a Newton round on a stretch of the lists of trees, contacts and rows of an island.

Workers call them for their blocks (newton.py), or the host for all blocks of a list (all_threads.py), in this order:
`start` at x = 0, then in each round `project` the direction p through M and J, `search` for the step along p, `move`.
A stretch goes from `first` up to `last` in island_tree, island_con or island_row, and lies in one island. What is
summed comes in and goes out, so that who calls decides where a sum begins. Seed 000, "Convex solver".
"""

from ..constants import DSBL_WARMSTART
from ..constraint.row import row_times
from ..types import func, ti, vec3
from .steps import (
    contact_direction,
    contact_line,
    contact_move,
    pose_times,
    row_along,
    row_move,
    tree_gather,
    tree_times_M,
)


@func
def start_trees(m, d, first, last):
    """x = 0, and the first direction: to the warm start, or to qacc_smooth without one."""
    cold = m.opt.disableflags & DSBL_WARMSTART != 0
    w = d.island_tree[first] // m.ntree
    for n in range(first, last):
        t = d.island_tree[n] - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.sol_p[i] = ti.select(cold, d.qacc_smooth[i], d.qacc_warmstart[i])
            d.qacc[i] = 0.0
            d.sol_Ma[i] = 0.0


@func
def start_contacts(m, d, first, last):
    """Residuals at x = 0."""
    for n in range(first, last):
        c = d.island_con[n]
        d.con_Jaref[c] = -d.con_aref[c]


@func
def start_rows(m, d, first, last):
    if ti.static(m.has.rows):
        for n in range(first, last):
            r = d.island_row[n]
            d.row_Jaref[r] = -d.row_aref[r]


@func
def project_trees(m, d, there: ti.template(), first, last):
    """M p, the twists of the bodies, and along p: derivative of the cost, then the two of its Gauss term. there: as in
    tree_times_M."""
    s = vec3(0.0)
    w = d.island_tree[first] // m.ntree
    for n in range(first, last):
        t = d.island_tree[n] - w * m.ntree
        tree_times_M(m, d, w, t, d.sol_p, d.sol_Mp, there)
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            f = d.sol_Ma[i] - d.qfrc_smooth[i]
            s += d.sol_p[i] * vec3(f - d.qfrc_constraint[i], f, d.sol_Mp[i])
    return s


@func
def project_contacts(m, d, first, last):
    for n in range(first, last):
        contact_direction(m, d, d.island_con[n])


@func
def project_rows(m, d, posed: ti.template(), first, last):
    """posed: those of connects and welds from the twists of bodies, which costs the same however long their chains."""
    if ti.static(m.has.rows):
        for n in range(first, last):
            r = d.island_row[n]
            if not posed or d.row_pose[r] == 0:
                d.row_Jp[r] = row_times(m, d, r, d.sol_p)
            elif ti.static(m.has.jointed and not isinstance(posed, bool)):
                if d.row_pose[r] > 0:
                    pose_times(m, d, r, d.row_pose[r] - 1)


@func
def search_contacts(m, d, first, last, alpha, slope):
    """slope (first and second derivative along p) with that of the contacts' cost at the step alpha."""
    for n in range(first, last):
        slope += contact_line(m, d, d.island_con[n], alpha)
    return slope


@func
def search_rows(m, d, first, last, alpha, slope):
    if ti.static(m.has.rows):
        for n in range(first, last):
            slope += row_along(m, d, d.island_row[n], alpha)
    return slope


@func
def move_contacts(m, d, posed: ti.template(), first, last, alpha, cost):
    """Moves by alpha p: residuals, forces and Hessians of the contacts. cost with theirs; posed and more as in
    contact_move."""
    for n in range(first, last):
        cost += contact_move(m, d, d.island_con[n], alpha, posed)
    return cost


@func
def move_rows(m, d, first, last, alpha, cost):
    if ti.static(m.has.rows):
        for n in range(first, last):
            cost += row_move(m, d, d.island_row[n], alpha)
    return cost


@func
def move_trees(m, d, posed: ti.template(), first, last, alpha, cost, descent: ti.template()):
    """x, its constraint forces, and descent = -gradient there. Returns cost with the Gauss term's, |gradient|^2 and
    |p|^2."""
    s = vec3(cost, 0.0, 0.0)
    w = d.island_tree[first] // m.ntree
    for n in range(first, last):
        t = d.island_tree[n] - w * m.ntree
        tree_gather(m, d, w, t, posed, d.qfrc_constraint)
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            p = d.sol_p[i]
            d.qacc[i] = d.qacc[i] + alpha * p
            d.sol_Ma[i] = d.sol_Ma[i] + alpha * d.sol_Mp[i]
            f = d.sol_Ma[i] - d.qfrc_smooth[i]
            g = f - d.qfrc_constraint[i]
            descent[i] = -g
            s += vec3(0.5 * f * (d.qacc[i] - d.qacc_smooth[i]), g * g, p * p)
    return s
