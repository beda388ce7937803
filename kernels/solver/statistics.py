"""What solvers tell of each round: mjData's `solver`, for the first islands and rounds."""

from ..types import func

ISLANDS = 20  # mjNISLAND
ROUNDS = 200  # mjNSOLVER


@func
def tell_round(m, d, k, n, improvement, gradient):
    """Scaled improvement and gradient of round n on island k."""
    if k < ISLANDS and n >= 0 and n < ROUNDS:
        d.stat_improvement[k * ROUNDS + n] = improvement
        d.stat_gradient[k * ROUNDS + n] = gradient
