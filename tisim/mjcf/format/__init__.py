"""What may stand in a file: text, grammar, defaults."""
