"""Sweeps: one simulation for each of many cases, on one process, all processors or a Ray cluster."""
