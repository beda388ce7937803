"""Actuators: transmissions, activations, forces."""
