"""What the solver needs of each contact, and which contacts touch each body.

Contacts have no stored Jacobian: the solver works on their relative twist (kernels/spatial.py). Seed 000, "Constraint
model" and "Parameters".
"""

from ..constants import ELLIPTIC
from ..sleep.awake import body_at, body_count
from ..spatial import relative_twist
from ..types import FP, GPU, MINVAL, SERIAL, kernel, store, ti
from .cone import load_parameters, to_contact
from .impedance import stiffness_damping_impedance
from .lists_all import sides_of_contact


@kernel
def contact_terms(m, d):
    """Bodies, lever arms, regularisation and reference acceleration of each contact; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        w = d.contact_worldid[c]
        tran = FP(0.0)
        for side in ti.static(range(2)):
            b = m.geom_bodyid[d.contact_geom[c][side]]
            tran += m.body_invweight0[w, b][0]
            arm = d.contact_pos[c] - d.subtree_com[w * m.nbody + m.body_rootid[b]]
            store(d.con_arm, 2 * c + side, arm)
            d.con_body[c][side] = ti.select(m.body_treeid[b] >= 0 and d.contact_exclude[c] == 0, w * m.nbody + b, -1)
        fri = load_parameters(m, d, c)
        dim = d.contact_dim[c]
        pos = d.contact_dist[c] - d.contact_includemargin[c]
        imp = d.contact_solimp[c]
        kbi = stiffness_damping_impedance(m, d, pos, d.contact_solref[c][0], d.contact_solref[c][1], imp)
        diag = tran
        mu = fri[1] / ti.sqrt(ti.max(MINVAL, m.opt.impratio))
        if m.opt.cone != ELLIPTIC and dim > 1:
            diag = tran + fri[1] * fri[1] * tran
        R = ti.max(MINVAL, (1.0 - kbi[2]) * diag / kbi[2])
        if m.opt.cone != ELLIPTIC and dim > 1:
            R = ti.max(MINVAL, 2.0 * mu * mu * R)
        damping = kbi[1]
        if m.opt.cone == ELLIPTIC and (d.contact_solreffriction[c][0] != 0.0 or d.contact_solreffriction[c][1] != 0.0):
            kf = stiffness_damping_impedance(
                m, d, FP(0.0), d.contact_solreffriction[c][0], d.contact_solreffriction[c][1], imp
            )
            damping = kf[1]
        v = to_contact(c, relative_twist(m, d, c, d.cvel), dim, d.contact_frame)
        a = -damping * v
        a[0] = -kbi[1] * v[0] - kbi[0] * kbi[2] * pos
        d.contact_mu[c] = mu
        d.con_D[c] = 1.0 / R
        d.con_mu[c] = mu
        d.con_aref[c] = a
        if ti.static(GPU):  # a task less than in contact_parts
            sides_of_contact(m, d, c)


@kernel
def contact_lists(m, d):
    """First row of each contact, and the contacts of each body in list order; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = d.ncon
        row = d.nrow
        n_body = body_count(m, d)
        for k in range(n_body):
            d.body_connum[body_at(m, d, k)] = 0
        for c in range(n):
            d.contact_efc_address[c] = -1
            if d.contact_exclude[c] == 0:
                d.contact_efc_address[c] = row
                dim = d.contact_dim[c]
                row += ti.select(m.opt.cone == ELLIPTIC or dim == 1, dim, 2 * (dim - 1))
                for side in range(2):
                    b = d.con_body[c][side]
                    if b >= 0:
                        d.body_connum[b] = d.body_connum[b] + 1
        d.nefc = row
        s = 0
        for k in range(n_body):
            b = body_at(m, d, k)
            d.body_conadr[b] = s
            s += d.body_connum[b]
            d.body_connum[b] = 0
        for c in range(n):
            for side in range(2):
                b = d.con_body[c][side]
                if b >= 0:
                    d.body_con[d.body_conadr[b] + d.body_connum[b]] = 2 * c + side
                    d.body_connum[b] = d.body_connum[b] + 1
