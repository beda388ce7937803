"""MJCF text -> a checked tree: every name known to the grammar, every attribute converted to its type."""

import os

from tisim.errors import FOUND, Error, MjcfError, several

from .grammar import GRAMMAR, REFUSED_ATTRIBUTES
from .names import nearest
from .scope import Scope
from .urdf import to_mjcf
from .write import FILES
from .xmltext import Source, parse_xml, resolve_includes

# models attached to models attached to ...: more come from a mistake
MAX_MODELS = 50


def parse_file(path):
    """Scope of an MJCF file. Raises MjcfError or UnsupportedError, each with its place."""
    path = os.fspath(path)
    source = Source(os.path.dirname(path))
    try:
        data = source.read(os.path.basename(path))
    except (OSError, ValueError) as e:
        if os.fsdecode(path).lstrip()[:1] == "<":
            what = "this is a text, not the name of a file"
            raise Error(f"{what}; from_xml_string, or from_string of a Spec, reads it") from None
        raise MjcfError(f"cannot read the file: {getattr(e, 'strerror', None) or e}", path) from None
    scope = _checked(parse_xml(data, path), source, os.path.basename(path))
    load_models(scope, (os.path.normpath(path),))
    return scope


def parse_string(text, assets=None):
    """The same for a text; `assets` maps names of included files to their contents (str or bytes)."""
    scope = _checked(parse_xml(text), Source(assets=assets), "")
    load_models(scope)
    return scope


def load_models(scope, opened=(), loaded=None):
    """Reads the files of a scope's `model` assets into scope.models, and those of their own models.

    A file name is relative to the folder of the file that names it, whatever the compiler's folders are, as in MuJoCo.
    opened  paths of the files that lead here;  loaded  dict path -> Scope of the files read before.
    """
    loaded, models = {} if loaded is None else loaded, {}
    for node in scope.nodes("asset"):
        if node.tag == "model":
            child = _load_model(node, scope.source, opened, loaded)
            name = node.attrib.get("name") or child.root.attrib.get("model", "MuJoCo Model")
            models.setdefault(name, child)
    scope.take_models(models)


def _load_model(node, source, opened, loaded):
    """Scope of a `model` asset."""
    name = source.spelt(node.attrib["file"])
    path = os.path.normpath(source.path(name))
    if path in opened:
        raise node.error(f"a model cannot attach itself: '{name}' is being read")
    if len(opened) > MAX_MODELS:
        raise node.error(f"models are attached to models more than {MAX_MODELS} times in a row")
    if path not in loaded:
        try:
            data = source.read(name)
        except (OSError, ValueError) as e:
            raise node.error(f"cannot read the model file '{name}': {getattr(e, 'strerror', None) or e}") from None
        inner = Source(os.path.dirname(source.path(name)), source.assets)
        child = _checked(parse_xml(data, path), inner, os.path.basename(path))
        load_models(child, (*opened, path), loaded)
        loaded[path] = child
    return loaded[path]


def _checked(root, source, main):
    if root.tag == "robot":
        root = to_mjcf(root)
    elif root.tag == "mujoco":
        resolve_includes(root, source, main)
    else:
        raise root.error(f"the root of a model file is <mujoco> (MJCF) or <robot> (URDF), found <{root.tag}>")
    refusal = check(root)
    if refusal is not None:
        raise refusal
    scope = Scope(root, source)
    _look_beside(scope)
    return scope


def _look_beside(scope):
    """Gives assets of included files the names of files in those files' folders, where they are found only there.

    As in MuJoCo the compiler's folder comes first, for a `model` the included file's.
    """
    source = scope.source
    for node in scope.nodes("asset", "deformable"):
        if node.file == scope.root.file:
            continue
        setting, names = FILES.get(node.tag, (None, ()))
        folder = (scope.compiler[setting] if setting else "") or "."
        for name in names:
            file = node.attrib.get(name, "").replace("\\", "/")
            first = bool(setting) and source.exists(os.path.join(folder, file))
            if file and not first and source.exists(beside := source.beside(node, file)):
                on_disk = beside not in source.assets
                node.attrib[name] = os.path.abspath(source.path(beside)) if on_disk else os.path.relpath(beside, folder)


# what MuJoCo accepts at the top of a file, where it has no effect
OUTSIDE = ("body", "frame", "replicate")


def check(root):
    """Checks a tree against the grammar and replaces attribute texts by typed values, in place.

    Returns None, or the UnsupportedError of the first feature outside the scope: the whole file is checked before
    the caller raises it. Raises one MjcfError that holds every place where the grammar is broken.
    """
    refusal, errors = None, []
    todo = [(root, GRAMMAR, False)]
    while todo and len(errors) < FOUND:
        node, element, refused = todo.pop()
        found = f"attribute '{name}'" if (name := _convert(node, element, errors)) else ""
        if element.refused and not refused:
            refused, found = True, f"element '{node.tag}'"
        if found and refusal is None:
            feature = node.tag if element.refused else name
            message = f"{found} is not supported" if element.refused else f"{found} of '{node.tag}' is not supported"
            refusal = node.unsupported(message, feature)
        children, once, inner = element.children, set(), []
        for child in node.children:
            if len(errors) >= FOUND:
                break
            known = children.get(child.tag)
            if known is None and element is GRAMMAR and child.tag in OUTSIDE:
                known = GRAMMAR.children["worldbody"].children[child.tag]
                message = f"'{child.tag}' outside worldbody, which MuJoCo leaves out in silence; put it into worldbody"
                refusal = refusal or child.unsupported(message, child.tag)
            if known is None:
                message = f"'{node.tag}' has no child element '{child.tag}'{nearest(child.tag, children)}"
                errors.append(child.error(message))
                continue
            if known.once and child.tag in once:
                errors.append(child.error(f"element '{child.tag}' may stand only once in '{node.tag}'"))
            once.add(child.tag)
            inner.append((child, known, refused))
        todo.extend(reversed(inner))
    if errors:
        raise several(errors)
    return refusal


def _convert(node, element, errors):
    """Converts the attributes of a node; the name of the first one that is not supported, or None."""
    known, values, refused = element.attributes, {}, None
    for name, text in node.attrib.items():
        if len(errors) >= FOUND:
            break
        attribute = known.get(name)
        if attribute is None:
            errors.append(node.error(f"'{node.tag}' has no attribute '{name}'{nearest(name, known)}"))
            continue
        if attribute.numeric and not text.strip():
            continue
        try:
            values[name] = value = attribute.convert(text)
        except ValueError as e:
            errors.append(node.error(f"attribute '{name}' of '{node.tag}': {e}"))
            continue
        harmless = REFUSED_ATTRIBUTES.get((node.tag, name))
        if harmless is not None and value not in harmless:
            refused = refused or name
    if isinstance(values.get("quat"), list) and not any(values["quat"]):
        errors.append(node.error(f"attribute 'quat' of '{node.tag}': a quaternion of zeros is no rotation"))
    for name in element.required:
        # a wrong value was told already; an empty one counts as missing
        if name not in values and not node.attrib.get(name, "").strip():
            errors.append(node.error(f"'{node.tag}' needs the attribute '{name}'"))
    node.attrib = values
    return refused
