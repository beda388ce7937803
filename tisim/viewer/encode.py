"""Films written picture by picture: nothing of the pictures before the last one stays in memory.

An .mp4 is made by ffmpeg, which gets raw pictures through a pipe. Pillow encodes the pictures of a .webp or .gif, and
the container around them is written here; the file is whole after each picture, also where the program is killed.
Formats: WebP Container Specification (Google), GIF89a (CompuServe).
"""

import io
import pathlib
import shutil
import struct
import subprocess

import numpy as np

from tisim.errors import Error

CRF = 20  # of an .mp4: 0 loses nothing, 51 all
PRESET = "veryfast"  # of an .mp4: a third of the time of ffmpeg's default, a fifth larger
WEBP_QUALITY, WEBP_EFFORT = 80, 2  # of 6; the default, 4, takes more than twice the time for a twentieth of the size
SPARSE = 4  # every so many-th row and column of a picture makes the palette of a .gif
MISSING = "apt-get install -y ffmpeg, or pip install imageio-ffmpeg (the extra `film`)"


def ffmpeg():
    """Path of an ffmpeg: that on PATH, else that of imageio-ffmpeg. Raises Error where there is none."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg

        return imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise Error(f"an .mp4 needs ffmpeg: {MISSING}; or give a name ending in .gif or .webp") from None


def writer(path, size, fps):
    """An object with add(picture (height, width, 3) uint8) and close() that writes a film of this name.

    size  width and height [pixel];  fps  pictures per second. Raises Error for what cannot be written.
    """
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return {".mp4": Mp4, ".gif": Gif, ".webp": WebP}[path.suffix.lower()](path, size, fps)


class Mp4:
    """H.264 in an .mp4, by ffmpeg in a process of its own."""

    def __init__(self, path, size, fps):
        program = ffmpeg()
        path.write_bytes(b"")  # what cannot be written is told now
        self.path, self.said = path, io.BytesIO()
        self.process = subprocess.Popen(
            [program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}",
             "-r", str(fps), "-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", str(CRF),
             "-preset", PRESET, "-movflags", "+faststart", str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip  # a session of its own: Ctrl-C is for us, and the film is finished

    def add(self, picture):
        try:
            self.process.stdin.write(np.ascontiguousarray(picture).data)
        except OSError:
            self._fail()

    def close(self):
        if self.process is None:
            return
        try:
            self.process.stdin.close()
        except OSError:
            pass
        if self.process.wait():
            self._fail()
        self.process.stderr.close()
        self.process = None

    def _fail(self):
        process, self.process = self.process, None
        process.kill()
        words = " ".join(process.stderr.read().decode(errors="replace").split())
        process.wait()
        raise Error(f"{self.path}: ffmpeg stopped: {words[:300] or 'it said nothing'}")


class Gif:
    """Pictures with a palette of their own, shown again and again."""

    def __init__(self, path, size, fps):
        self.file = open(path, "wb")
        self.duration = max(10, 10 * round(100 / fps))  # in hundredths of a second, the format has no finer times
        self.file.write(b"GIF89a" + struct.pack("<HHBBB", *size, 0, 0, 0))
        self.file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00;")

    def add(self, picture):
        from PIL import GifImagePlugin, Image

        some = Image.fromarray(picture[::SPARSE, ::SPARSE]).quantize(255, Image.Quantize.MEDIANCUT)
        image = Image.fromarray(picture).quantize(palette=some, dither=Image.Dither.NONE)
        self.file.seek(-1, io.SEEK_END)  # over the end mark
        for block in GifImagePlugin.getdata(image, duration=self.duration, include_color_table=True):
            self.file.write(block)
        self.file.write(b";")
        self.file.flush()

    def close(self):
        self.file.close()


class WebP:
    """Pictures of which only the rectangle that changed is kept, shown again and again."""

    def __init__(self, path, size, fps):
        self.file, self.size, self.last = open(path, "wb"), size, None
        self.fps, self.number = fps, 0
        self.file.write(b"RIFF\0\0\0\0WEBP")
        animated = 0x02
        self._chunk(b"VP8X", struct.pack("<I", animated) + _three(size[0] - 1) + _three(size[1] - 1))
        self._chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))
        self._end()

    def add(self, picture):
        from PIL import Image

        x0, y0, x1, y1 = self._changed(picture)
        still = io.BytesIO()
        Image.fromarray(picture[y0:y1, x0:x1]).save(still, "WEBP", quality=WEBP_QUALITY, method=WEBP_EFFORT)
        begin, end = (round(1000 * k / self.fps) for k in (self.number, self.number + 1))
        head = b"".join(map(_three, (x0 // 2, y0 // 2, x1 - x0 - 1, y1 - y0 - 1, end - begin)))
        do_not_blend = b"\x02"
        self._chunk(b"ANMF", head + do_not_blend + _image_chunk(still.getvalue()))
        self._end()
        self.last, self.number = picture.copy(), self.number + 1

    def _changed(self, picture):
        """Rectangle, beginning at even places, outside which the last picture still holds: x0, y0, x1, y1."""
        if self.last is None:
            return 0, 0, *self.size
        rows, columns = ((picture != self.last).any(axis=(k, 2)).nonzero()[0] for k in (1, 0))
        if not len(rows):
            return 0, 0, min(2, self.size[0]), min(2, self.size[1])
        return columns[0] // 2 * 2, rows[0] // 2 * 2, columns[-1] + 1, rows[-1] + 1

    def _chunk(self, name, data):
        self.file.write(name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2))

    def _end(self):
        """Writes the length of all, so that the file is whole."""
        length = self.file.tell()
        self.file.seek(4)
        self.file.write(struct.pack("<I", length - 8))
        self.file.seek(length)
        self.file.flush()

    def close(self):
        self.file.close()


def _three(number):
    return struct.pack("<I", number)[:3]


def _image_chunk(still):
    """The chunk of a still .webp that holds its picture, with its head."""
    at = 12
    while at < len(still):
        name, length = still[at : at + 4], struct.unpack("<I", still[at + 4 : at + 8])[0]
        if name in (b"VP8 ", b"VP8L"):
            return still[at : at + 8 + length + length % 2]
        at += 8 + length + length % 2
    raise Error("Pillow wrote a .webp without a picture")
