"""The elements outside the tree that `replicate` and `attach` copy, because they refer to what is copied.

The rules are those of MuJoCo's mjCModel and of the reference resolution of each element (Apache-2.0). An element is
copied where its references exist with the prefix and suffix of the copy. All of them must, in equalities, actuators
and tuples; at least one must in pairs, excludes, tendons (where a geom counts with its side site) and sensors of two
objects, and the others stay what they are. When a replicate has made its copies, the elements that refer to the
template are dropped. An element that this loses, since no copy was made of it, is refused here.

A sensor without an object (clock, energies, user, contact) is copied with every copy, so its number doubles, as in
MuJoCo. Where that would make more than MAX_DOUBLED, and soon fill any memory, it stays a single one: a deviation.
"""

from tisim.enums import mjtObj
from tisim.errors import several

from ..format.limits import MAX_CHARACTERS, MAX_ELEMENTS
from ..format.references import OBJTYPE, place, references
from ..format.scope import Namespace
from ..format.xmltext import Node
from . import skin_names
from .items import Item
from .world import LEAVES

# lists in MuJoCo's order of copying -> the section of their elements
SECTIONS = {
    "pair": "contact", "exclude": "contact", "tendon": "tendon", "equality": "equality", "actuator": "actuator",
    "sensor": "sensor", "tuple": "custom",
}  # fmt: skip
# what an attached model brings along, used or not
ASSETS = ("mesh", "hfield", "texture", "material", "numeric", "text")
STRICT = ("equality", "actuator", "tuple")
FREE = ("clock", "e_potential", "e_kinetic", "user", "contact")
MAX_DOUBLED = 10_000
BARE = "wraps a geom without a 'sidesite' and is copied"
MIXED = "refers to the inside and the outside of a replicate"
OF = {"bodies": "body", **{name: tag for tag, name in LEAVES.items()}}
TREE = {"bodies": mjtObj.mjOBJ_BODY, **{name: OBJTYPE[tag] for tag, name in LEAVES.items()}}


class Names:
    """The names that exist while a model is read, as (mjtObj, name), with the number of elements that have them."""

    def __init__(self):
        self.count, self.tails = {}, {}

    def has(self, name):
        return name in self.count

    def add(self, kind, name):
        key = kind, name
        self.count[key] = self.count.get(key, 0) + 1
        for length, tails in self.tails.items():
            tails.setdefault(name[-length:], {})[key] = None

    def remove(self, kind, name):
        """Takes one away; whether it was the last of that name."""
        key = kind, name
        self.count[key] -= 1
        if self.count[key]:
            return False
        del self.count[key]
        for length, tails in self.tails.items():
            del tails[name[-length:]][key]
        return True

    def ending(self, suffix):
        """List of the (mjtObj, name) that end with a suffix."""
        if len(suffix) not in self.tails:
            tails = self.tails[len(suffix)] = {}
            for key in self.count:
                tails.setdefault(key[1][-len(suffix) :], {})[key] = None
        return list(self.tails[len(suffix)].get(suffix, ()))


class Entry:
    """One element: the Item it is or was copied from, its name, its references [(mjtObj, name)] and their places.

    where  list of (index of a child or None, attribute), one for each reference;  number  grows in the order of the
    list;  state  as in items.Item.
    """

    __slots__ = ("item", "name", "refs", "where", "number", "state")

    def __init__(self, item, name, refs, where, number):
        self.item, self.name, self.refs, self.where, self.number = item, name, refs, where, number
        self.state = None


