"""Which dofs move a body."""

import numpy as np


def last_dof(m, body):
    """Last dof that moves each of these bodies, -1 if none does; the others are its ancestors."""
    weld = np.asarray(m.body_weldid)[body]
    number = np.asarray(m.body_dofnum)[weld]
    return np.where(number > 0, np.asarray(m.body_dofadr)[weld] + number - 1, -1)


def chains(m, body):
    """(index, dof): the dofs that move each body of a list, as pairs of a place in the list and a dof."""
    at, dof = np.arange(len(body)), last_dof(m, body)
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    while len(at := at[dof >= 0]):
        dof = dof[dof >= 0]
        found.append((at, dof))
        dof = np.asarray(m.dof_parentid)[dof]
    return tuple(np.concatenate(column).astype(np.int64) for column in zip(*found))
