"""What a thread that solves an island alone knows of it: an `Isle`, handed from phase to phase."""

from ..types import func, ti


@ti.dataclass
class Isle:
    """An island's world, stretches of island_tree, island_con and island_row, dofs, and address in island_dense.

    dense  where its dense Hessian begins; -1: it has none, and its linear systems are solved by conjugate gradients.
    """

    world: ti.i32
    tree0: ti.i32
    tree1: ti.i32
    con0: ti.i32
    con1: ti.i32
    row0: ti.i32
    row1: ti.i32
    ndof: ti.i32
    dense: ti.i32


@func
def isle_of(m, d, k):
    """The Isle of island k. Coupled trees of few dofs have a dense Hessian; without couplings each tree's is exact."""
    tree, con, row = d.island_treeadr[k], d.island_conadr[k], d.island_rowadr[k]
    dense = -1
    if d.island_coupled[k] > 0 and d.island_dofnum[k] <= d.maxdense:
        dense = d.island_denseadr[k]
    return Isle(
        world=d.island_tree[tree] // m.ntree,
        tree0=tree,
        tree1=tree + d.island_treenum[k],
        con0=con,
        con1=con + d.island_connum[k],
        row0=row,
        row1=row + d.island_rownum[k],
        ndof=d.island_dofnum[k],
        dense=dense,
    )
