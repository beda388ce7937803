"""The random numbers of MuJoCo's textures: the 64-bit Mersenne Twister with seed 42, which NumPy does not have."""

import functools

import numpy as np

N, M = 312, 156
_HIGH, _LOW, _TWIST = np.uint64(0xFFFFFFFF80000000), np.uint64(0x7FFFFFFF), np.uint64(0xB5026F5AA96619E9)


def _changed(mixed):
    return (mixed >> np.uint64(1)) ^ np.where(mixed & np.uint64(1), _TWIST, np.uint64(0))


@functools.lru_cache(maxsize=1)
def uniform(count, seed=42):
    """(count,) random numbers from 0 to 1. Nishimura 2000, "Tables of 64-bit Mersenne twisters"."""
    state = np.zeros(N, np.uint64)
    value = seed
    for i in range(N):
        state[i] = value
        value = (6364136223846793005 * (value ^ (value >> 62)) + i + 1) & (2**64 - 1)
    blocks = []
    for _ in range(-(-count // N)):
        mixed = (state & _HIGH) | (np.roll(state, -1) & _LOW)
        state[:M] = state[M:] ^ _changed(mixed[:M])
        # from here on the new words are needed, and at the end the first of them
        mixed[-1] = (mixed[-1] & _HIGH) | (state[0] & _LOW)
        state[M:] = state[:M] ^ _changed(mixed[M:])
        blocks.append(state.copy())
    x = np.concatenate(blocks)[:count] if blocks else np.zeros(0, np.uint64)
    x ^= (x >> np.uint64(29)) & np.uint64(0x5555555555555555)
    x ^= (x << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
    x ^= (x << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
    x ^= x >> np.uint64(43)
    return x.astype(float) / 2.0**64
