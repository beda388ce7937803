"""What a window or a page on Controls shows, as a picture by rays, as a film, and names of files for it."""

import contextlib
import pathlib

from tisim.errors import Error
from tisim.viewer import decor, encode

FPS = 25  # pictures per second of a film


def cast(c, painter):
    """The picture (height, width, 3) uint8 of Controls as they are now; painter  a Painter of its size."""
    painter.write(c.d, look_of(c), c.world, records(c))
    return painter.shoot(c.d, c.camera, "sun", smooth=False, grow=True, geometry=False)[0]


def look_of(c):
    """What Controls ask to draw."""
    return decor.look_of(c.m, c.opt, c.color, c.chains)


def records(c):
    """Records that the host makes of what Controls show, as decor.of has them."""
    return decor.of(c.m, c.d, c.opt, c.world, c.pert, c.user_scn)


def free_name(suffix):
    """A name in the current folder that no file has: tisim-1.png ..."""
    k = 1
    while pathlib.Path(f"tisim-{k}{suffix}").exists():
        k += 1
    return f"tisim-{k}{suffix}"


class Film:
    """A film of what is shown, as long as it takes: tisim-1.mp4 where there is ffmpeg, else tisim-1.webp.

    path  its file;  size  width and height [pixel], those of the first picture, even.
    """

    def __init__(self, picture, now):
        try:
            encode.ffmpeg()
            self.path = free_name(".mp4")
        except Error:
            self.path = free_name(".webp")
        self.size = picture.shape[1] // 2 * 2, picture.shape[0] // 2 * 2
        self._writer, self._began, self._number = encode.writer(self.path, self.size, FPS), now, 0

    def add(self, picture, now):
        """Adds a picture (height, width, 3) uint8 as often as the time [s] asks for; False if it is too small for the
        film, which a smaller window makes."""
        width, height = self.size
        if picture.shape[0] < height or picture.shape[1] < width:
            return False
        while self._number <= (now - self._began) * FPS:
            self._writer.add(picture[:height, :width])
            self._number += 1
        return True

    def close(self):
        """Finishes the file; the number of pictures in it."""
        self._writer.close()
        return self._number


class Filming:
    """The film that Controls ask for with a key, if any."""

    def __init__(self):
        self.film = None

    def see(self, c, take, now):
        """A picture of a window was drawn; take()  gives it, and is called only if a film is made."""
        try:
            if c.filming:
                picture = take()
                if self.film is None:
                    self.film = Film(picture, now)
                    c.told = f"filming to {self.film.path}: w ends it"
                if self.film.add(picture, now):
                    return
                c.filming = False
            self.end(c)
        except (Error, OSError) as error:  # the simulation goes on without it
            with contextlib.suppress(Error, OSError):
                self.end()
            c.filming = False
            c.told = f"cannot write the film: {getattr(error, 'strerror', None) or str(error).splitlines()[0]}"

    def end(self, c=None):
        """Finishes the film; tells Controls."""
        if self.film is not None:
            film, self.film = self.film, None
            number = film.close()
            if c is not None:
                c.told = f"saved {film.path}, {number / FPS:.1f} s"
