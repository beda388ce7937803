"""Recordings of simulations: written while they run, readable whatever happened to them."""
