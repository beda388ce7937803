"""A simulation in a browser: a stream of pictures that needs nothing but the standard library, or shapes by viser."""

from tisim.errors import Error
from tisim.viewer.browser.objects import package, view_shapes
from tisim.viewer.browser.pictures import view_pictures

MANY = 20_000  # bodies above which pictures are less to send and to draw than shapes


def require(pictures):
    """Raises Error where what shows a page is missing."""
    if not pictures:
        package()


def view_in_browser(m, d, *args, pictures=None, **more):
    """Shows a simulation on a page in a browser, perhaps of another machine, and runs it until it is ended there.

    pictures  True: a stream of pictures by rays;  False: shapes, by viser;  None: shapes for up to 20,000 bodies.
    host, port  where it listens: "127.0.0.1" is this machine alone, with "0.0.0.0" every machine that reaches this one
    may look and steer.  ready  called with the page's address.  The rest is as in `view`.
    Raises Error where viser is missing, or the port cannot be had.
    """
    if more.get("color", "geom") not in ("geom", "island", "speed", "force"):
        raise Error(f"color={more['color']!r}: expected 'geom', 'island', 'speed' or 'force'")
    if not 0 <= more.get("world", 0) < getattr(d, "nworld", 1):
        raise Error(f"world={more['world']}: this Data has {getattr(d, 'nworld', 1)} worlds")
    pictures = m.nbody - 1 > MANY if pictures is None else pictures
    return (view_pictures if pictures else view_shapes)(m, d, *args, **more)
