"""A long run that is killed on the way and goes on: to the same bits, with a recording that opens wherever it ends.

python scenes/examples/interrupted.py [--n 300] [--folder out/interrupted] [--film interrupted.webp]
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import time


def command(n, folder, *more):
    """Words of the run, as one would type them."""
    return [sys.executable, "-m", "tisim", "run", "hopper", "--n", str(n), "--seconds", "2", "--no-picture", "--json",
            "-o", str(folder), *more]  # fmt: skip


def killed(n, folder, after):
    """Starts a run that saves and records on its way, and kills it so long after its first state; its recording."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    film = folder / "killed.npz"
    run = subprocess.Popen(command(n, folder, "--save-every", "0.2", "--record", str(film)), stdout=subprocess.DEVNULL)
    while run.poll() is None and not ((folder / "state.npz").exists() and _holds_frames(film)):
        time.sleep(0.01)
    time.sleep(after)
    run.send_signal(signal.SIGKILL)
    run.wait()
    return film


def _holds_frames(path):
    import tisim

    try:
        return len(tisim.Recording(path)) > 0
    except tisim.Error:  # its model is not there yet
        return False


def finished(n, folder, *more):
    """What a run tells that was not killed, or that goes on."""
    out = subprocess.run(command(n, folder, *more), stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=300, help="grains")
    p.add_argument("--folder", default="out/interrupted")
    p.add_argument("--film", help="a .webp, .gif or .mp4 of what was recorded")
    a = p.parse_args()
    import tisim

    whole = finished(a.n, f"{a.folder}/whole")
    film = killed(a.n, f"{a.folder}/part", 0.3)
    recording = tisim.Recording(film)
    print(f"killed; {len(recording)} frames reached the disk, up to {recording.time[-1]:.2f} s")
    rest = finished(a.n, f"{a.folder}/part", "--resume")
    same = "the same" if rest["state_hash"] == whole["state_hash"] else "ANOTHER"
    print(f"went on for {rest['steps']} of {whole['steps']} steps: {same} state, {rest['state_hash']}")
    if a.film:
        subprocess.run([sys.executable, "-m", "tisim", "render", str(film), "-o", a.film], check=True)


if __name__ == "__main__":
    main()