class Clones:
    """The lists of one model while its tree is read; `copies` is the number of copies its replicates will make."""

    def __init__(self, lists, world, copies):
        self.lists, self.world, self.copies, self.doubling = lists, world, copies, True
        self.names, self.seen, self.bodies = Names(), dict.fromkeys(TREE, 0), {}
        self.entries = {section: {} for section in SECTIONS}
        self.by_name = {section: {} for section in SECTIONS}
        self.number, self.characters, self.cloned, self.free = 0, 0, set(), {}
        self.started = self.finished = False

    def sync(self, read=True):
        """Notes the names that are new in the tree, and at first those of the lists.

        read  whether the new elements were read: then their names must be new, even those of a template.
        """
        if not self.started:
            self.started = True
            for tag in (*ASSETS, "skin", "key"):
                for item in self.lists[tag]:
                    if item.name:
                        self.names.add(OBJTYPE[tag], item.name)
            for section in SECTIONS:
                for item in self.lists[section]:
                    self._add(section, item, item.name, *_find_references(section, item))
        if self.finished:  # a part that is attached: its tree is sorted by now, and its names are not asked for
            return
        errors = []
        for kind, objtype in TREE.items():
            items = getattr(self.world, kind)
            for item in items[self.seen[kind] :]:
                if item.name:
                    if read and self.names.has((objtype, item.name)):
                        message = f"the name '{item.name}' is already used by another {OF[kind]}"
                        errors.append(item.node.error(message))
                    self.names.add(objtype, item.name)
                    if kind == "bodies":
                        self.bodies[item.name] = item
            self.seen[kind] = len(items)
        if errors:
            raise several(errors)

    def _add(self, section, item, name, refs, where):
        entry = Entry(item, name, refs, where, self.number)
        self.number += 1
        self.characters += sum(len(text) for _, text in refs) + len(name)
        if self.characters > MAX_CHARACTERS:
            raise item.node.error(f"the names in the copies of '{item.node.tag}' are too long in all")
        if self.number > MAX_ELEMENTS:
            raise item.node.error(f"the copies of '{item.node.tag}' make more than {MAX_ELEMENTS:,} elements")
        self.entries[section][entry.number] = entry
        for ref in refs:
            self.by_name[section].setdefault(ref, {})[entry.number] = entry
        if not refs and item.node.tag in FREE and section == "sensor":
            self.free[entry.number] = entry
        if name:
            self.names.add(OBJTYPE[section], name)
        return entry

    def _copy(self, section, entry, prefix, suffix):
        """Adds the copy of an entry; None where its references say that there is none."""
        refs = self._renamed(section, entry, prefix, suffix)
        if refs is None:
            return None
        name = prefix + entry.name + suffix if entry.name else ""
        if name and self.names.has((OBJTYPE[section], name)):
            raise entry.item.node.error(f"a copy of this element has the name '{name}' of another {section}")
        new = self._add(section, entry.item, name, refs, entry.where)
        new.state, entry.state = entry.state, None
        return new

    def _renamed(self, section, entry, prefix, suffix):
        """The references of a copy, or None."""
        has, new = self.names.has, [(kind, prefix + name + suffix) for kind, name in entry.refs]
        inside = [has(ref) for ref in new]
        if section == "tendon":
            inside = _whole_wraps(entry, inside, prefix + suffix)
        if all(inside):
            return new if new or entry.item.node.tag in FREE else None
        if section in STRICT or not any(inside):
            return None
        refs = [a if here else b for a, b, here in zip(new, entry.refs, inside)]
        return refs if all(map(has, refs)) else None

    def body(self, name):
        """The body of a name, or None."""
        self.sync()
        return self.bodies.get(name)

    def begin(self, start):
        """Before the copies of a replicate: notes the names of the template, which stands in the world from `start`."""
        self.sync()
        self.cloned, self.first = set(), self.number
        self.template = [
            (objtype, item.name) for kind, objtype in TREE.items() for item in getattr(self.world, kind)[start[kind] :]
            if item.name
        ]  # fmt: skip
        for body in self.world.bodies[start["bodies"] :]:
            self.bodies.pop(body.name, None)
        self.seen = dict(start)

    def copy(self, suffix, node, left):
        """After a copy of the template was added: copies what refers to it. `left` copies are still to come."""
        self.sync(read=False)
        self.doubling = self.doubling and len(self.free) <= MAX_DOUBLED >> min(self.copies, 60)
        first, touched, cut = self.number, self.names.ending(suffix), len(suffix)
        for section in SECTIONS:
            entries, by_name = {}, self.by_name[section]
            for kind, name in touched:
                entries.update(by_name.get((kind, name[:-cut]), {}))
            if section == "sensor" and self.doubling:
                entries.update(self.free)
            for number in sorted(entries):
                if number < first and (new := self._copy(section, entries[number], "", suffix)):
                    self.cloned.add(number)
                    if new.name:
                        touched.append((OBJTYPE[section], new.name))
        self.copies -= 1
        if self.number + (self.number - first) * left > MAX_ELEMENTS:
            raise node.error(f"copying what refers to this replicate makes more than {MAX_ELEMENTS:,} elements")

    def end(self, count):
        """After the copies of a replicate: drops what refers to its template."""
        gone = {key: None for key in self.template if self.names.remove(*key)}
        for section in SECTIONS:
            if section == "tuple":  # MuJoCo keeps it and cannot compile it
                continue
            entries, by_name = {}, self.by_name[section]
            for key in gone:
                entries.update(by_name.get(key, {}))
            for number in sorted(entries):
                entry = entries[number]
                if not all(ref in gone or self.names.has(ref) for ref in entry.refs):
                    continue
                bare = any(map(_bare, entry.item.node.children))
                if count and number not in self.cloned and (bare or number < self.first):
                    raise _lost(entry, BARE if bare else MIXED)
                del self.entries[section][number]
                for ref in entry.refs:
                    by_name[ref].pop(number, None)
                key = OBJTYPE[section], entry.name
                if entry.name and self.names.remove(*key):
                    gone[key] = None

    def attach(self, model, prefix, node):
        """After a part of another model (expand.Expanded) was added: copies its assets and what refers to the part."""
        self.sync(read=False)
        for tag in ASSETS:
            for item in model.lists[tag]:
                space = Namespace(item.space.scope, prefix + item.space.prefix, item.space.suffix)
                new = item.copy(space, 0, None, prefix, "")
                new.attrib = dict(item.attrib)
                key = OBJTYPE[tag], new.name
                if new.name and self.names.has(key):
                    raise node.error(f"the name '{new.name}' of an attached {tag} is already used: use another prefix")
                if new.name:
                    self.names.add(*key)
                self.lists.setdefault(tag, []).append(new)
        for item in model.lists["skin"]:
            self._attach_skin(item, prefix, node)
        for section in SECTIONS:
            for entry in list(model.clones.entries[section].values()):
                if self._copy(section, entry, prefix, "") is None and section == "tendon":
                    bare = [ref for (i, _), ref in zip(entry.where, entry.refs) if _bare(entry.item.node.children[i])]
                    if any(self.names.has((kind, prefix + name)) for kind, name in bare):
                        raise _lost(entry, BARE)

    def _attach_skin(self, item, prefix, node):
        """Copies a skin whose bones all came along; MuJoCo puts the prefix before their names only."""
        if all(self.names.has((mjtObj.mjOBJ_BODY, prefix + name)) for name in skin_names.bodies(item)):
            new = item.copy(Namespace(item.space.scope, prefix + item.space.prefix, item.space.suffix), 0, None, "", "")
            key = mjtObj.mjOBJ_SKIN, new.name
            if new.name and self.names.has(key):
                raise node.error(f"the name '{new.name}' of an attached skin is already used: leave it without a name")
            if new.name:
                self.names.add(*key)
            self.lists.setdefault("skin", []).append(new)

    def finish(self):
        """Writes the entries back to the lists, as Items that name what they refer to in full."""
        self.finished = True
        if not self.started:
            return
        for section, entries in self.entries.items():
            self.lists[section] = [_item(entry) for entry in entries.values()]


