"""Films written picture by picture: nothing of the pictures before the last one stays in memory.

An .mp4 is made by ffmpeg, which gets raw pictures through a pipe. Pillow encodes the pictures of a .webp or .gif, and
the container around them is written here; the file is whole after each picture, also where the program is killed.
Formats: WebP Container Specification (Google), GIF89a (CompuServe).
"""

import io
import pathlib
import queue
import shutil
import struct
import subprocess
import sys
import threading
import time

import numpy as np

from tisim.errors import Error

CRF = 20  # of an .mp4: 0 loses nothing, 51 all
PRESET = "veryfast"  # of an .mp4: a third of the time of ffmpeg's default, a fifth larger
WEBP_QUALITY = 78
WEBP_EFFORT = 0  # of 6; 1 takes a quarter longer for nine tenths of the size, 2 three quarters for three quarters
SPARSE = 4  # every so many-th row and column of a picture makes the palette of a .gif
WORSE, FARTHER = 1.25, 16  # a palette serves while the mean error grows by this factor at most, the largest by so much
SWITCH = 1e-4  # how long such a thread waits at most until Python lets it go on, where no kernel runs [s]
WAITING = 8  # pictures at most that wait for an encoder in a thread
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


class Beside:
    """A writer whose pictures are encoded in a thread, while the next ones are drawn.

    A few pictures may wait for it; add() then waits, too. What goes wrong there is raised by the next add() or close().
    A launch keeps Python's lock: with its usual 5 ms between two looks at who waits, the encoder would be late.
    seconds  processor time that encoding took.
    """

    _open, _interval = 0, None  # of all: how many are open, Python's interval before

    def __init__(self, writer):
        self._writer, self._error, self.seconds = writer, None, 0.0
        self._broken = False  # nothing is encoded behind an error
        self._pictures = queue.Queue(WAITING)
        if not Beside._open:
            Beside._interval = sys.getswitchinterval()
            sys.setswitchinterval(min(SWITCH, Beside._interval))
        Beside._open += 1
        self._thread = threading.Thread(target=self._encode, daemon=True)
        self._thread.start()

    def _encode(self):
        while (picture := self._pictures.get()) is not None:
            if not self._broken:
                try:
                    began = time.thread_time()
                    self._writer.add(picture)
                    self.seconds += time.thread_time() - began
                except BaseException as error:  # told by the thread that draws
                    self._error, self._broken = error, True

    def add(self, picture):
        """picture (height, width, 3) uint8, which nobody changes afterwards."""
        self._tell()
        self._pictures.put(picture)

    def close(self):
        """Writes what waits, and finishes the file."""
        if self._thread is None:
            return
        self._pictures.put(None)
        self._thread.join()
        self._thread = None
        Beside._open -= 1
        if not Beside._open:
            sys.setswitchinterval(Beside._interval)
        try:
            self._writer.close()
        finally:
            self._tell()

    def _tell(self):
        if self._error is not None:
            error, self._error = self._error, None
            raise error


def changed(picture, last):
    """Rectangle, beginning at even places, outside which the last picture still holds: x0, y0, x1, y1."""
    height, width = picture.shape[:2]
    if last is None:
        return 0, 0, width, height
    differs = (picture != last).reshape(height, -1)
    rows = differs.any(1).nonzero()[0]
    columns = differs.any(0).reshape(width, -1).any(1).nonzero()[0]
    if not len(rows):
        return 0, 0, min(2, width), min(2, height)
    return int(columns[0]) // 2 * 2, int(rows[0]) // 2 * 2, int(columns[-1]) + 1, int(rows[-1]) + 1


class Gif:
    """Pictures of which only the rectangle that changed is kept, shown again and again; a palette serves for many."""

    def __init__(self, path, size, fps):
        self.file, self.last = open(path, "wb"), None
        self._palette = self._errors = None
        self.duration = max(10, 10 * round(100 / fps))  # in hundredths of a second, the format has no finer times
        self.file.write(b"GIF89a" + struct.pack("<HHBBB", *size, 0, 0, 0))
        self.file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00;")

    def add(self, picture):
        from PIL import GifImagePlugin

        image, places = self._reduced(picture)
        x0, y0, x1, y1 = changed(places, self.last)
        self.file.seek(-1, io.SEEK_END)  # over the end mark
        part = image.crop((x0, y0, x1, y1))
        for block in GifImagePlugin.getdata(part, (x0, y0), duration=self.duration, include_color_table=True):
            self.file.write(block)
        self.file.write(b";")
        self.file.flush()
        self.last = places

    def _reduced(self, picture):
        """The picture in colours of a palette, and their places in it: the last one's, unless it serves badly."""
        from PIL import Image

        some, whole = picture[::SPARSE, ::SPARSE], Image.fromarray(picture)
        for palette in (self._palette, None):
            new = palette is None
            if new:
                palette = Image.fromarray(some).quantize(255, Image.Quantize.MEDIANCUT)
                self.last = None  # the same place is another colour
            image = whole.quantize(palette=palette, dither=Image.Dither.NONE)
            places = np.asarray(image)
            colors = np.zeros((256, 3), np.int16)
            colors.ravel()[: len(palette.getpalette())] = palette.getpalette()
            off = np.abs(colors[places[::SPARSE, ::SPARSE]] - some)
            mean, most = off.mean(), off.max()
            if new:
                self._palette, self._errors = palette, (mean, most)
            if mean <= WORSE * self._errors[0] + 0.1 and most <= self._errors[1] + FARTHER:
                break
        return image, places

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

        x0, y0, x1, y1 = changed(picture, self.last)
        still = io.BytesIO()
        Image.fromarray(picture[y0:y1, x0:x1]).save(still, "WEBP", quality=WEBP_QUALITY, method=WEBP_EFFORT)
        begin, end = (round(1000 * k / self.fps) for k in (self.number, self.number + 1))
        head = b"".join(map(_three, (x0 // 2, y0 // 2, x1 - x0 - 1, y1 - y0 - 1, end - begin)))
        do_not_blend = b"\x02"
        self._chunk(b"ANMF", head + do_not_blend + _image_chunk(still.getvalue()))
        self._end()
        self.last, self.number = picture.copy(), self.number + 1

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
