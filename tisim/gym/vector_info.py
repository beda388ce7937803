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
        array = old.astype(np.result_type(old.dtype, value.dtype))  # a copy: whole numbers of steps, others of resets
        mask = np.array(out[f"_{name}"]) if name in out else np.zeros(n, bool)
        array[index], mask[index] = value, True
        out[name], out[f"_{name}"] = array, mask
    return out
