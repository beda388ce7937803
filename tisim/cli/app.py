"""The command line. Every command catches the user's mistakes and prints one line; --debug shows the traceback."""

import atexit
import gc
import sys
import types
import warnings

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tisim import __version__
from tisim.errors import Error

from .options import (
    Arch,
    Chains,
    Color,
    Compare,
    Contacts,
    Dynamics,
    Errors,
    From,
    Json,
    Lamps,
    Number,
    Param,
    Precision,
    Quality,
    Seconds,
    Size,
    Sleep,
    Source,
    Threads,
    Until,
    View,
    World,
    Worlds,
)
from .quiet import Output, open_closed

app = typer.Typer(
    name="tisim", help="MuJoCo's physics in Taichi kernels, for scenes of many passive bodies.", add_completion=False,
    no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
console = Console(highlight=False, markup=False)  # names may have brackets
FAILED = 2  # exit code of every mistake


def _version(asked: bool):
    if asked:
        typer.echo(f"tisim {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="print the version"),
    debug: bool = typer.Option(False, "--debug", help="show the traceback of an error (works after a command, too)"),
):
    """MuJoCo's physics in Taichi kernels, for scenes of many passive bodies."""


@app.command()
def run(
    source: str = Source, n: int = Number, param: list[str] = Param, sleep: bool = Sleep, dynamics: str = Dynamics,
    seconds: float = typer.Option(None, "--seconds", help="how long to simulate \\[s]; 3 by default, or until all "
                            "dominos have fallen"),
    until: float = Until,
    steps: int = typer.Option(None, "--steps", help="number of steps, instead of --seconds"),
    saved: str = From,
    out: str = typer.Option(None, "--out", "-o", metavar="FOLDER", help="of the results; out/<scene> by default"),
    film: str = typer.Option(None, "--film", metavar="FILE", help="make a film: .mp4 (by ffmpeg, on PATH or "
                             "of the extra tisim\\[film]), .gif or .webp"),
    fps: int = typer.Option(None, "--fps", help="pictures of the film per second; 30 by default"),
    record: str = typer.Option(None, "--record", metavar="FILE.npz", help="write frames to a tisim.Recording"),
    record_fps: float = typer.Option(None, "--record-fps", help="frames of the recording per second; 60 by default"),
    record_forces: bool = typer.Option(False, "--record-forces", help="contacts and their forces in it, too"),
    record_solver: bool = typer.Option(False, "--record-solver", help="what the solver had to do in it, too"),
    log: str = typer.Option(None, "--log", metavar="FILE", help="write energy, contacts, iterations and sensors over "
                            "time: .csv or .npz; `tisim plot` draws them"),
    log_fps: float = typer.Option(None, "--log-fps", help="rows of it per second; 100 by default"),
    log_state: bool = typer.Option(False, "--log-state", help="qpos and qvel in it, too"),
    save_every: float = typer.Option(None, "--save-every", metavar="SECONDS", help="save the state so often, simulated "
                                     "time \\[s]"),
    resume: bool = typer.Option(False, "--resume", help="go on from the state in --out, if there is one, to the "
                                "end of the same run"),
    picture: bool = typer.Option(True, help="write a picture of the end"),
    size: str = typer.Option("", "--size", metavar="WxH", help="of picture and film \\[pixel]; 1280x720 and 640x360 by "
                             "default"),
    camera: str = View, color: str = Color, contacts: bool = Contacts, chains: bool = Chains, world: int = World,
    quality: str = Quality, lamps: int = Lamps,
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds, as_json: bool = Json,
):  # fmt: skip
    """Simulate, show progress, save the final state and a picture.

    Ctrl-C ends it after the step, saves what was reached, says how to go on and exits with 130.
    Example: tisim run wall --n 60 --seconds 2 --film wall.webp --quality plain
    """
    asked = types.SimpleNamespace(**locals())
    from . import run as cli_run

    return cli_run.run(console, asked)


@app.command()
def plot(
    source: str = typer.Argument(..., metavar="LOG", help="what `tisim run --log` wrote: .csv or .npz"),
    out: str = typer.Option("plot.png", "--out", "-o", metavar="FILE", help="the picture: .png, .svg or .pdf"),
    as_json: bool = Json,
):  # fmt: skip
    """Draw energy, contacts, iterations and sensors of a log over time (needs the extra tisim\\[plot]).

    Example: tisim plot numbers.csv -o numbers.png
    """
    from . import plot as cli_plot

    return cli_plot.plot(console, source, out, as_json)


@app.command()
def bench(
    source: str = typer.Argument(None, metavar="SCENE_OR_FILE", help="a scene (see `tisim scenes`) or a file: MJCF, "
                                 "URDF, .npz; pile by default with --device"),
    n: int = Number, param: list[str] = Param, sleep: bool = Sleep, dynamics: str = Dynamics,
    settle: int = typer.Option(None, "--settle", help="steps before the measurement; 350 by default, 0 with --from"),
    seconds: float = typer.Option(None, "--seconds", help="time simulated before it \\[s], instead of --settle"),
    until: float = Until,
    repeats: int = typer.Option(50, help="steps measured"), saved: str = From,
    kernels: bool = typer.Option(False, "--kernels", help="print the time of each kernel, too"),
    compare: str = Compare,
    peer: str = typer.Option(None, "--peer", metavar="FOLDER", help="where its packages are; .peers or the installed "
                             "one by default"),
    limit: float = typer.Option(30.0, "--limit", help="how long a solver of MuJoCo may take to show what it can \\[s]"),
    device: bool = typer.Option(False, "--device", help="measure a GPU: the scene in several sizes, with tasks, reads, "
                                "memory and what the device is"),
    device_sizes: str = typer.Option("100,1000,10000,100000", "--sizes", metavar="N,N,...", help="sizes of the scene "
                                     "for --device"),
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds, as_json: bool = Json,
):  # fmt: skip
    """Measure the time of a step, median over single steps from a settled state, and tell where it goes.

    Ctrl-C ends it after the step, prints what was measured and exits with 130.
    Example: tisim bench pile --n 300 --kernels
    """
    asked = types.SimpleNamespace(**locals())
    if device:
        from . import bench_device

        return bench_device.bench(console, asked)
    if source is None:
        raise Error("tisim bench needs a scene or a file; only --device has one by default, the pile")
    from . import bench as cli_bench

    return cli_bench.bench(console, asked)


@app.command()
def settle(
    source: str = Source, n: int = Number, param: list[str] = Param, dynamics: str = Dynamics,
    timeout: float = typer.Option(None, "--timeout", "--seconds", help="how long to simulate at most \\[s]; 30 by "
                                  "default"),
    until: float = typer.Option(None, "--time", "-t", help="simulated time to reach at most \\[s], instead of "
                                "--timeout"),
    below: float = typer.Option(None, "--below", metavar="Z", help="height below which a body has left \\[m]"),
    box: str = typer.Option("", "--box", metavar="X,Y,Z,X,Y,Z", help="two corners; a body outside has left \\[m]"),
    tolerance: float = typer.Option(None, "--tolerance", help="velocity below which a thing is at rest \\[m/s]; by "
                                    "default that of the model"),
    saved: str = From,
    out: str = typer.Option(None, "--out", "-o", metavar="FILE", help="the settled state; "
                            "out/<scene>/settled.npz by default"),
    support: str = typer.Option(None, "--support", metavar="FILE.csv", help="write who rests on whom, with forces"),
    forces: str = typer.Option(None, "--forces", metavar="FILE.csv", help="write the contacts, with places and forces"),
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds, as_json: bool = Json,
):  # fmt: skip
    """Simulate until everything is at rest, save the state, tell what still moves, what left and what lies how deep.

    What is at rest sleeps here, as with --sleep elsewhere.
    Exits with 0 when all has settled and 1 when the time was out. Ctrl-C saves what was reached, says how to go on and
    exits with 130.
    Example: tisim settle pyramids --n 200 --below -1
    """
    asked = types.SimpleNamespace(**locals())
    from . import settle as cli_settle

    return cli_settle.settle(console, asked)


@app.command()
def sweep(
    file: str = typer.Argument(..., metavar="FILE.py", help="says model, cases, steps and measure, as tisim.sweep "
                               "takes them"),
    out: str = typer.Option(None, "--out", "-o", metavar="FOLDER", help="of the results; out/<name of the file> by "
                            "default"),
    resume: bool = typer.Option(False, "--resume", help="go on with what the folder holds"),
    workers: str = typer.Option("1", "--workers", metavar="N|all|ray|ray://HOST:PORT", help="1: this process; N "
                                "processes; one for each processor; a Ray cluster"),
    errors: str = Errors,
    seed: int = typer.Option(0, "--seed", help="of the first case; the others count on from it"),
    csv: str = typer.Option(None, "--csv", metavar="FILE.csv", help="the table; table.csv in the folder by default"),
    arch: str = Arch, precision: str = Precision, threads: int = Threads, as_json: bool = Json,
):  # fmt: skip
    """Simulate many cases and write a table of what was measured in each.

    Exits with 1 where --errors keep has kept some. Ctrl-C keeps what came back, says how to go on and exits with 130.
    Example: tisim sweep friction.py --workers all
    """
    from . import sweep as cli_sweep

    return cli_sweep.sweep(console, file, out, resume, workers, errors, seed, csv, arch, precision, threads, as_json)


@app.command()
def render(
    source: str = Source, n: int = Number, param: list[str] = Param, sleep: bool = Sleep, dynamics: str = Dynamics,
    out: str = typer.Option(..., "--out", "-o", metavar="FILE", help="a .png, .webp or .jpg; of a "
                            "recording also a film: .mp4, .gif, .webp (with --time a picture)"),
    seconds: float = Seconds, until: float = Until, saved: str = From,
    size: str = Size, camera: str = View, color: str = Color, contacts: bool = Contacts, chains: bool = Chains,
    world: int = World,
    quality: str = Quality, lamps: int = Lamps,
    fps: int = typer.Option(None, "--fps", help="pictures of a recording's film per second; 30 by default"),
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds, as_json: bool = Json,
):  # fmt: skip
    """Draw a picture without a window, of the start or of the time that --time tells.

    Of a recording (`tisim run --record`) the last frame, that of --time, or a film of all.
    Example: tisim run wall --record wall.npz && tisim render wall.npz -o wall.webp
    """
    asked = types.SimpleNamespace(**locals())
    from . import draw

    return draw.render(console, asked)


@app.command()
def film(
    source: str = Source, n: int = Number, param: list[str] = Param, sleep: bool = Sleep, dynamics: str = Dynamics,
    out: str = typer.Option(..., "--out", "-o", metavar="FILE", help="the film: .mp4 (by ffmpeg, on PATH or of "
                            "the extra tisim\\[film]), .webp or .gif"),
    seconds: float = typer.Option(None, "--seconds", help="how long to simulate \\[s]; as `tisim run` by default"),
    until: float = Until, saved: str = From,
    size: str = typer.Option("", "--size", metavar="WxH", help="of the film \\[pixel]; 640x360 by default"),
    fps: int = typer.Option(None, "--fps", help="pictures per second; 30 by default"),
    speed: float = typer.Option(1.0, "--speed", help="simulated seconds in a second of the film; 0.25: slow motion"),
    camera: str = View, color: str = Color, contacts: bool = Contacts, chains: bool = Chains, world: int = World,
    quality: str = Quality, lamps: int = Lamps,
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds, as_json: bool = Json,
):  # fmt: skip
    """Make a film of a scene, a file or a recording, without a window; no other file is written.

    Pictures go to the encoder one by one. Ctrl-C finishes the film with what there is and exits with 130.
    Example: tisim film wall --n 60 -o wall.webp --seconds 2 --speed 0.5
    """
    asked = types.SimpleNamespace(**locals())
    from . import film as cli_film

    return cli_film.film(console, asked)


@app.command()
def export(
    source: str = Source, n: int = Number, param: list[str] = Param, sleep: bool = Sleep, dynamics: str = Dynamics,
    out: str = typer.Option(..., "--out", "-o", metavar="FILE", help="the file: .glb; .usda or .usdc (needs the "
                             "extra tisim\\[usd]); .rrd of Rerun (tisim\\[rerun])"),
    seconds: float = Seconds, until: float = Until, saved: str = From, world: int = World,
    group: int = typer.Option(2, "--group", help="geoms of groups up to this one"),
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds, as_json: bool = Json,
):  # fmt: skip
    """Write a scene for other programs, as .glb, for USD or for Rerun; of a recording with its motion.

    Ctrl-C ends the file with the frames, or at the time, that it got to and exits with 130.
    Example: tisim run wall --record wall.npz && tisim export wall.npz -o wall.glb
    """
    asked = types.SimpleNamespace(**locals())
    from . import draw

    return draw.export(console, asked)


@app.command()
def view(
    source: str = Source, n: int = Number, param: list[str] = Param, sleep: bool = Sleep, dynamics: str = Dynamics,
    seconds: float = typer.Option(None, "--seconds", help="time simulated before the window opens \\[s]"),
    until: float = Until, saved: str = From,
    size: str = Size, camera: str = View, color: str = Color, contacts: bool = Contacts, chains: bool = Chains,
    world: int = World,
    arch: str = Arch, precision: str = Precision, threads: int = Threads, nworld: int = Worlds,
    paused: bool = typer.Option(False, "--paused", help="time stands still until space is pressed"),
    caster: bool = typer.Option(None, "--caster/--raster", help="draw by rays of Taichi, or by Vulkan; without either, "
                                "as is quicker"),
    web: bool = typer.Option(False, "--web", help="show it on a page in a browser, perhaps of another machine, instead "
                             "of in a window"),
    pictures: bool = typer.Option(False, "--pictures", help="with --web: send pictures instead of shapes; needs no "
                                  "extra packages"),
    host: str = typer.Option("127.0.0.1", "--host", metavar="ADDRESS", help="with --web: where it listens; 0.0.0.0 "
                             "lets all that reach this machine look and steer"),
    port: int = typer.Option(8080, "--port", help="with --web: its port; 0 takes any"),
):  # fmt: skip
    """Open a window, or a page in a browser, and simulate in real time, or play a recording.

    Example: tisim view wall --dynamics lcp --paused
    """
    asked = types.SimpleNamespace(**locals())
    from . import draw

    return draw.view(console, asked)


@app.command()
def info(source: str = Source, n: int = Number, param: list[str] = Param, as_json: bool = Json):
    """Print what a model contains, its options, and what in it cannot be simulated.

    Example: tisim info pile --n 30
    """
    from . import info as cli_info

    cli_info.info(console, source, n, param, as_json)


@app.command("compile")
def compile_(
    source: str = Source,
    out: str = typer.Argument(..., metavar="OUT", help="what to write: .npz, compiled, or .xml, canonical MJCF"),
    n: int = Number, param: list[str] = Param,
    decompose: bool = typer.Option(False, "--decompose", help="let concave meshes collide as convex parts (needs the "
                                   "extra tisim\\[decompose])"),
    threshold: float = typer.Option(None, "--threshold", help="concavity that a part may keep, 0.01 to 1; implies "
                                    "--decompose"),
    overwrite: bool = typer.Option(False, "--overwrite", help="OUT may be the file that is compiled"),
    as_json: bool = Json,
):  # fmt: skip
    """Compile a model and save it: .npz loads without compiling, .xml is MJCF that compiles to the same model.

    Ctrl-C writes no file and exits with 130; convex parts of meshes that were found are kept for the next time.
    Example: tisim compile bowl.xml bowl_parts.xml --decompose
    """
    from . import compile as cli_compile

    return cli_compile.compile_file(console, source, out, n, param, as_json, decompose, threshold, overwrite)


@app.command()
def scenes(as_json: bool = Json):
    """List the scenes and their parameters.

    Example: tisim scenes --json
    """
    from tisim import scenes as registry

    if as_json:
        from . import report

        return report.print_json([dict(scene=name, shows=registry.about(name), parameters=registry.params(name))
                                  for name in registry.names()])  # fmt: skip
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("scene", "shows", "parameters"):
        table.add_column(title, header_style="bold")
    for name in registry.names():
        values = " ".join(f"{k}={v}" for k, v in registry.params(name).items())
        table.add_row(Text(name, "cyan"), registry.about(name), Text(values, "dim"))
    console.print(table)


@app.command()
def kernels(
    flow: bool = typer.Option(False, "--flow", help="what each of them reads and writes, stage by stage"),
    write: str = typer.Option(None, "--write", metavar="FILE", help="write that to a file"),
    build: bool = typer.Option(False, "--build", help="make the machine code of all of them, which goes into a wheel"),
    as_json: bool = Json,
):
    """List the kernels of a step and of the queries, in their order.

    Example: tisim kernels --flow
    """
    from . import kernels as cli_kernels

    if build:
        return cli_kernels.build(console, as_json)
    cli_kernels.kernels(console, flow, write, as_json)


@app.command()
def doctor(as_json: bool = Json):
    """Check the installation: backends, Vulkan, versions, kernel cache.

    Example: tisim doctor
    """
    from . import info as cli_info

    cli_info.doctor(console, as_json)


@app.command()
def completion(
    shell: str = typer.Argument(..., metavar="bash|zsh|fish", help="which shell"),
):
    """Print what a shell needs to complete commands, options and scenes.

    In a shell's start file: eval "$(tisim completion bash)", the same with zsh, or tisim completion fish | source
    Example: tisim completion bash
    """
    from . import completion as cli_completion

    typer.echo(cli_completion.completion(commands(), shell))


def commands():
    """dict name -> Command of click, in the order of their registration."""
    return typer.main.get_command(app).commands


ENDS = {"settle": "1 the time was out before all had settled, ", "sweep": "1 some cases failed and were kept, "}
for _command in app.registered_commands:
    _name = _command.name or _command.callback.__name__
    _command.epilog = f"Exit codes: 0 done, {ENDS.get(_name, '')}2 a mistake, told in one line, 130 stopped by Ctrl-C."


def complain(message):
    """Prints a mistake on one red line of the error stream."""
    line = " ".join(str(message).split())
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(f"tisim: {line}", "bold red"))


