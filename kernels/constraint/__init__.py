"""Rows, cones, islands."""
