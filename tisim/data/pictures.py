"""Numbers that kernels of pictures share with tisim/viewer."""

BLOCK = 512  # contacts, or records, that one thread goes through
CLASSES = 6  # draws of what a window shows besides geoms: round things, cylinders, boxes; those to be seen through
WORDS = 12  # of a thing that a window draws
MOVED, CAME, PAINTED = 1, 2, 4  # bits of what has changed of things on a page: poses, who is there, colours