def complain_less(message, category, *place, **more):
    """Prints a Python warning for users on one line, without the place in the source that raised it."""
    if not issubclass(category, (UserWarning, RuntimeWarning)):
        return _show_warning(message, category, *place, **more)
    line = " ".join(str(message).split())
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(f"tisim: warning: {line}", "yellow"))


_show_warning = warnings.showwarning


def main(argv=None):
    """Runs the command line and ends the process: 0 done, 1 as ENDS says, 2 a mistake of the user, 130 Ctrl-C."""
    atexit.register(gc.freeze)  # else a third of a short command goes into searching what ends anyway
    argv = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in argv
    argv = [a for a in argv if a != "--debug"]
    code = 0
    if None in (sys.stdin, sys.stdout, sys.stderr):
        open_closed()
    for stream in (sys.stdout, sys.stderr):  # names may hold letters that a terminal has not
        if getattr(stream, "errors", None) == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings(), Output():
            warnings.showwarning = complain_less
            result = app(args=argv, prog_name="tisim", standalone_mode=False)
            sys.stdout.flush()  # while what does not get out is told
        code = int(result) if isinstance(result, int) else 0
        if code == 130 and type(result) is int:  # Typer's answer to Ctrl-C
            complain("interrupted")
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        code = 130
    except BrokenPipeError:
        pass
    except Exception as error:
        if debug:
            raise
        code = FAILED
        if isinstance(error, Error):
            complain(error)
        elif isinstance(error, OSError):
            complain(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else error)
        elif hasattr(error, "format_message"):  # a wrong option or argument
            from . import misuse

            if said := misuse.told(error, argv, commands()):
                complain(said)
        else:
            name = f"{type(error).__name__}: {error}"
            complain(f"unexpected {name}; please report it with the output of the same command and --debug")
    sys.exit(code)
