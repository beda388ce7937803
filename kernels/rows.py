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
    NCON,
    NROW,
    QUADRATIC,
    SATISFIED,
)
from tisim.kernels.constraint import ld5, stiffness_damping_impedance
from tisim.kernels.types import FP, SERIAL, F, I, kernel, ld6, ti, vec6


@kernel
def expand_rows(
    counts: I, row_int: I, row_f: F, row_sol: F, efc_type: I, efc_id: I, efc_state: I, efc_pos: F, efc_margin: F,
    efc_frictionloss: F, efc_diagApprox: F, efc_KBIP: F, efc_D: F, efc_R: F, efc_vel: F, efc_aref: F, efc_force: F,
):  # fmt: skip
    """Rows of friction loss and limits; parallel over rows."""
    n = counts[NROW]
    ti.loop_config(serialize=SERIAL)
    for r in range(n):
        o = 13 * r
        R = row_f[o + 3]
        j = row_sol[4 * r]
        floss = row_f[o + 5]
        efc_type[r] = row_int[6 * r]
        efc_id[r] = row_int[6 * r + 1]
        efc_R[r] = R
        efc_D[r] = 1.0 / R
        efc_aref[r] = row_f[o + 4]
        efc_frictionloss[r] = floss
        efc_pos[r] = row_f[o + 6]
        efc_margin[r] = row_f[o + 7]
        efc_diagApprox[r] = row_f[o + 8]
        for k in range(3):
            efc_KBIP[4 * r + k] = row_f[o + 9 + k]
        efc_KBIP[4 * r + 3] = 0.0
        efc_vel[r] = row_f[o + 12]
        efc_force[r] = row_sol[4 * r + 2]
        state = QUADRATIC
        if floss > 0.0:
            if j <= -R * floss:
                state = LINEARNEG
            elif j >= R * floss:
                state = LINEARPOS
        elif j >= 0.0:
            state = SATISFIED
        efc_state[r] = state


@kernel
def expand_contacts(
    cone: ti.i32, impratio: FP, timestep: FP, disableflags: ti.i32, counts: I, contact_efc_address: I, contact_dim: I,
    contact_dist: F, contact_includemargin: F, contact_solref: F, contact_solreffriction: F, contact_solimp: F,
    con_par: F, con_acc: F,
    efc_type: I, efc_id: I, efc_state: I, efc_pos: F, efc_margin: F, efc_frictionloss: F, efc_KBIP: F, efc_D: F,
    efc_R: F, efc_diagApprox: F, efc_vel: F, efc_aref: F, efc_force: F,
):  # fmt: skip
    """Rows of contacts; parallel over contacts."""
    n = counts[NCON]
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        first = contact_efc_address[c]
        if first >= 0:
            dim = contact_dim[c]
            fri = load_parameters(c, con_par)
            D = con_par[7 * c]
            mu = con_par[7 * c + 1]
            aref = ld6(con_acc, 3 * c)
            j = ld6(con_acc, 3 * c + 1)
            out = cone_force(j, dim, cone, D, mu, fri, impratio)
            margin = contact_includemargin[c]
            kbi = stiffness_damping_impedance(
                contact_dist[c] - margin, contact_solref[2 * c], contact_solref[2 * c + 1], ld5(contact_solimp, c),
                timestep, disableflags,
            )  # fmt: skip
            friction = kbi
            if cone == ELLIPTIC and (contact_solreffriction[2 * c] != 0.0 or contact_solreffriction[2 * c + 1] != 0.0):
                friction = stiffness_damping_impedance(
                    contact_dist[c] - margin, contact_solreffriction[2 * c], contact_solreffriction[2 * c + 1],
                    ld5(contact_solimp, c), timestep, disableflags,
                )  # fmt: skip
            elliptic = cone == ELLIPTIC and dim > 1
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
                        Dk = D * impratio * fk * fk / (fri[1] * fri[1])
                    state = CONE
                    if j[0] * mu * mu + tangent <= 0.0:
                        state = QUADRATIC
                    elif j[0] >= tangent:
                        state = SATISFIED
                pos = ti.select(elliptic and k > 0, FP(0.0), contact_dist[c])
                row_margin = ti.select(elliptic and k > 0, FP(0.0), margin)
                flat = ti.select(dim == 1, CONTACT_FRICTIONLESS, CONTACT_PYRAMIDAL)
                efc_type[r] = ti.select(elliptic, CONTACT_ELLIPTIC, flat)
                efc_id[r] = c
                efc_state[r] = state
                efc_pos[r] = pos
                efc_margin[r] = row_margin
                efc_frictionloss[r] = 0.0
                efc_D[r] = Dk
                efc_R[r] = 1.0 / Dk
                efc_diagApprox[r] = kbi[2] / (1.0 - kbi[2]) / Dk
                efc_KBIP[4 * r] = stiff
                efc_KBIP[4 * r + 1] = b
                efc_KBIP[4 * r + 2] = kbi[2]
                efc_KBIP[4 * r + 3] = 0.0
                efc_aref[r] = a
                efc_vel[r] = -(a + stiff * kbi[2] * (pos - row_margin)) / b
                efc_force[r] = force


@ti.func
def component(v, k):
    """v[k] for a run-time k."""
    s = 0.0
    for i in ti.static(range(6)):
        if i == k:
            s = v[i]
    return s
