"""The numbers below which MuJoCo's compiler takes something for zero."""

MINVAL = 1e-15  # mjMINVAL: of masses, lengths, denominators
EPS = 1e-14  # mjEPS: of sizes, axes, quaternions
