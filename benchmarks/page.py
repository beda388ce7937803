"""What a page of shapes sends by viser, and what that takes of the server's processor time, 25 times a second.

    python benchmarks/page.py [--bodies 10000] [--updates 50]

A client in another process takes all that is sent, as a browser does, and counts the bytes. `slides`: bodies move;
`turns`: they also turn; `rests`: nothing moves. Counted are the time of all threads of the process, which does not
step, and the bytes of the connection after the scene is there.
"""

import argparse
import multiprocessing
import time

import tisim
from tisim.device import memory
from tisim.viewer.browser import objects
from tisim.viewer.controls import Controls

RATE = 25.0  # updates in a second


def listen(port, version, counted, ready):
    """A visitor: says where it looks from, takes everything, and adds up its bytes."""
    import msgspec
    from websockets.sync.client import connect

    camera = dict(
        type="ViewerCameraMessage", wxyz=[1.0, 0, 0, 0], position=[3.0, 3, 3], fov=1.0, near=0.1, far=100.0,
        image_height=480, image_width=640, look_at=[0.0, 0, 0], up_direction=[0.0, 0, 1],
    )  # fmt: skip

    with connect(f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{version}"], max_size=None) as link:
        link.send(msgspec.msgpack.encode(camera))
        for message in link:
            with counted.get_lock():
                counted.value += len(message)
            ready.set()


def measure(n, updates):
    """Prints a line for each way of moving."""
    import viser

    tisim.init(arch="cpu", precision="f32")
    m = tisim.Model.from_scene("pile", n=n)
    d = tisim.Data(m)
    tisim.forward(m, d)
    page = objects.Shapes(Controls(m, d, running=False), "127.0.0.1", 0)
    spawn = multiprocessing.get_context("spawn")
    counted, ready = spawn.Value("q", 0), spawn.Event()
    visitor = spawn.Process(
        target=listen, args=(page.server.get_port(), viser.__version__, counted, ready), daemon=True
    )
    visitor.start()
    end = time.monotonic() + 30
    while time.monotonic() < end and not (ready.is_set() and time.monotonic() > end - 25):
        page.frame()
    place, turn = (memory.host_view(d.device(name)) for name in ("geom_xpos", "xquat"))
    for way in ("slides", "turns", "rests"):
        for k in range(25):
            page.frame()
        before, used, start = counted.value, time.process_time(), time.monotonic()
        for k in range(updates):
            if way != "rests":
                place[5::3] += 1e-3
            if way == "turns":
                turn[4:] = -turn[4:]
            page.frame()
            time.sleep(max(0.0, start + (k + 1) / RATE - time.monotonic()))
        seconds, used = time.monotonic() - start, time.process_time() - used
        time.sleep(0.5)
        sent = counted.value - before
        print(f"{n:>7} bodies, {way}: {sent / updates / n:.1f} bytes a body and update, "
              f"{1e3 * used / updates:.1f} ms of processor time each, {updates / seconds:.1f} updates/s, "
              f"{sent / seconds / 1000:.2f} kB/s", flush=True)  # fmt: skip
    visitor.kill()


def main():
    """Reads the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=10000, help="(default: %(default)s)")
    parser.add_argument("--updates", type=int, default=50, help="(default: %(default)s)")
    args = parser.parse_args()
    measure(args.bodies, args.updates)


if __name__ == "__main__":
    main()
