"""Films: pictures go to the encoder one by one while the simulation runs."""

import pathlib

import numpy as np

from tisim.errors import Error

SUFFIXES = (".mp4", ".gif", ".webp")
SIZE = (640, 360)
QUALITY = 8  # of mp4, 0 to 10


def require(path, size):
    """Raises Error if a film of this name and size (width, height) cannot be made here."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise Error(f"--size {size[0]}x{size[1]}: an .mp4 needs even sides")
    if suffix not in SUFFIXES:
        raise Error(f"--film {path}: expected a name ending in {', '.join(SUFFIXES)}")
    if suffix == ".mp4":
        try:
            import imageio_ffmpeg

            imageio_ffmpeg.get_ffmpeg_exe()
        except (ImportError, RuntimeError) as error:
            raise Error(f"an .mp4 needs ffmpeg: pip install imageio-ffmpeg (the extra tisim[film]), or give a name "
                        f"ending in .gif or .webp ({error})") from None  # fmt: skip


class Film:
    """A film that is being made.

    path  its file;  size  width and height [pixel];  fps  pictures per second of simulated time;
    timestep [s];  look  keyword arguments of viewer.render.
    """

    def __init__(self, path, size, fps, timestep, **look):
        if not 1 <= fps <= 240:
            raise Error(f"--fps {fps}: expected 1 to 240")
        self.path, self.size, self.fps, self.timestep = pathlib.Path(path), size, fps, timestep
        self.camera, self.look = look.pop("camera", None), look
        self._painter = None
        self.number, self.seen = 0, np.full(4, -np.inf)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")  # what cannot be written is told before the simulation
        self._encode = self._mp4() if self.path.suffix.lower() == ".mp4" else self._pillow()
        self._encode.send(None)

    def next_step(self):
        """After how many steps the next picture is due."""
        return round(self.number / (self.fps * self.timestep))

    def add(self, m, d):
        """Draws what is there: the poses that the last step started from."""
        from tisim.viewer import offscreen
        from tisim.viewer.camera import choose
        from tisim.viewer.renderer import Painter

        (width, height), world = self.size, self.look.get("world", 0)
        camera = choose(self.camera, m, d, width / height, world, self.seen)
        self._painter = self._painter or Painter(m, width, height)
        self._encode.send(offscreen.render(m, d, width, height, camera, painter=self._painter, **self.look))
        self.number += 1

    @property
    def note(self):
        """What a progress bar shows of it."""
        return f"{self.number} pictures"

    def close(self):
        """Finishes the file."""
        self._encode.close()

    def _mp4(self):
        import imageio_ffmpeg

        writer = imageio_ffmpeg.write_frames(
            str(self.path), self.size, fps=self.fps, quality=QUALITY, macro_block_size=2, ffmpeg_log_level="error"
        )
        writer.send(None)
        try:
            while True:
                writer.send(np.ascontiguousarray((yield)))
        except OSError as error:
            raise Error(f"--film {self.path}: ffmpeg stopped: {' '.join(str(error).split())[:300]}") from None
        finally:
            writer.close()

    def _pillow(self):
        """Keeps the pictures, each with a palette of its own, and writes them at the end."""
        from PIL import Image

        pictures = []
        try:
            while True:
                picture = Image.fromarray((yield))
                if self.path.suffix.lower() == ".gif":
                    picture = picture.quantize(255, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
                pictures.append(picture)
        finally:
            if pictures:
                pictures[0].save(self.path, save_all=True, append_images=pictures[1:], loop=0,
                                 duration=round(1000 / self.fps))  # fmt: skip
