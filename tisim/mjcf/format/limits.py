"""Bounds against mistyped or hostile files."""

# More elements than this come from a mistyped or hostile `replicate`, and would not fit in memory.
MAX_ELEMENTS = 4_000_000
# in what `replicate` and `attach` put before and behind names, in all copies together
MAX_CHARACTERS = 200_000_000
# in all user data of one kind, or in all keyframes
MAX_NUMBERS = 30_000_000
