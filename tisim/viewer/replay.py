"""Time in a window on a recording: frames are shown where a simulation would be stepped."""

import numpy as np

from tisim.errors import Error
from tisim.viewer.playing import Clock


class Replay(Clock):
    """The clock of a window on a Recording: plays, pauses, goes frame by frame and to any frame.

    recording  a tisim.Recording;  d  a Data of recording.data();  frame  number of the one that is shown.
    """

    def __init__(self, recording, d, running=True):
        if not len(recording):
            raise Error(f"{recording.path}: no frame in it reached the disk")
        super().__init__(recording.model, d, None, None, running)
        self.recording, self.frame = recording, -1
        self.go(0)

    @property
    def frames(self):
        """How many there are."""
        return len(self.recording)

    @property
    def recorded(self):
        """How many frames lie before the one shown."""
        return self.frame

    def go(self, frame):
        """Shows a frame, the nearest where there is none of that number."""
        frame = min(max(int(frame), 0), self.frames - 1)
        self._now = self.recording.time[frame]
        self._show(frame)

    def _show(self, frame):
        if frame != self.frame:
            self.recording.show(self.d, frame)
            self.frame = frame

    def run(self, elapsed, before=None):
        """Goes on by what passed of real time [s], up to the last frame, where it stops. Returns seconds played."""
        if not self.running:
            self.factor = 0.0
            return 0.0
        start, times = self._now, self.recording.time
        self._now = min(start + elapsed * self.speed, times[-1])
        self._show(max(0, int(np.searchsorted(times, self._now + 1e-9, side="right")) - 1))
        done = float(self._now - start)
        self.factor += 0.1 * (done / max(elapsed, 1e-6) - self.factor)
        self.running = self.frame < self.frames - 1
        return done

    def toggle(self):
        """Plays or pauses; behind the last frame it begins again."""
        if not self.running and self.frame == self.frames - 1:
            self.go(0)
        super().toggle()

    def single(self, before=None):
        """Stops, and shows the next frame."""
        self.running = False
        self.go(self.frame + 1)

    def back(self):
        """Stops, and shows the frame before; False if there is none."""
        self.running = False
        there = self.frame > 0
        self.go(self.frame - 1)
        return there

    def reset(self):
        """Shows the first frame."""
        self.go(0)

    def keyframe(self, key=None):
        """A recording has frames, and no keyframes: -1."""
        return -1
