"""`d.solver`: what the solver told of its rounds, as mujoco's mjData.solver."""

ISLANDS, ROUNDS = 20, 200  # mjNISLAND, mjNSOLVER
FIELDS = ("improvement", "gradient", "lineslope", "nactive", "nchange", "neval", "nupdate")


class SolverStat:
    """Numbers of each round, each of shape (20, 200): the first islands over all worlds, their first rounds.

    Of island k rounds 0 to solver_niter[k] - 1 are told, then those of noslip. PGS and noslip tell of improvement,
    nactive and nchange; the others are 0 there.

    improvement  by which the cost fell, times 1 / (meaninertia * dofs), as the tolerance is compared with it.
    gradient     norm of the gradient, scaled alike.
    lineslope    slope where the line search ended, along a direction of length 1, scaled alike.
    nactive      rows that act; all of a contact with an elliptic cone.
    nchange      rows whose state is another than in the round before.
    neval        evaluations of the derivative in the line search; it is not MuJoCo's.
    nupdate      factors made for the direction: of the Hessian, or of what conjugate gradients are preconditioned by.
                 MuJoCo, which keeps its factor, counts changes of rank one.
    """

    def __init__(self, d):
        for name in FIELDS:
            setattr(self, name, d.host(f"stat_{name}").reshape(ISLANDS, ROUNDS))

    def __repr__(self):
        return f"<SolverStat: {', '.join(FIELDS)} of {ISLANDS} islands, {ROUNDS} rounds>"
