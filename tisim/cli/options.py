"""Arguments and options that several commands have, and those that take one of a few words."""

import typer

from tisim.errors import Error

CHOICES = {}  # option -> function that gives the words it takes


def one_of(default, option, find, help):
    """An option that takes one of the words that `find` gives; it is called where another than the default is given."""

    def checked(value: str):
        if value != default and value not in find():
            raise Error(f"{option} {value}: expected {', '.join(find())}")
        return value

    CHOICES[option] = find
    return typer.Option(default, option, metavar="WORD", callback=checked, help=help)


def _archs():
    from tisim.device.session import ARCHS

    return "auto", *ARCHS


def _precisions():
    from tisim.device.session import PRECISIONS

    return PRECISIONS


def _dynamics():
    from tisim.model.options import DYNAMICS

    return DYNAMICS


def _colors():
    from tisim.model.tables.colors import MODES

    return MODES


def _qualities():
    from tisim.model.tables.colors import QUALITY

    return tuple(QUALITY)


def _errors():
    from tisim.sweeping.results import ERRORS

    return ERRORS


Source = typer.Argument(..., metavar="SCENE_OR_FILE", help="a scene (see `tisim scenes`) or a file: MJCF, URDF, .npz")
Number = typer.Option(None, "--n", help="size of the scene: how many bodies")
Param = typer.Option([], "--param", "-p", metavar="KEY=VALUE", help="a parameter of the scene; may be repeated")
Arch = one_of("auto", "--arch", _archs, "auto, cpu, cuda, vulkan or metal")
Precision = one_of(None, "--precision", _precisions, "f64 or f32; f64 on the CPU and f32 on a GPU by default")
Threads = typer.Option(None, help="CPU threads; all by default")
Sleep = typer.Option(False, "--sleep", help="let what is at rest sleep, as the flag in MJCF does")
Dynamics = one_of(None, "--dynamics", _dynamics, "convex, or lcp: hard contacts and joints (tisim/LCP.md); that of the "
                  "model by default, which is convex in MJCF")  # fmt: skip
Worlds = typer.Option(None, "--nworld", help="independent copies of the scene; 1, or as many as --from holds")
Seconds = typer.Option(None, "--seconds", help="how long to simulate \\[s]")
Until = typer.Option(None, "--time", "-t", help="simulated time to reach \\[s], instead of --seconds")
From = typer.Option(None, "--from", metavar="STATE.npz", help="start from a state that `tisim run` saved")
Size = typer.Option("", "--size", metavar="WxH", help="of the picture \\[pixel]; 1280x720 by default")
View = typer.Option(
    "",
    "--camera",
    metavar="NAME|AZ,EL,DIST[,X,Y,Z]",
    help="a camera of the model, or azimuth, "
    "elevation \\[degree], distance and point looked at \\[m]; all that moves is in view by default",
)
Color = one_of("geom", "--color", _colors, "geom: the model's colours; island: one for each island; asleep: blue, or "
               "orange; group: of the geom; speed; force: of contacts")  # fmt: skip
Chains = typer.Option(False, "--chains", help="draw how forces go from body to body")
Quality = one_of("sky", "--quality", _qualities, "plain: no shadows; sun; sky: its light, too; model: the model's own "
                 "lights")  # fmt: skip
Lamps = typer.Option(None, "--lamps", help="of the sky in quality sky, 0 (its light is even) to 32; 14 by default")
Contacts = typer.Option(False, "--contacts", help="mark the contacts")
World = typer.Option(0, "--world", help="which of --nworld is drawn")
Errors = one_of("raise", "--errors", _errors, "raise: a case that fails ends the sweep; keep: it goes on")
Compare = one_of(None, "--compare", lambda: ("mujoco",), "mujoco: steps in turn with the newest MuJoCo that is there, "
                 "by the best of its solvers")  # fmt: skip
Json = typer.Option(False, "--json", help="print one JSON object instead of a table")
