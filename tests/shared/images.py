"""PNG files, whole and broken."""

import struct
import zlib


def chunk(kind, data):
    """One chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, rows=b"", bits=8, color=2, chunks=b"", end=True, packed=None):
    """A PNG file with a header that says anything.

    rows  its pixels;  packed  instead of them, what should be their compressed form;  chunks  what stands before them.
    """
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0)
    data = zlib.compress(rows, 9) if packed is None else packed
    parts = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks + chunk(b"IDAT", data)
    return parts + (chunk(b"IEND", b"") if end else b"")
