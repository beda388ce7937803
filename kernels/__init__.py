"""Taichi kernels, one file per stage; imported by tisim.runtime once Taichi runs (never before)."""
