"""The arrays of a Data and its Model in groups, for whoever asks where the memory goes."""

from .arrays import DATA

GROUPS = (
    "model", "state", "smooth dynamics", "pairs", "contacts", "rows", "solver", "rays", "pictures", "other",
)  # fmt: skip
# by the stage that writes an array, where nothing else tells its group; other stages are those of smooth dynamics
STAGES = dict(collision="pairs", rows="rows", constraint="rows", island="solver", solver="solver", lcp="solver",
              rays="rays", pictures="pictures", all="other", check="other")  # fmt: skip


def group_of(array):
    """The group of a declared array of a Data."""
    if array.role in ("state", "input"):
        return "state"
    if array.name.startswith(("contact_", "body_con")):
        return "contacts"
    if array.shape[0] == "nconmax" and array.stage == "constraint":
        return "contacts"
    return STAGES.get(array.stage, "smooth dynamics")


def memory(m, d):
    """{group: (bytes, number of arrays)} of all device arrays that were made so far, in the order of GROUPS."""
    found = {group: [0, 0] for group in GROUPS}
    of = {name: ("model", size) for name, size in m.memory().items()}
    of |= {name: (group_of(DATA[name]), size) for name, size in d.memory().items()}
    for group, size in of.values():
        found[group][0] += size
        found[group][1] += 1
    return {group: tuple(values) for group, values in found.items() if values[1]}
