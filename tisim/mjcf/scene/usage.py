"""Which elements of the world other elements name: what fusestatic and discardvisual must leave alone."""

from tisim.enums import mjtObj

from ..format.references import place, references

# section -> the lists of sections.Lists that hold its elements
LISTS = {
    "contact": ("pair", "exclude"), "equality": ("equality",), "tendon": ("tendon",), "actuator": ("actuator",),
    "sensor": ("sensor",), "custom": ("tuple",), "asset": ("skin",),
}  # fmt: skip


def referenced(items, kind, ids):
    """dict id -> first Item that names it, of the elements of one mjtObj named outside the world body.

    items  sections.Lists;  ids  dict name -> id. A name that means nothing is the referring element's error, not ours.
    """
    found = {}
    for section, names in LISTS.items():
        for item in (item for name in names for item in items[name]):
            tag = item.node.tag
            nodes = [(place(section, tag), item.attrib)]
            nodes += [(place(section, tag, child.tag), child.attrib) for child in item.children]
            for where, attrib in nodes:
                for _, name, what in references(where, attrib):
                    if what == kind:
                        found.setdefault(lookup(item, ids, name, kind), item)
    found.pop(None, None)
    return found


def lookup(item, ids, name, kind):
    """The id that Item.find would find, or None."""
    return ids.get(item.space.name(name) if kind == mjtObj.mjOBJ_BODY else item.space.prefix + name)
