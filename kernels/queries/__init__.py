"""Rays and distances."""
