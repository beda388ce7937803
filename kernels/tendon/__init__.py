"""Lengths, Jacobians and forces of tendons."""
