"""The exceptions tisim raises. All derive from `Error`, so a caller can catch one class."""


class Error(Exception):
    """Base class of every error that tisim raises on purpose."""


class MjcfError(Error):
    """A model file that MuJoCo's grammar or rules forbid.

    file     path of the file, or "<string>";  line, column  1-based, 0 where the place is unknown.
    message  what is wrong and what was expected.  str() reads "file:line:column: message".
    """

    def __init__(self, message, file="<string>", line=0, column=0):
        super().__init__(message)
        self.message, self.file, self.line, self.column = message, str(file), int(line), int(column)

    def __reduce__(self):
        return type(self), (self.message, self.file, self.line, self.column)

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}"


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
