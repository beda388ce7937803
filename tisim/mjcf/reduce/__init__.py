"""What is taken out of a model again."""
