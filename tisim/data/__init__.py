"""What changes: state, inputs and results of one or many worlds."""
