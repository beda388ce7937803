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
from ..spatial import relative_twist
from ..types import FP, SERIAL, func, kernel, ti, vec4, vec6
from .cone import cone_force, load_parameters, to_contact
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
        if d.contact_efc_address[c] >= 0:
            expand_contact(m, d, c)


@kernel
def expand_dual(m, d):
    """Forces on rows of contacts where a dual solver said them last; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        if d.contact_efc_address[c] >= 0:
            dim = d.contact_dim[c]
            rows = ti.select(dim == 1 or m.opt.cone == ELLIPTIC, dim, 2 * (dim - 1))
            for e in range(rows):
                d.efc_force[d.contact_efc_address[c] + e] = d.con_edge[c][e]


@func
def expand_contact(m, d, c):
    """The rows of contact c: one for each component, or two for each tangent of a pyramid."""
    dim = d.contact_dim[c]
    elliptic = m.opt.cone == ELLIPTIC and dim > 1
    fri = load_parameters(m, d, c)
    D = d.con_D[c]
    aref = d.con_aref[c]
    j = d.con_Jaref[c]
    out = cone_force(m, d, j, dim, D, d.con_mu[c], fri)
    kbi, friction = impedances(m, d, c)
    velocity = to_contact(c, relative_twist(m, d, c, d.cvel), dim, d.contact_frame)
    zone = zone_of(j, d.con_mu[c], fri)
    rows = ti.select(dim == 1 or elliptic, dim, 2 * (dim - 1))
    for e in range(rows):
        r = d.contact_efc_address[c] + e
        k = e  # component of the contact frame
        sign = 1.0
        if not elliptic:
            k = ti.select(dim == 1, 0, e // 2 + 1)
            sign = 1.0 - 2.0 * ti.cast(e % 2, FP)
        residual = component(j, k)
        v = component(velocity, k)
        a = component(aref, k)
        fk = component(fri, k)
        force = component(vec6(out[1], out[2], out[3], out[4], out[5], out[6]), k)
        Dk = D
        b = ti.select(k > 0, friction[1], kbi[1])
        if not elliptic and dim > 1:
            residual = j[0] + sign * fk * residual
            v = velocity[0] + sign * fk * v
            a = aref[0] + sign * fk * a
            force = -D * ti.min(residual, 0.0)
            b = kbi[1]
        state = ti.select(residual < 0.0, QUADRATIC, SATISFIED)
        if elliptic:
            if k > 0:
                Dk = D * m.opt.impratio * fk * fk / (fri[1] * fri[1])
            state = zone
        tangent = elliptic and k > 0
        stiff = ti.select(tangent, FP(0.0), kbi[0])
        pos = ti.select(tangent, FP(0.0), d.contact_dist[c])
        margin = ti.select(tangent, FP(0.0), d.contact_includemargin[c])
        flat = ti.select(dim == 1, CONTACT_FRICTIONLESS, CONTACT_PYRAMIDAL)
        d.efc_type[r] = ti.select(elliptic, CONTACT_ELLIPTIC, flat)
        d.efc_id[r] = c
        d.efc_state[r] = state
        d.efc_pos[r] = pos
        d.efc_margin[r] = margin
        d.efc_frictionloss[r] = 0.0
        d.efc_D[r] = Dk
        d.efc_R[r] = 1.0 / Dk
        d.efc_diagApprox[r] = kbi[2] / (1.0 - kbi[2]) / Dk
        d.efc_KBIP[r] = vec4(stiff, b, kbi[2], 0.0)
        d.efc_aref[r] = a
        d.efc_vel[r] = v
        d.efc_force[r] = force


@func
def impedances(m, d, c):
    """Stiffness, damping and impedance of contact c along its normal, and along the others."""
    at = d.contact_dist[c] - d.contact_includemargin[c]
    solref = d.contact_solref[c]
    solimp = d.contact_solimp[c]
    normal = stiffness_damping_impedance(m, d, at, solref[0], solref[1], solimp)
    friction = normal
    solref = d.contact_solreffriction[c]
    if m.opt.cone == ELLIPTIC and (solref[0] != 0.0 or solref[1] != 0.0):
        friction = stiffness_damping_impedance(m, d, at, solref[0], solref[1], solimp)
    return normal, friction


@ti.func
def zone_of(j, mu, fri):
    """The mjtConstraintState of a contact with an elliptic cone."""
    tangent = 0.0
    for k in ti.static(range(1, 6)):
        tangent += (fri[k] * j[k]) * (fri[k] * j[k])
    tangent = ti.sqrt(tangent)
    zone = CONE
    if j[0] * mu * mu + tangent <= 0.0:
        zone = QUADRATIC
    elif j[0] >= tangent:
        zone = SATISFIED
    return zone


@ti.func
def component(v, k):
    """v[k] for a run-time k."""
    s = 0.0
    for i in ti.static(range(6)):
        if i == k:
            s = v[i]
    return s
