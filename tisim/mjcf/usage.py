"""Which elements of the world other elements name: what fusestatic and discardvisual must leave alone."""

from .references import place, references

# section -> the lists of sections.Lists that hold its elements
LISTS = {
    "contact": ("pair", "exclude"), "equality": ("equality",), "tendon": ("tendon",), "actuator": ("actuator",),
    "sensor": ("sensor",), "custom": ("tuple",),
}  # fmt: skip


def referenced(items, kind, ids):
    """Set of the ids of one mjtObj that elements outside the world body name.

    items  sections.Lists;  ids  dict name -> id. A name that means nothing is the referring element's error, not ours.
    """
    found = set()
    for section, names in LISTS.items():
        for item in (item for name in names for item in items[name]):
            tag = item.node.tag
            nodes = [(place(section, tag), item.attrib)]
            nodes += [(place(section, tag, child.tag), child.attrib) for child in item.children]
            for where, attrib in nodes:
                for _, name, what in references(where, attrib):
                    if what == kind:
                        found.add(item.space.find(ids, name))
    return found - {None}
