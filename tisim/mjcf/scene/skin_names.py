"""The names of bodies that the bones of a skin stand for."""


def bodies(item):
    """Full names of the bodies that the bones of a skin name in the model file."""
    return [item.space.name(child.attrib["body"]) for child in item.children]
