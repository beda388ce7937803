"""The exceptions tisim raises. All derive from `Error`, so a caller can catch one class."""

import re


class Error(Exception):
    """Base class of every error that tisim raises on purpose."""


class DivergedWarning(RuntimeWarning):
    """A world has left what can be computed, and is reset unless that is disabled."""


class OverlapWarning(UserWarning):
    """Bodies are inside each other at the start of a simulation."""


class FieldError(Error, AttributeError):
    """A name that is no field; what is near is told."""


class MissingNameError(Error, ImportError):
    """A name of MuJoCo's that was to be imported from tisim and is not there; what to use instead is told."""


class CallError(Error, TypeError):
    """Arguments as MuJoCo's function takes them, which fills an array, and not this one's."""


class IdError(Error, IndexError):
    """An id or index that does not exist."""


class UnknownNameError(Error, KeyError):
    """A name that no element of a model has; near names are told."""

    __str__ = Exception.__str__  # a KeyError's puts quotes around the message


class ValuesError(Error, ValueError):
    """Values that an array cannot take."""


LONG = 100  # characters of a value that a message shows


def brief(value):
    """A value as a message shows it, in one line: in full, or what it is and how long."""
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except Exception:  # a whole number of too many digits, or what cannot be shown
        return f"a {type(value).__name__}"
    if len(text) <= LONG:
        return text
    if hasattr(value, "shape"):
        return f"an array of shape {tuple(value.shape)}"
    if isinstance(value, str):
        return f"{value[: LONG // 2]!r}... ({len(value)} characters)"
    if hasattr(value, "__len__"):
        return f"a {type(value).__name__} of {len(value)}"
    return text[: LONG // 2] + "..."


SHOWN = 20  # so many of a file's errors are written out; the rest is counted
FOUND = 200  # after so many, no more are looked for


class MjcfError(Error):
    """A model file that MuJoCo's grammar or rules forbid.

    file     path of the file, or "<string>";  line, column  1-based, 0 where the place is unknown.
    message  what is wrong and what was expected.  str() reads "file:line:column: message".
    errors   the single errors where several were found: then message and str() list them, and the place is the first's.
    """

    def __init__(self, message, file="<string>", line=0, column=0, errors=()):
        super().__init__(message)
        self.message, self.file, self.line, self.column = message, str(file), int(line), int(column)
        self.errors = list(errors) or [self]

    def __reduce__(self):
        several = [] if self.errors == [self] else self.errors
        return type(self), (self.message, self.file, self.line, self.column, several)

    def __str__(self):
        if self.errors != [self]:
            return self.message
        place = ":".join([self.file, *(str(n) for n in (self.line, self.column) if n)])
        return f"{place}: {self.message}"


def several(errors):
    """One MjcfError for a list of them, in the order of each file; a single one stays as it is."""
    single = {str(e): e for error in errors for e in error.errors}
    files = {e.file: i for i, e in reversed(list(enumerate(single.values())))}
    single = {str(e): e for e in sorted(single.values(), key=lambda e: (files[e.file], e.line, e.column))}
    if len(single) == 1:
        return next(iter(single.values()))
    lines = list(single)[:SHOWN]
    if len(single) > SHOWN:
        lines.append(f"... and {len(single) - SHOWN} more")
    found = list(single.values())
    more = " or more" if len(single) >= FOUND else ""
    message = "\n  ".join([f"{len(single)} errors{more}:", *lines])
    return MjcfError(message, found[0].file, found[0].line, found[0].column, found)


class UnsupportedError(Error):
    """A feature that MuJoCo has and tisim does not.

    feature  the element or attribute, e.g. "flex";  file, line, column  its place where the model came from a file.
    """

    def __init__(self, message, feature="", file="", line=0, column=0):
        super().__init__(message)
        self.message, self.feature, self.file, self.line, self.column = (
            message,
            feature,
            str(file),
            int(line),
            int(column),
        )

    def __reduce__(self):
        return type(self), (self.message, self.feature, self.file, self.line, self.column)

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}: {self.message}" if self.line else self.message


class CapacityError(Error):
    """A limit set by the user (`size`, `max_memory`) was reached; the state is as it was before the call."""


class Problems:
    """Collects the errors of parts that can go on without each other, so that a user sees all of them.

        problems = Problems()
        with problems:      # as often as there are parts; an error ends its own part only
            ...
        problems.check()    # raises what was found; stands before whatever needs the parts

    An UnsupportedError waits until all is checked. After an error a later part may miss what a failed one would have
    made: then whatever it raises is a consequence, and is dropped.
    """

    def __init__(self):
        self.errors, self.refusal = [], None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        before = bool(self.errors or self.refusal)
        if isinstance(error, MjcfError):
            self.errors.append(error)
            if len(self.errors) >= FOUND:
                raise several(self.errors) from None
        elif isinstance(error, UnsupportedError):
            self.refusal = self.refusal or error
        else:
            return before and isinstance(error, Exception)
        return True

    def check(self):
        """Raises one MjcfError of everything that was found, else the first UnsupportedError, if any."""
        if self.errors:
            raise several(self.errors) from None
        if self.refusal is not None:
            raise self.refusal


def each(work, items):
    """[work(item) for item in items]; raises the errors of all items together."""
    out, problems = [], Problems()
    for item in items:
        with problems:
            out.append(work(item))
    problems.check()
    return out
