"""Maker of rows: friction loss of dofs. Seed 000, "Friction loss"."""

from ..constants import FRICTION_DOF
from ..sleep.awake import lossy_at, lossy_count
from ..types import FP, SERIAL, kernel, ti
from .row import finish_row, fits, start_row


@kernel
def friction_rows(m, d):
    """Parallel over (world, dof with friction loss)."""
    row0 = d.nrow
    adr0 = d.nJ
    total = lossy_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(total):
        k = lossy_at(m, d, at)
        r = row0 + at
        adr = adr0 + at
        if fits(m, d, r, adr, 1):
            w = k // m.nfriction
            i = m.friction_dof[k - w * m.nfriction]
            start_row(m, d, r, FRICTION_DOF, i, adr, 1)
            d.row_floss[r] = m.dof_frictionloss[w, i]
            d.J_dof[adr] = w * m.nv + i
            d.J[adr] = 1.0
            finish_row(m, d, r, FP(0.0), FP(0.0), FP(0.0), m.dof_invweight0[w, i], m.dof_solref[i], m.dof_solimp[i])
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.nrow = row0 + total
        d.nJ = adr0 + total
