"""Where solvers of the dual problem begin: forces that follow from residuals, y of them, and their cost."""

from ..constraint.cone import cone_force, force_of, load_parameters, to_contact
from ..constraint.row import row_times
from ..constraint.row_cost import row_force
from ..spatial import relative_twist, tree_twists
from ..types import FP, GPU, func, ti
from .colors import is_shared
from .dual import contact_push, row_push

SMALL_BLOCKS, SMALL_DOFS = 16, 96  # of an island, at most, whose forces are vectors of four (small_dual.py)


@func
def residuals_at(m, d, k, x: ti.template()):
    """Jx - aref of the contacts and rows of island k."""
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    for n in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        tree_twists(m, d, w, d.island_tree[n] - w * m.ntree, x)
    for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[n]
        v = to_contact(c, relative_twist(m, d, c, d.twist), d.contact_dim[c], d.contact_frame)
        d.con_Jaref[c] = v - d.con_aref[c]
    if ti.static(m.has.rows):
        for n in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[n]
            d.row_Jaref[r] = row_times(m, d, r, x) - d.row_aref[r]


@func
def clear_forces(m, d, k):
    """No force on island k."""
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    for n in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[n] - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.dual_y[i] = 0.0
    for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        for e in ti.static(range(10)):
            d.con_edge[d.island_con[n]][e] = 0.0
    if ti.static(m.has.rows):
        for n in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            d.row_force[d.island_row[n]] = 0.0


@func
def forces_of_residuals(m, d, k):
    """The forces that the costs of contacts and rows of island k have at their residuals, and y of them."""
    clear_forces(m, d, k)
    if ti.static(m.has.rows):
        for n in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[n]
            f = row_force(d.row_type[r], d.row_Jaref[r], d.row_R[r], d.row_floss[r])
            d.row_force[r] = f[1]
            row_push(m, d, r, f[1])
    for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[n]
        edges_of_residual(m, d, c)
        contact_push(m, d, c, force_of(m, d, c))


@func
def edges_of_residual(m, d, c):
    """con_edge of contact c: the forces on its rows at its residual."""
    j = d.con_Jaref[c]
    dim = d.contact_dim[c]
    fri = load_parameters(m, d, c)
    D = d.con_D[c]
    if ti.static(m.has.elliptic):
        out = cone_force(m, d, j, dim, D, d.con_mu[c], fri)
        for k in ti.static(range(m.has.dims)):
            if k < dim:
                d.con_edge[c][k] = out[1 + k]
    elif dim == 1:
        d.con_edge[c][0] = -D * ti.min(j[0], 0.0)
    else:
        for k in ti.static(range(1, m.has.dims)):
            if k < dim:
                d.con_edge[c][2 * k - 2] = -D * ti.min(j[0] + fri[k] * j[k], 0.0)
                d.con_edge[c][2 * k - 1] = -D * ti.min(j[0] - fri[k] * j[k], 0.0)


@func
def regularisation(m, d, c, fri, k):
    """R of component k of a contact with an elliptic cone; of every edge of a pyramid for k = 0."""
    R = 1.0 / d.con_D[c]
    if k > 0:
        R *= fri[1] * fri[1] / (m.opt.impratio * fri[k] * fri[k])
    return R


@func
def dual_cost(m, d, k):
    """f' (J M^-1 J' + R) f / 2 + f' (J qacc_smooth - aref) of the forces on island k."""
    s = FP(0.0)
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    for n in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[n] - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            s += 0.5 * d.dual_y[i] * d.dual_y[i]
    if ti.static(m.has.rows):
        for n in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[n]
            s += d.row_force[r] * (0.5 * d.row_R[r] * d.row_force[r] + d.row_b[r])
    for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[n]
        fri = load_parameters(m, d, c)
        dim = d.contact_dim[c]
        f = force_of(m, d, c)
        for q in ti.static(range(m.has.dims)):
            if q < dim:
                s += f[q] * d.con_b[c][q]
                if ti.static(m.has.elliptic):
                    s += 0.5 * regularisation(m, d, c, fri, q) * f[q] * f[q]
        if ti.static(not m.has.elliptic):
            for e in range(ti.max(1, 2 * (dim - 1))):
                edge = d.con_edge[c][e]
                s += 0.5 * edge * edge / d.con_D[c]
    return s


@func
def is_small(m, d, k):
    """Whether the forces of island k are one vector, see small_dual.py."""
    small = False
    if ti.static(not GPU and not m.has.elliptic):
        if is_shared(m, d, k) == 0 and d.island_dofnum[k] <= SMALL_DOFS:
            small = forces_of(m, d, k) <= 4 * SMALL_BLOCKS
    return small


@func
def forces_of(m, d, k):
    """Places that the forces of island k take in small_dual.py: a pyramid of more than one begins with a vector."""
    n = d.island_rownum[k] if ti.static(m.has.rows) else 0
    for e in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        dim = d.contact_dim[d.island_con[e]]
        n = ti.select(dim == 1, n + 1, (n + 3) // 4 * 4 + 2 * dim - 2)
    return n
