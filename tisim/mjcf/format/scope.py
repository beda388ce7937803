"""What the elements of one file share, and how their names are written in the model they become part of."""

from tisim.errors import Problems

from . import defaults, settings


class Scope:
    """One parsed file: its sections, compiler settings, default classes and files.

    sections  dict tag -> list of Nodes below the root;  compiler  dict (settings.COMPILER);  source  xmltext.Source;
    classes  dict class name -> dict element -> attributes;  models  dict name -> Scope of its `model` assets
    (parse.load_models).
    """

    def __init__(self, root, source):
        self.root, self.source, self.sections, self.models = root, source, {}, {}
        for node in root.children:
            self.sections.setdefault(node.tag, []).append(node)
        problems = Problems()
        with problems:
            self.compiler = settings.read_compiler(self.of("compiler"))
        with problems:
            self.classes = defaults.classes(self.of("default"))
        problems.check()

    def take_models(self, models):
        """Gives it the Scopes of its `model` assets: whether paths are stripped it says for all, as in MuJoCo."""
        self.models = models
        todo, done = [*models.values()], set()  # several may attach the same
        while todo:
            model = todo.pop()
            if id(model) not in done:
                done.add(id(model))
                model.compiler["strippath"] = self.compiler["strippath"]
                todo += model.models.values()

    def of(self, tag):
        """The sections of a tag, in file order."""
        return self.sections.get(tag, [])

    def nodes(self, *tags):
        """The children of the sections of these tags, in file order."""
        return [node for tag in tags for section in self.of(tag) for node in section.children]


class Namespace:
    """What `attach` puts before and `replicate` behind the names of an element of a scope."""

    __slots__ = ("scope", "prefix", "suffix")

    def __init__(self, scope, prefix="", suffix=""):
        self.scope, self.prefix, self.suffix = scope, prefix, suffix

    def name(self, own):
        """A name as the model has it; an element without a name stays without one."""
        return self.prefix + own + self.suffix if own else ""

    def find(self, ids, own):
        """ids[full name] of what `own` means here; None where there is none."""
        return ids.get(self.name(own))
