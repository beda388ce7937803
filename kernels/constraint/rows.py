"""The efc_* vectors of MuJoCo, written out from rows and contacts when a user asks for them. Seed 000."""

from ..constants import (
    CONE,
    CONTACT_ELLIPTIC,
    CONTACT_FRICTIONLESS,
    CONTACT_PYRAMIDAL,
    ELLIPTIC,
    EQUALITY,
    LINEARNEG,
    LINEARPOS,
    QUADRATIC,
    SATISFIED,
)
from ..types import FP, SERIAL, kernel, ti, vec4, vec6
from .cone import cone_force, load_parameters
from .impedance import stiffness_damping_impedance
from .row_cost import is_friction


@kernel
def expand_rows(m, d):
    """All rows but those of contacts; parallel over rows."""
    n = d.nrow
    ti.loop_config(serialize=SERIAL)
    for r in range(n):
        R = d.row_R[r]
        j = d.row_Jaref[r]
        floss = d.row_floss[r]
        d.efc_type[r] = d.row_type[r]
        d.efc_id[r] = d.row_id[r]
        d.efc_R[r] = R
        d.efc_D[r] = 1.0 / R
        d.efc_aref[r] = d.row_aref[r]
        d.efc_frictionloss[r] = floss
        d.efc_pos[r] = d.row_pos[r]
        d.efc_margin[r] = d.row_margin[r]
        d.efc_diagApprox[r] = d.row_diag[r]
        d.efc_KBIP[r] = vec4(d.row_K[r], d.row_B[r], d.row_imp[r], 0.0)
        d.efc_vel[r] = d.row_vel[r]
        d.efc_force[r] = d.row_force[r]
        state = QUADRATIC
        if is_friction(d.row_type[r]):
            if j <= -R * floss:
                state = LINEARNEG
            elif j >= R * floss:
                state = LINEARPOS
        elif d.row_type[r] != EQUALITY and j >= 0.0:
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
            D = d.con_D[c]
            mu = d.con_mu[c]
            aref = d.con_aref[c]
            j = d.con_Jaref[c]
            out = cone_force(m, d, j, dim, D, mu, fri)
            margin = d.contact_includemargin[c]
            kbi = stiffness_damping_impedance(
                m, d, d.contact_dist[c] - margin, d.contact_solref[c][0], d.contact_solref[c][1], d.contact_solimp[c]
            )
            friction = kbi
            if m.opt.cone == ELLIPTIC and (
                d.contact_solreffriction[c][0] != 0.0 or d.contact_solreffriction[c][1] != 0.0
            ):
                friction = stiffness_damping_impedance(
                    m,
                    d,
                    d.contact_dist[c] - margin,
                    d.contact_solreffriction[c][0],
                    d.contact_solreffriction[c][1],
                    d.contact_solimp[c],
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
                d.efc_KBIP[r] = vec4(stiff, b, kbi[2], 0.0)
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
