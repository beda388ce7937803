"""What reading an .npz raises where it is damaged, cut off or none: by zipfile, zlib and NumPy."""

import zipfile
import zlib

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, IndexError, TypeError, RuntimeError)
