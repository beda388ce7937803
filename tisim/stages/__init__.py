"""Which kernels make each stage, when loops run in parallel, when lists grow."""
