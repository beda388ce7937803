"""Pictures: rays through tiles."""
