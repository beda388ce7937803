"""Trees become flat lists of elements."""
