"""How far contacts of dynamics="lcp" are from fulfilling their law behind the last substep of a step."""

import numpy as np

# places in a record, see kernels/lcp/contacts.py
SIZE, ROWS, SCALE, DEPTH, INVERSE, IMPULSE, BOUNCE, SOFT, EASING = 48, (9, 18), 27, 29, 34, 37, 40, 41, 45


def residual(m, d):
    """rms of the natural map x - P(x - D^-1 (A x + b)), times D [m/s]: (normal rows, tangents), friction in a circle
    of isotropic mu, or in the box. Not of trees with rotation="midpoint", which turns them behind the solution."""
    n, h = d.ncon, float(m.opt.timestep) / m.lcp.substeps
    rec = records(d)
    pair = d.host("lcp_pair").reshape(-1, 2)[:n]
    body = d.host("lcp_body").reshape(-1, 16)
    frame = rec[:, :9].reshape(n, 3, 3)
    v, way = body[:, :6], body[:, 8:14] - h * body[:, :6]
    u, gap = np.zeros((n, 3)), -rec[:, DEPTH]
    for side, sign in ((0, -1), (1, 1)):
        turn = rec[:, ROWS[side] : ROWS[side] + 9].reshape(n, 3, 3)
        scale, b = rec[:, SCALE + side, None], pair[:, side]
        u += sign * (scale * np.einsum("cij,cj->ci", frame, v[b, :3]) + np.einsum("cij,cj->ci", turn, v[b, 3:]))
        gap = gap + sign * (scale[:, 0] * (frame[:, 0] * way[b, :3]).sum(1) + (turn[:, 0] * way[b, 3:]).sum(1))
    slop = m.lcp.slop if m.lcp.slop != "auto" else _slop(m)
    part = 1 - (1 - m.lcp.erp) ** (1 / m.lcp.substeps)
    push = np.maximum(rec[:, EASING], part / h * (-gap - slop))
    aim = np.where(gap > 0, -gap / h, np.minimum(m.lcp.max_vel, push))
    assert not rec[:, BOUNCE].any()
    x, inverse, soft = rec[:, IMPULSE : IMPULSE + 3], rec[:, INVERSE : INVERSE + 3], rec[:, SOFT, None]
    there = inverse[:, 0] > 0
    x, inverse, u, aim, soft = x[there], inverse[there], u[there], aim[there], soft[there]
    w = u + soft * x
    w[:, 0] -= aim
    normal = (x[:, 0] - np.maximum(0, x[:, 0] - w[:, 0] * inverse[:, 0])) / inverse[:, 0]
    most = rec[there][:, 30] * x[:, 0]
    if m.lcp.friction == "box":
        y = np.clip(x[:, 1:] - w[:, 1:] * inverse[:, 1:], -most[:, None], most[:, None])
        tangent = np.hypot(*((x[:, 1:] - y) / inverse[:, 1:]).T)
    else:
        step = inverse[:, 1:].min(1)[:, None]
        y = x[:, 1:] - step * w[:, 1:]
        y *= np.minimum(1, most / np.maximum(1e-300, np.hypot(*y.T)))[:, None]
        tangent = np.hypot(*((x[:, 1:] - y) / step).T)
    return np.sqrt((normal**2).mean()), np.sqrt((tangent**2).mean())


def records(d):
    """(ncon, 48) records by slot: on the device the numbers of four lie side by side."""
    n, flat = d.ncon, d.host("lcp_rec").ravel()
    four, rest = n // 4 * 4, n % 4
    last = flat[SIZE * four : SIZE * n].reshape(SIZE, rest).T if rest else np.zeros((0, SIZE))
    return np.concatenate([flat[: SIZE * four].reshape(-1, SIZE, 4).transpose(0, 2, 1).reshape(-1, SIZE), last])


def _slop(m):
    from tisim.model import lcp

    return lcp.length(m, "slop")
