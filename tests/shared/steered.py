"""A program that says what it knows, a line of JSON at a time, and a hand on the mouse and the keys of its display."""

import json
import os
import queue
import subprocess
import threading


class Steered:
    """A running program, what it last said (`told`), and xdotool on the display of this name."""

    def __init__(self, process, name):
        self.process, self.name, self.told = process, name, {}
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self._lines.put(json.loads(line))
        self._lines.put(None)

    def listen(self, patience):
        """What it says next; None: it has ended. Raises queue.Empty where it is silent for so long [s]."""
        told = self._lines.get(timeout=patience)
        self.told = self.told if told is None else told
        return told

    def skip(self):
        """What it has said up to now is passed over, but for the last."""
        while not self._lines.empty():
            self.listen(0)

    def xdotool(self, *words):
        """One call of xdotool."""
        done = subprocess.run(["xdotool", *map(str, words)], env=os.environ | {"DISPLAY": self.name}, timeout=120)
        assert done.returncode == 0
