"""Newton's method on islands, by what one thread or all threads do."""
