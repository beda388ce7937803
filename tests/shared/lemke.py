"""The seed's problem of hard contacts (002) as dense matrices, and Lemke's pivots: judges of what sweeps give."""

import numpy as np

from shared import ode


class Island:
    """The problem of one step with substeps=1 from the state of d, whose contacts are listed.

    W (6 nbody, 6 nbody) inverse inertias in the world, 0 for what does not move; u (6 nbody,) velocities behind forces
    and ODE's gyroscopic torque; J (3 ncon, 6 nbody) rows n, t1, t2 of each contact; b (ncon,) least normal velocities;
    mu (ncon,). Bodies' frames are principal, gravity is the only force.
    """

    def __init__(self, m, d, slop):
        h, n = float(m.opt.timestep), m.nbody
        _, twist = ode.state_of(m, d)
        self.W, self.u = np.zeros((6 * n, 6 * n)), np.zeros((n, 6))
        for i in np.flatnonzero(m.body_dofnum):
            R, inertia = np.array(d.ximat[i]).reshape(3, 3), np.array(m.body_inertia[i])
            H = inertia * (R.T @ twist[i, 3:])
            spin = np.linalg.solve(np.diag(inertia) - h * cross(H), H)
            self.u[i] = np.r_[twist[i, :3] + h * np.array(m.opt.gravity), R @ spin]
            self.W[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / m.body_mass[i]
            self.W[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ np.diag(1 / inertia) @ R.T
        self.u = self.u.ravel()
        centre = np.array(d.xipos)
        rows, least, self.mu = [], [], []
        for pair, pos, frame, dist, mu in ode.contacts_of(m, d):
            row = np.zeros((3, n, 6))
            for b, sign in zip(pair, (-1, 1)):
                axes = frame.reshape(3, 3)
                row[:, b] += sign * np.hstack([axes, np.cross(pos - centre[b], axes)])
            rows.append(row.reshape(3, -1))
            push = min(m.lcp.max_vel, m.lcp.erp / h * max(0.0, -dist - slop))
            least.append(push if dist <= 0 else -dist / h)
            self.mu.append(mu)
        self.J, self.b, self.mu = np.vstack(rows), np.array(least), np.array(self.mu)

    def directions(self, eta):
        """(eta, 2) unit vectors in the tangent plane, the first along t1."""
        a = 2 * np.pi * np.arange(eta) / eta
        return np.stack([np.cos(a), np.sin(a)], 1)

    def lemke(self, eta):
        """(velocities, violation) by the seed's matrix with one auxiliary row a contact; None without an answer."""
        k, N = len(self.b), self.J[::3]
        D = np.vstack([self.directions(eta) @ self.J[3 * c + 1 : 3 * c + 3] for c in range(k)])
        E, F = np.kron(np.eye(k), np.ones((eta, 1))), np.vstack([D, N])
        M = np.zeros(((eta + 2) * k,) * 2)
        M[: len(F), : len(F)] = F @ self.W @ F.T
        M[: eta * k, len(F) :], M[len(F) :, : eta * k], M[len(F) :, eta * k : len(F)] = E, -E.T, np.diag(self.mu)
        q = np.r_[D @ self.u, N @ self.u - self.b, np.zeros(k)]
        z = lemke(M, q)
        if z is None:
            return None
        w = M @ z + q
        return self.u + self.W @ F.T @ z[: len(F)], max(-w.min(), -z.min(), np.abs(w * z).max())

    def violation(self, p, v, eta):
        """Greatest violation of the same problem by impulses p (ncon, 3) and velocities v (6 nbody,)."""
        rate = (self.J @ v).reshape(-1, 3)
        normal, slack = p[:, 0], rate[:, 0] - self.b
        d = self.directions(eta)
        edge = (d + np.roll(d, -1, 0)) / 2
        edge /= np.linalg.norm(edge, axis=1)[:, None]
        outside = (p[:, 1:] @ edge.T).max(1) - self.mu * normal * np.cos(np.pi / eta)
        dissipated = (self.mu * normal * (-rate[:, 1:] @ d.T).max(1)) + (p[:, 1:] * rate[:, 1:]).sum(1)
        moved = np.abs(self.u + self.W @ self.J.T @ p.ravel() - v).max()
        return max(moved, -normal.min(), -slack.min(), np.abs(normal * slack).max(), outside.max(), dissipated.max())


def cross(x):
    """The matrix of x cross."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def lemke(M, q, most=5000):
    """z >= 0 with M z + q >= 0, one of both 0 in each row; None where it ends on a ray or after `most` pivots.

    Complementary pivots with a covering vector of ones (Cottle, Pang, Stone: The Linear Complementarity Problem, 4.4).
    Equal ratios are told apart by a shift of 1e-12 in the choice of rows, which the answer does not carry.
    """
    n = len(q)
    if (q >= 0).all():
        return np.zeros(n)
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), np.stack([q, q + 1e-12 * np.arange(1, n + 1)], 1)])
    basis, enter = np.arange(n), 2 * n
    r = int(np.argmin(T[:, -1]))
    for _ in range(most):
        T[r] /= T[r, enter]
        others = np.arange(n) != r
        T[others] -= np.outer(T[others, enter], T[r])
        leave, basis[r] = basis[r], enter
        if leave == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = T[:, -2]
            return z[n : 2 * n]
        enter = leave + n if leave < n else leave - n
        column = T[:, enter]
        if not (column > 1e-11).any():
            return None
        ratio = np.where(column > 1e-11, T[:, -1] / np.where(column > 1e-11, column, 1.0), np.inf)
        ties = np.flatnonzero(ratio < ratio.min() + 1e-14)
        r = int(next((t for t in ties if basis[t] == 2 * n), ties[0]))
    return None
