"""What is told of a wrong option or argument."""

import re

# an option as it is written by mistake: with one dash, with one that a text program made of two, or as a parameter
MEANT = re.compile(r"(?:-(?!-)|[–—]|(?=[a-z-]+=))([a-z][a-z-]*)")


def told(error, argv, commands):
    """A line on an error of Typer's; "" where help was printed, as without arguments."""
    said = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    of = [a for a in argv if a in commands][:1]  # an option without its value does not tell whose it is
    see = getattr(context, "command_path", " ".join(["tisim", *of]))
    return f"{said}{_meant(error, said, argv, context)}; see `{see} --help`" if said else ""


def _meant(error, said, argv, context):
    """The option that the words which the error is about may stand for."""
    there = [name for p in getattr(getattr(context, "command", None), "params", ()) for name in p.opts]
    short = getattr(error, "option_name", None)
    for word in argv:
        found = MEANT.match(word)
        if found and (word[:2] == short or word in said) and (name := f"--{found[1]}") in there:
            return f" (did you mean {name}?)"
    return ""
