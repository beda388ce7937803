"""Scratch that is kept only while a part of a step is at work, on one piece of memory: what the search for pairs, the
colliders and the solver need in turn. On a GPU each array has memory of its own."""

import numpy as np

from tisim.device import memory, session

# by parts of a step of which two are never at work at once: each writes what it reads of these, and no other reads it
STAGES = dict(
    search="entry_lo entry_hi entry_strip entry_row mid_item1 mid_item2 sort_key sort_value sweep_found cand_geom1 "
    "cand_geom2 cand_listed",
    colliders="con_slot cpair_adr",
    solver="body_hess dof_wrench tree_hess node_link island_dense sol_Ma sol_p sol_Mp sol_r sol_z sol_q sol_Hq "
    "con_hess con_hess_mix con_hess_rot con_Jp",
)  # fmt: skip
STAGE_OF = {name: stage for stage, names in STAGES.items() for name in names.split()}
LINE = 64  # bytes on which an array begins


class Part(memory.HostArray):
    """An array in an Overlay, from the byte `begin` on; its values are those that were there."""

    def __init__(self, overlay, dtype, count, begin):
        self.dtype, kind = session.type_name(dtype), np.dtype(session.numpy_type(dtype))
        self._overlay, self._numpy, self.begin, self.end = overlay, kind, begin, begin + count * kind.itemsize

    @property
    def host(self):
        """All its numbers, where they are now: arrays that are made may move the others."""
        return self._overlay.memory()[self.begin : self.end].view(self._numpy)

    @host.setter
    def host(self, value):
        if value is not None:
            raise AttributeError("a part of an overlay lies where it lies")


class Overlay:
    """Arrays of STAGES on one piece of memory, those of one stage side by side, those of two one over the other."""

    def __init__(self):
        self._parts = {}
        self._memory = np.empty(0, np.uint8)

    def takes(self, name):
        """Whether an array lies here."""
        return session.arch == "cpu" and name in STAGE_OF

    def make(self, name, dtype, count, width):
        """The Part of so many numbers, in elements of `width`, behind the others of its stage."""
        count = width * max(1, -(-count // width))
        same = [part.end for other, part in self._parts.items() if STAGE_OF[other] == STAGE_OF[name]]
        begin = -(-max(same, default=0) // LINE) * LINE
        part = self._parts[name] = Part(self, dtype, count, begin)
        part.shape, part.length, part.numbers = (count // width,), count, count
        return part

    def drop(self, name):
        """Lets go of all arrays of this one's stage, so that no gap is left; returns their names."""
        names = [other for other in self._parts if STAGE_OF[other] == STAGE_OF[name]]
        for other in names:
            del self._parts[other]
        return names

    def memory(self):
        """The bytes, as many as the longest stage needs; made anew, and the old copied, if there were fewer or more."""
        if (size := self._size()) != self._memory.size:
            both, old = min(size, self._memory.size), self._memory
            self._memory = np.zeros(size, np.uint8)
            self._memory[:both] = old[:both]
        return self._memory

    def _size(self):
        return max((part.end for part in self._parts.values()), default=0)

    def shares(self):
        """{name: bytes}: what each array takes of the memory if all divide it by their lengths; the sum is exact."""
        total, all_of = self._size(), sum(part.end - part.begin for part in self._parts.values())
        ends = np.cumsum([part.end - part.begin for part in self._parts.values()], dtype=object)
        ends = [int(end) * total // all_of for end in ends]
        return {name: end - begin for name, begin, end in zip(self._parts, [0, *ends], ends)}
