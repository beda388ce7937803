"""A simulation in a browser: a stream of pictures that needs nothing but the standard library, or shapes by viser."""

from tisim.device import runtime
from tisim.errors import Error
from tisim.viewer.browser.objects import Shapes, package
from tisim.viewer.browser.pictures import Pages
from tisim.viewer.controls import Controls
from tisim.viewer.measures import check_color
from tisim.viewer.playing import bring_up

MANY = 20_000  # bodies above which pictures are less to send and to draw than shapes


def require(pictures):
    """Raises Error where what shows a page is missing."""
    if not pictures:
        package()


def view_in_browser(
    m, d, width=960, height=540, camera=None, world=0, step=None, restart=None, color="geom", show_contacts=False,
    reload=None, running=True, clock=None, chains=False, pictures=None, host="127.0.0.1", port=8080, ready=None,
):  # fmt: skip
    """Shows a simulation on a page in a browser, perhaps of another machine, and runs it until q is pressed there or
    Ctrl-C here.

    pictures  True: a stream of pictures by rays;  False: shapes, by viser;  None: shapes for up to 20,000 bodies.
    host, port  where it listens: "127.0.0.1" is this machine alone, with "0.0.0.0" every machine that reaches this one
    may look and steer.  ready  called with the page's address.  width, height  of pictures [pixel].
    The rest is as in `view`.
    Raises Error where viser is missing, or the port cannot be had.
    """
    check_color(color)
    if not 0 <= world < d.nworld:
        raise Error(f"world={world}: this Data has {d.nworld} worlds")
    pictures = m.nbody - 1 > MANY if pictures is None else pictures
    runtime.ensure()
    if clock is None:
        bring_up(m, d)
    controls = Controls(
        m, d, camera, world, step, restart, reload, width / height, color, show_contacts, running, clock, chains
    )  # fmt: skip
    page = Pages(controls, width, height, host, port) if pictures else Shapes(controls, host, port)
    try:
        if ready:
            ready(page.url)
        while page.frame():
            pass
    finally:
        page.close()
