"""Forces of the medium on the bodies of trees, and their derivatives by velocity. Formulas: medium.py.

A body whose geoms have `fluidshape` is one ellipsoid for each of them, any other the box of its inertia.
"""

from ..sleep.awake import body_at, body_count, tree_at, tree_count
from ..spatial import cross, head, join, tail, tree_project
from ..types import FP, SERIAL, func, kernel, narrow, store, ti, vec3, vec6
from .medium import added_mass, added_mass_rate, box_force, box_rate, ellipsoid_force, ellipsoid_rate

vec5 = ti.types.vector(5, FP)


@kernel
def tree_fluid(m, d):
    """qfrc_fluid, also added to qfrc_passive; parallel over worlds and trees."""
    n = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        wt = tree_at(m, d, at)
        w = wt // m.ntree
        t = wt - w * m.ntree
        for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
            total = vec6(0.0)
            for k in range(shapes(m, d, b)):
                x, R = shape_pose(m, d, w, b, k)
                v = local_velocity(m, d, w, b, x, R)
                f = vec6(0.0)
                if m.medium_geoms[b] == 0:
                    f = box_force(v, m.medium_box[w, b], m.opt.density, m.opt.viscosity)
                else:
                    g = m.body_geomadr[b] + k
                    coef, mass, inertia = coefficients(m, d, g)
                    f = added_mass(v, mass, inertia, m.opt.density)
                    f += ellipsoid_force(v, m.geom_semiaxes[w * m.ngeom + g, g], coef, m.opt.density, m.opt.viscosity)
                    f *= m.geom_fluid[g][0]
                total += to_centre(m, d, w, b, x, R, f)
            store(d.wrench, w * m.nbody + b, total)
        tree_project(m, d, w, t, d.qfrc_fluid)
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qfrc_passive[i] = d.qfrc_passive[i] + d.qfrc_fluid[i]


@kernel
def fluid_derivative(m, d):
    """body_deriv: change of each body's wrench with its twist, column by column; parallel over worlds and bodies."""
    total = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(total):
        wb = body_at(m, d, at)
        w = wb // m.nbody
        b = wb - w * m.nbody
        for c in range(6):
            d.body_deriv[wb, c] = vec6(0.0)
        n = shapes(m, d, b) if m.body_treeid[b] >= 0 else 0
        for k in range(n):
            x, R = shape_pose(m, d, w, b, k)
            v = local_velocity(m, d, w, b, x, R)
            arm = x - d.subtree_com[w * m.nbody + m.body_rootid[b]]
            for c in range(6):
                unit = vec6(0.0)
                for i in ti.static(range(6)):
                    unit[i] = ti.cast(i == c, FP)
                Rt = R.transpose()
                dv = join(Rt @ head(unit), Rt @ (tail(unit) + cross(head(unit), arm)))
                df = vec6(0.0)
                if m.medium_geoms[b] == 0:
                    df = box_rate(v, dv, m.medium_box[w, b], m.opt.density, m.opt.viscosity)
                else:
                    g = m.body_geomadr[b] + k
                    coef, mass, inertia = coefficients(m, d, g)
                    df = added_mass_rate(v, dv, mass, inertia, m.opt.density)
                    df += ellipsoid_rate(
                        v, dv, m.geom_semiaxes[w * m.ngeom + g, g], coef, m.opt.density, m.opt.viscosity
                    )
                    df *= m.geom_fluid[g][0]
                d.body_deriv[wb, c] = d.body_deriv[wb, c] + to_centre(m, d, w, b, x, R, df)


@func
def shapes(m, d, b):
    """How many shapes of body b the medium acts on."""
    return ti.select(m.medium_geoms[b] > 0, m.medium_geoms[b], m.medium_geoms[b] + 1)


@func
def shape_pose(m, d, w, b, k):
    """Centre and axes of shape k of body b."""
    x = d.xipos[w * m.nbody + b]
    R = d.ximat[w * m.nbody + b]
    if m.medium_geoms[b] > 0:
        x = narrow(d.geom_xpos[w * m.ngeom + m.body_geomadr[b] + k])
        R = narrow(d.geom_xmat[w * m.ngeom + m.body_geomadr[b] + k])
    return x, R


@func
def local_velocity(m, d, w, b, x, R):
    """Velocity of body b at x against the medium, along the axes R."""
    v = d.cvel[w * m.nbody + b]
    arm = x - d.subtree_com[w * m.nbody + m.body_rootid[b]]
    Rt = R.transpose()
    return join(Rt @ head(v), Rt @ (tail(v) + cross(head(v), arm) - vec3(m.opt.wind)))


@func
def to_centre(m, d, w, b, x, R, f):
    """Wrench about the tree's centre of a force at x along the axes R."""
    force = R @ tail(f)
    arm = x - d.subtree_com[w * m.nbody + m.body_rootid[b]]
    return join(R @ head(f) + cross(arm, force), force)


@func
def coefficients(m, d, g):
    """Of geom g: drag and lift, added mass, added inertia."""
    row = m.geom_fluid[g]
    drag = vec5(row[1], row[2], row[3], row[4], row[5])
    return drag, vec3(row[6], row[7], row[8]), vec3(row[9], row[10], row[11])
