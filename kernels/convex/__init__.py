"""Distance and depth of two convex shapes."""
