"""Each kind of element becomes its arrays."""