def _find_references(section, item):
    """(references, their places) of an item, as Entry has them."""
    refs, where, tag = [], [], item.node.tag
    for name, value, kind in references(place(SECTIONS[section], tag), item.attrib):
        if section != "tendon":  # MuJoCo leaves the material of a tendon as it is, even an attached one's
            refs.append((kind, value))
            where.append((None, name))
    for i, child in enumerate(item.node.children):
        for name, value, kind in references(f"{SECTIONS[section]}/{tag}/{child.tag}", child.attrib):
            refs.append((kind, value))
            where.append((i, name))
    return refs, where


def _whole_wraps(entry, inside, renamed):
    """`inside` for the path of a tendon: a geom and its side site together, and never a geom without one."""
    wraps, children = {}, entry.item.node.children
    for (i, _), here in zip(entry.where, inside):
        wraps[i] = wraps.get(i, True) and here and not (renamed and _bare(children[i]))
    return [wraps[i] for i, _ in entry.where]


def _bare(child):
    return child.tag == "geom" and not child.attrib.get("sidesite")


def _lost(entry, why):
    node = entry.item.node
    message = f"'{node.tag}' {entry.name!r} {why}: MuJoCo drops it without a word; give each copy an element of its own"
    return node.unsupported(message, node.tag)


def _item(entry):
    """The Item of an entry."""
    old = entry.item
    changed = {where: name for where, ref, (_, name) in zip(entry.where, _names(entry), entry.refs) if ref != name}
    if not changed and entry.name == old.name:
        return old
    new = Item(dict(old.attrib), old.node, Namespace(old.space.scope))
    new.name, new.copied = entry.name, old.copied
    for (i, attribute), name in changed.items():
        if i is None:
            new.attrib[attribute] = name
            continue
        if new.copied is old.copied:
            new.copied = list(old.children)
        child = new.copied[i]
        if child is old.children[i]:
            child = new.copied[i] = Node(child.tag, dict(child.attrib), child.file, child.line, child.column)
        child.attrib[attribute] = name
    return new


def _names(entry):
    """What the references of the original element are."""
    old = entry.item
    return [old.attrib[name] if i is None else old.children[i].attrib[name] for i, name in entry.where]
