"""Frames of a recording one after the other, for files of other programs."""

from tisim.errors import Error


def frames(recording, show=None):
    """(time since the first one [s], Data) of each frame; the same Data, shown anew.

    show  a function of (frames done, frames), called after each; what it returns is true where that shall be the last.
    Raises Error where nothing reached the disk.
    """
    if not len(recording):
        raise Error(f"{recording.path}: no frame in it reached the disk")
    d = recording.data()
    for k in range(len(recording)):
        recording.show(d, k)
        yield float(recording.time[k] - recording.time[0]), d
        if show is not None and show(k + 1, len(recording)):
            break
