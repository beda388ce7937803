"""Bodies without constraints."""
