"""`d.solver`: what the solver told of its rounds, as mujoco's mjData.solver."""

ISLANDS, ROUNDS = 20, 200  # mjNISLAND, mjNSOLVER


class SolverStat:
    """Scaled improvement and gradient of each round, (20, 200): the first islands over all worlds, their first rounds.

    Of island k rounds 0 to solver_niter[k] - 1 are told, then those of noslip.

    improvement  by which the cost fell, times 1 / (meaninertia * dofs), as the tolerance is compared with it.
    gradient     norm of the gradient, scaled alike; 0 for PGS, which has none.
    """

    def __init__(self, d):
        self.improvement = d.host("stat_improvement").reshape(ISLANDS, ROUNDS)
        self.gradient = d.host("stat_gradient").reshape(ISLANDS, ROUNDS)

    def __repr__(self):
        return f"<SolverStat: improvement and gradient of {ISLANDS} islands, {ROUNDS} rounds>"
