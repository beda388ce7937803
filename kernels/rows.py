"""The efc_* vectors of MuJoCo, written out from rows and contacts when a user asks for them. Seed 000."""

from tisim.kernels.cone import cone_force, load_parameters
from tisim.kernels.constants import (
    CONE,
    CONTACT_ELLIPTIC,
    CONTACT_FRICTIONLESS,
    CONTACT_PYRAMIDAL,
    ELLIPTIC,
    LINEARNEG,
    LINEARPOS,
    QUADRATIC,
    SATISFIED,
)
from tisim.kernels.constraint import ld5, stiffness_damping_impedance
from tisim.kernels.types import FP, SERIAL, kernel, ld6, ti, vec6


@kernel
def expand_rows(m, d):
    """Rows of friction loss and limits; parallel over rows."""
    n = d.nrow
    ti.loop_config(serialize=SERIAL)
    for r in range(n):
        o = 13 * r
        R = d.row_f[o + 3]
        j = d.row_sol[4 * r]
        floss = d.row_f[o + 5]
        d.efc_type[r] = d.row_int[6 * r]
        d.efc_id[r] = d.row_int[6 * r + 1]
        d.efc_R[r] = R
        d.efc_D[r] = 1.0 / R
        d.efc_aref[r] = d.row_f[o + 4]
        d.efc_frictionloss[r] = floss
        d.efc_pos[r] = d.row_f[o + 6]
        d.efc_margin[r] = d.row_f[o + 7]
        d.efc_diagApprox[r] = d.row_f[o + 8]
        for k in range(3):
            d.efc_KBIP[4 * r + k] = d.row_f[o + 9 + k]
        d.efc_KBIP[4 * r + 3] = 0.0
        d.efc_vel[r] = d.row_f[o + 12]
        d.efc_force[r] = d.row_sol[4 * r + 2]
        state = QUADRATIC
        if floss > 0.0:
            if j <= -R * floss:
                state = LINEARNEG
            elif j >= R * floss:
                state = LINEARPOS
        elif j >= 0.0:
            state = SATISFIED
        d.efc_state[r] = state


@kernel
def expand_contacts(m, d):
    """Rows of contacts; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        first = d.contact_efc_address[c]
        if first >= 0:
            dim = d.contact_dim[c]
            fri = load_parameters(m, d, c)
            D = d.con_par[7 * c]
            mu = d.con_par[7 * c + 1]
            aref = ld6(d.con_acc, 3 * c)
            j = ld6(d.con_acc, 3 * c + 1)
            out = cone_force(m, d, j, dim, D, mu, fri)
            margin = d.contact_includemargin[c]
            kbi = stiffness_damping_impedance(
                m,
                d,
                d.contact_dist[c] - margin,
                d.contact_solref[2 * c],
                d.contact_solref[2 * c + 1],
                ld5(d.contact_solimp, c),
            )
            friction = kbi
            if m.opt.cone == ELLIPTIC and (
                d.contact_solreffriction[2 * c] != 0.0 or d.contact_solreffriction[2 * c + 1] != 0.0
            ):
                friction = stiffness_damping_impedance(
                    m,
                    d,
                    d.contact_dist[c] - margin,
                    d.contact_solreffriction[2 * c],
                    d.contact_solreffriction[2 * c + 1],
                    ld5(d.contact_solimp, c),
                )
            elliptic = m.opt.cone == ELLIPTIC and dim > 1
            rows = ti.select(dim == 1 or elliptic, dim, 2 * (dim - 1))
            tangent = 0.0
            for k in ti.static(range(1, 6)):
                tangent += (fri[k] * j[k]) * (fri[k] * j[k])
            tangent = ti.sqrt(tangent)
            for e in range(rows):
                r = first + e
                k = e  # component of the contact frame
                sign = 1.0
                if not elliptic:
                    k = ti.select(dim == 1, 0, e // 2 + 1)
                    sign = 1.0 - 2.0 * ti.cast(e % 2, FP)
                jk = component(j, k)
                ak = component(aref, k)
                fk = component(fri, k)
                residual = jk
                a = ak
                force = component(vec6(out[1], out[2], out[3], out[4], out[5], out[6]), k)
                Dk = D
                state = ti.select(residual < 0.0, QUADRATIC, SATISFIED)
                b = ti.select(k > 0, friction[1], kbi[1])
                stiff = ti.select(elliptic and k > 0, FP(0.0), kbi[0])
                if not elliptic and dim > 1:
                    residual = j[0] + sign * fk * jk
                    a = aref[0] + sign * fk * ak
                    force = -D * ti.min(residual, 0.0)
                    state = ti.select(residual < 0.0, QUADRATIC, SATISFIED)
                    b = kbi[1]
                if elliptic:
                    if k > 0:
                        Dk = D * m.opt.impratio * fk * fk / (fri[1] * fri[1])
                    state = CONE
                    if j[0] * mu * mu + tangent <= 0.0:
                        state = QUADRATIC
                    elif j[0] >= tangent:
                        state = SATISFIED
                pos = ti.select(elliptic and k > 0, FP(0.0), d.contact_dist[c])
                row_margin = ti.select(elliptic and k > 0, FP(0.0), margin)
                flat = ti.select(dim == 1, CONTACT_FRICTIONLESS, CONTACT_PYRAMIDAL)
                d.efc_type[r] = ti.select(elliptic, CONTACT_ELLIPTIC, flat)
                d.efc_id[r] = c
                d.efc_state[r] = state
                d.efc_pos[r] = pos
                d.efc_margin[r] = row_margin
                d.efc_frictionloss[r] = 0.0
                d.efc_D[r] = Dk
                d.efc_R[r] = 1.0 / Dk
                d.efc_diagApprox[r] = kbi[2] / (1.0 - kbi[2]) / Dk
                d.efc_KBIP[4 * r] = stiff
                d.efc_KBIP[4 * r + 1] = b
                d.efc_KBIP[4 * r + 2] = kbi[2]
                d.efc_KBIP[4 * r + 3] = 0.0
                d.efc_aref[r] = a
                d.efc_vel[r] = -(a + stiff * kbi[2] * (pos - row_margin)) / b
                d.efc_force[r] = force


@ti.func
def component(v, k):
    """v[k] for a run-time k."""
    s = 0.0
    for i in ti.static(range(6)):
        if i == k:
            s = v[i]
    return s
