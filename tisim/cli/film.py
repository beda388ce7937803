"""Films: pictures go to the encoder one by one while the simulation runs."""

import pathlib
import time

import numpy as np

from tisim.device.whole_file import told
from tisim.errors import Error

from . import draw, playback
from .report import beside, busy, print_json
from .simulate import INTERRUPTED, advance, check_lengths, forward, load_asked, sim_time, start_asked, steps_of, worth

SUFFIXES = (".mp4", ".gif", ".webp")
SIZE, FPS = (640, 360), 30  # where nothing is said


def require(path, size, option="--film"):
    """Raises Error if a film of this name and size (width, height) cannot be made here."""
    suffix = pathlib.Path(path).suffix.lower()
    if suffix == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise Error(f"--size {size[0]}x{size[1]}: an .mp4 needs even sides")
    if suffix not in SUFFIXES:
        raise Error(f"{option} {path}: expected a name ending in {', '.join(SUFFIXES)}")
    if suffix == ".mp4":
        from tisim.viewer import encode

        encode.ffmpeg()


class Film:
    """A film that is being made.

    path  its file;  size  width and height [pixel];  fps  pictures per second;  timestep [s];
    speed  seconds of simulated time per second of the film;  look  keyword arguments of viewer.render.
    """

    def __init__(self, path, size, fps, timestep, speed=1.0, **look):
        with busy("loading the viewer"):
            from tisim.viewer import encode
        fps = FPS if fps is None else fps
        if not 1 <= fps <= 240:
            raise Error(f"--fps {fps}: expected 1 to 240")
        if not 1e-4 <= speed <= 1e4:
            raise Error(f"--speed {speed:g}: expected 0.0001 to 10000")
        self.path, self.size, self.timestep = pathlib.Path(path), size, timestep
        self.period = speed / fps  # simulated time between pictures [s]
        self.camera, self.look = look.pop("camera", None), look
        self._pictures = None
        self.number, self.seen, self.drawing = 0, np.full(4, -np.inf), 0.0
        with told(self.path, "film"):
            self._writer = encode.Beside(encode.writer(self.path, size, fps))

    def next_step(self):
        """After how many steps the next picture is due."""
        return round(self.number * self.period / self.timestep)

    def add(self, m, d):
        """Shows what is there, the poses that the last step started from; it is drawn now or with one of the next."""
        from tisim.viewer.camera import choose
        from tisim.viewer.several import Pictures

        began = time.perf_counter()
        (width, height), world = self.size, self.look.get("world", 0)
        camera = choose(self.camera, m, d, width / height, world, self.seen)
        self._pictures = self._pictures or Pictures(m, width, height, self._writer.add)
        with told(self.path, "film"):
            self._pictures.add(d, camera, **self.look)
        self.number += 1
        self.drawing += time.perf_counter() - began

    @property
    def note(self):
        """What a progress bar shows of it."""
        return f"{self.number} pictures"

    @property
    def encoding(self):
        """Processor time that the encoder took [s]; that of ffmpeg is its own."""
        return self._writer.seconds

    def close(self):
        """Draws what was not drawn so far, and finishes the file."""
        began = time.perf_counter()
        with told(self.path, "film"):
            try:
                if self._pictures is not None:
                    self._pictures.close()
            finally:
                self.drawing += time.perf_counter() - began
                self._writer.close()


def film(console, asked):
    """tisim film, of a scene, a file or a recording, with its options by their names. Returns the exit code."""
    out, size, look = asked.out, draw.parse_size(asked.size) if asked.size else SIZE, draw.look_of(asked)
    require(out, size, "--out")
    if playback.is_recording(asked.source):
        draw.refuse_with_recordings(asked, *draw.SIMULATED)
        return playback.render(console, asked.source, out, None, size, look, asked.fps, asked.as_json, asked.speed)
    progress = beside(console, asked.as_json)
    check_lengths(asked.seconds, asked.until, positive=True)
    m, name = load_asked(asked)
    d = start_asked(m, asked)
    draw.check_drawn(look, m, d)
    steps = steps_of(m, d, asked.seconds, asked.until, worth(asked.source, asked.n, asked.param))
    forward(m, d)
    movie = Film(out, size, asked.fps, float(m.opt.timestep), asked.speed, **look)
    try:
        stopped = advance(progress, m, d, steps, "filming", [movie])[3]
    finally:
        with busy("finishing the film"):
            movie.close()
    found = dict(film=out, scene=name, pictures=movie.number, time=sim_time(d), stopped=stopped,
                 bytes=pathlib.Path(out).stat().st_size, seconds_drawing=movie.drawing,
                 seconds_encoding=movie.encoding)  # fmt: skip
    if asked.as_json:
        print_json(found)
    else:
        kib = found["bytes"] / 1024
        console.print(f"{out}: {movie.number} pictures of {name} up to {sim_time(d):.3f} s, {kib:,.0f} KiB",
                      soft_wrap=True)  # fmt: skip
    if stopped:
        progress.print(f"stopped at {sim_time(d):.3f} s; the film has what there was until then", style="yellow")
    return INTERRUPTED if stopped else 0
