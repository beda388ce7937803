"""Sensors: one file for each family of types, one kernel for each family and stage."""
