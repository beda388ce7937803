"""The ids of elements by the names that others refer to them with."""

from tisim.enums import mjtObj


class Names:
    """The ids of named objects, by kind."""

    def __init__(self, names):
        self.names, self.ids = names, {}

    def of(self, kind):
        """dict name -> id of the objects of an mjtObj."""
        kind = mjtObj.mjOBJ_BODY if kind == mjtObj.mjOBJ_XBODY else mjtObj(kind)
        if kind not in self.ids:
            self.ids[kind] = {name: i for i, name in enumerate(self.names.get(kind, ())) if name}
        return self.ids[kind]
