"""Questions that no step needs."""
