"""Infos of vector environments: an array for each key, and under _key for which environments it holds."""

import numpy as np


def join(infos, values, index, n):
    """Infos with the values of some environments.

    infos  as returned before, or {};  values  dict of (len(index), ...);  index  of these among n environments.
    """
    out = dict(infos)
    for name, value in values.items():
        value = np.asarray(value)
        old = np.asarray(out.get(name, np.zeros((n, *value.shape[1:]), value.dtype)))
        array = old.astype(_both(old.dtype, value.dtype))  # a copy
        mask = np.array(out[f"_{name}"]) if name in out else np.zeros(n, bool)
        array[index], mask[index] = value, True
        out[name], out[f"_{name}"] = array, mask
    return out


def _both(a, b):
    """dtype of what an info has in steps and in resets: whole numbers and others are numbers, words and numbers are
    objects, of which each stays what it is."""
    words = [kind.kind in "US" for kind in (a, b)]
    return np.dtype(object) if words[0] != words[1] else np.result_type(a, b)
