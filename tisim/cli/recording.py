"""What a step launches, recorded without running it: the order of kernels as the stages themselves give it.

`launch.run` is replaced by a recorder that runs nothing and then says that every list has one item, so that the stages
take every road they have: islands that are small and large, a search for pairs, lists sorted by one thread and by all.
"""

import contextlib
import itertools
import pathlib
import sys

import numpy as np

from tisim.data.arrays import COUNTS, DATA
from tisim.data.arrays.collision import SCALES
from tisim.data.data import Data
from tisim.device import launch, memory, runtime
from tisim.device.bundle import Arguments
from tisim.enums import mjtEnableBit, mjtIntegrator, mjtSolver
from tisim.model import features, lcp, simulable
from tisim.model.model import Model

# a model with every shape, joint and row, a body with many geoms, and enough geoms for the tree of rays
MODEL = """<mujoco>
  <option iterations="1" ls_iterations="1" density="1">
    <flag energy="enable" multiccd="enable" override="enable" sleep="enable"/>
  </option>
  <asset>
    <hfield name="hills" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 1 0"/>
    <mesh name="gem" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .1 .1 .1"/>
    <mesh name="pad" builtin="plate" params="2 2"/>
    <texture name="dots" builtin="checker" width="2" height="2"/><material name="dots" texture="dots"/>
  </asset>
  <worldbody>
    <light/><geom type="plane" size="1 1 .1" material="dots"/><site name="a"/><camera name="eye" resolution="2 2"/>
    <geom type="hfield" hfield="hills"/>
    <body><freejoint/><replicate count="32" offset="1 0 0"><geom size=".1"/></replicate></body>
    <body name="body">
      <joint name="hinge" type="hinge" range="0 10" limited="true" frictionloss="1" damping="1"
        actuatorfrcrange="-1 1"/>
      <site name="b" pos="1 0 0"/><geom name="ball" size=".1"/><geom type="capsule" size=".1 .1"/>
      <geom type="box" size=".1 .1 .1"/>
      <geom type="cylinder" size=".1 .1"/><geom type="ellipsoid" size=".1 .1 .1"/><geom type="mesh" mesh="gem"/>
    </body>
    <body><joint name="other" type="hinge"/><geom size=".1"/></body>
  </worldbody>
  <tendon>
    <fixed name="fixed" range="0 1" limited="true" frictionloss="1" stiffness="1" damping="1" actuatorfrclimited="true"
      actuatorfrcrange="-1 1"><joint joint="hinge" coef="1"/></fixed>
    <fixed range="0 1" limited="true"><joint joint="hinge" coef="1"/><joint joint="other" coef="1"/></fixed>
    <spatial armature="1"><site site="a"/><site site="b"/></spatial>
    <spatial name="spatial"><site site="a"/><geom geom="ball"/><site site="b"/></spatial>
  </tendon>
  <equality><weld body1="body"/><joint joint1="hinge"/><tendon tendon1="fixed"/></equality>
  <actuator>
    <motor joint="hinge"/><muscle tendon="spatial" lengthrange="0 1"/><intvelocity tendon="fixed" actrange="-1 1"/>
    <motor site="a" refsite="b"/><motor cranksite="a" slidersite="b" cranklength="3"/>
    <adhesion body="body" ctrlrange="0 1"/>
  </actuator>
  <sensor>
    <jointpos joint="hinge" cutoff="1"/><jointvel joint="hinge"/><jointactuatorfrc joint="hinge"/><user dim="1"/>
    <framepos objtype="camera" objname="eye"/><camprojection site="a" camera="eye"/><gyro site="b"/>
    <accelerometer site="b"/><force site="b"/><subtreelinvel body="body"/><jointlimitpos joint="hinge"/>
    <jointlimitvel joint="hinge"/><tendonlimitfrc tendon="fixed"/><e_kinetic/>
    <touch site="b"/><contact body1="body"/><contact site="a"/><rangefinder site="a"/>
    <insidesite site="a" objtype="site" objname="b"/>
    <distance body1="world" body2="body"/><tactile geom="ball" mesh="pad"/>
  </sensor>
</mujoco>"""
# whether lists are long, and options: between them they take every road of the solvers
ROADS = (
    (False, {}), (True, {}), (False, dict(solver=mjtSolver.mjSOL_CG)),
    (False, dict(solver=mjtSolver.mjSOL_PGS, noslip_iterations=1)),
)  # fmt: skip
HOST = "host"  # what Python writes between launches
INPUTS = ("state", "input")  # roles of arrays that the user may write


class Step:
    """A kernel of a stage, or what Python writes there.

    kernel   the Kernel, None for Python;  variants  arguments of its serial and its parallel variant, for all models.
    needs    names of what it reads before it writes it, in the order of the source;  writes  names of what it writes.
    model    names of the model's arrays that it reads.
    sources  where what it needs comes from -> names: the stage that wrote it last, "above" for its own, "state" and
             "input", "host", "itself", "last step" for a later kernel, "nobody".
    """

    def __init__(self, kernel, writes=()):
        self.kernel, self.writes, self.needs, self.model, self.sources = kernel, set(writes), set(), set(), {}
        self.variants = [Arguments(kernel.special(parallel)) for parallel in (False, True)] if kernel else []
        for v in self.variants:
            self.needs |= _lists(v.flow.needs)
            self.writes |= _lists(v.flow.writes)
            self.model |= {path[2:] for path, name in v.paths.items() if path.startswith("m.") and name.is_array}

    @property
    def name(self):
        return self.kernel.__name__ if self.kernel else HOST

    @property
    def file(self):
        """File of the kernel below kernels/."""
        path = pathlib.Path(self.kernel.function.__code__.co_filename)
        return path.relative_to(pathlib.Path(runtime.module("types").__file__).parent).as_posix()

    @property
    def arguments(self):
        """How many arguments the compiled kernel takes, arrays and numbers."""
        return max(len(v.entries) + len(v.own) for v in self.variants)


def _lists(paths):
    """Names of the arrays of the data, and of numbers that stand in them."""
    names = {p[2:] for p in paths if p.startswith("d.")}
    return {n for n in names if n in DATA or n in COUNTS or n in SCALES}


def record():
    """{stage: (first line of its docstring, [Step])} of a step and of the queries, in their order."""
    runtime.init(arch="cpu")
    stages = {}
    for wide, options in ROADS:
        events = _Recorder(wide, options).events
        _find_sources(events)
        _merge(stages, events)
    *others, rk4 = (mjtIntegrator.mjINT_IMPLICIT, mjtIntegrator.mjINT_IMPLICITFAST, mjtIntegrator.mjINT_RK4)
    for integrator in (*others, rk4):
        flags = int(mjtEnableBit.mjENBL_FWDINV) * (integrator == rk4)
        events = _Recorder(False, dict(integrator=integrator), flags).events
        _find_sources(events)
        _merge(stages, [event for event in events if event[0].startswith(("integrators.", "inverse."))])
    for order, joints, wide in itertools.product(("colour", "ode"), (True, False), (False, True)):
        if wide and order == "ode":
            continue
        events = _Recorder(wide, dict(dynamics="lcp"), order=order, joints=joints).events
        _find_sources(events)
        _merge(stages, [(*names, step) for *names, step in events if step.kernel and step.file.startswith("lcp/")])
        _merge(stages, [event for event in events if event[0].startswith("lcp.") and not event[2].kernel])
    for integrator in (mjtIntegrator.mjINT_EULER, *others):
        flags = int(mjtEnableBit.mjENBL_INVDISCRETE)
        events = _Recorder(False, dict(integrator=integrator), flags, inverse=True).events
        _find_sources(events)
        _merge(stages, [event for event in events if event[0].startswith(("inverse.", "sensor.", "dynamics.energy"))])
    return stages


def _find_sources(events):
    """Finds for each step who wrote what it needs."""
    later = {name for _, _, step in events for name in step.writes}
    written = {}
    for stage, _, step in events:
        for name in step.needs:
            source = written.get(name)
            if source is None and name in DATA and DATA[name].role in INPUTS:
                source = DATA[name].role
            elif source is None:
                source = "itself" if name in step.writes else "last step" if name in later else "nobody"
            step.sources.setdefault("above" if source == stage else source, set()).add(name)
        writer = stage if step.kernel else HOST
        written.update(dict.fromkeys(step.writes, writer))
        if not step.writes.isdisjoint(COUNTS):
            written["counts"] = writer  # the array that they stand in


def _merge(stages, events):
    """Adds the events to the stages; a step that is new there stands behind those before it, Python's first of all."""
    reached = {}  # stage -> place behind the last of the steps so far
    for stage, doc, step in events:
        known = stages.setdefault(stage, (doc, []))[1]
        same = next((k for k in known if k.name == step.name), None)
        if same is None:
            known.insert(reached.get(stage, 0) if step.kernel else 0, step)
        else:
            same.writes |= step.writes
            for source, names in step.sources.items():
                same.sources.setdefault(source, set()).update(names)
        place = known.index(same or step) + 1
        reached[stage] = max(place, reached.get(stage, 0) + (same is None))


class _Recorder:
    """Takes one step with these options and flags and asks all queries. wide: as on a GPU, lists are sorted in passes
    and large islands solved phase by phase; inverse: takes inverse dynamics instead, energies for sensors alone; order,
    joints: what the second dynamics is chosen by."""

    def __init__(self, wide, options, flags=0, inverse=False, order="colour", joints=True):
        from tisim import pipeline
        from tisim.stages import abreast, solver, sorting
        from tisim.stages import lcp as second
        from tisim.viewer import caster, overlays

        self.events = []  # (stage, first line of its docstring, Step)
        self.model = m = Model.from_xml_string(MODEL)
        self.inverse = inverse
        colour = order == "colour"
        m.lcp.take(dict(order=order, accelerate=colour, direct=8 * (colour and not joints)))
        for name, value in options.items():
            setattr(m.opt, name, value)
        m.opt.enableflags = (int(m.opt.enableflags) | flags) & ~(int(mjtEnableBit.mjENBL_ENERGY) * inverse)
        self.data = Data(m)
        self._upload, self._fill = memory.upload, memory.fill
        with contextlib.ExitStack() as changes:
            for place, name, value in (
                (launch, "run", self.run), (memory, "upload", self.upload), (memory, "fill", self.fill),
                (Data, "set_counts", lambda d, **counts: self.add(Step(None, counts))),
                (sorting, "shared", lambda: wide), (solver, "queued", lambda: wide), (second, "queued", lambda: wide),
                (pipeline, "validate", lambda m, d: None), (simulable, "check_sleep", lambda m: None),
                (lcp, "refuse", lambda m: None), (lcp, "jointed", lambda m: joints), (features, "PACKED", 1),
                (solver, "side_by_side", lambda m, d: not wide),
                (abreast, "in_loops", lambda m, d: not wide and not options),
                (caster.Caster, "_on_edges", lambda self, ntile: np.ones(ntile, np.int32)),
                (overlays.Overlays, "_chosen", lambda self, blocks: 1),
            ):  # fmt: skip
                changes.callback(setattr, place, name, getattr(place, name))
                setattr(place, name, value)
            self.ask()

    def ask(self):
        """Whatever a user may call that launches kernels."""
        from tisim import pipeline
        from tisim.data import on_demand
        from tisim.queries import distance, inertia, rays
        from tisim.viewer import Camera, measures, offscreen, raster, scene
        from tisim.viewer.browser.page import Page

        m, d = self.model, self.data
        d._checked = True  # what is made ready before the first step is no part of it
        if self.inverse:
            pipeline.inverse(m, d)
            return
        pipeline.step(m, d)
        on_demand.rows(m, d)
        on_demand.accelerations(m, d)
        for act in (inertia.mul_m, inertia.mul_m2, inertia.solve_m, inertia.solve_m2):
            act(m, d, [1.0] * m.nv)
        inertia.rne(m, d)
        rays.multi_ray(m, d, [0, 0, 1], [[0, 0, -1]] * 9)
        distance.geom_distance(m, d, [1, m.ngeom - 2], [2, m.ngeom - 1], 1.0)
        offscreen.render(m, d, 8, 8, Camera(), show_contacts=True)
        offscreen.render(m, d, 8, 8, Camera(), quality="model")
        shown = raster.ready(m, d, Camera())
        shown.paint_state(d, 0, "speed")
        for look in scene.everything():
            shown.adorn(d, 0, look)
        Page(m, range(m.ngeom), (0, m.ngeom)).find(d, 0, "geom")
        for mode in ("island", "force"):
            measures.color_bytes(m, d, 0, mode)
        measures.touching(m, d, 0, 1)

    def add(self, step):
        """Notes a step under its stage: the function that was called by tisim.pipeline, or by `ask`."""
        frame = sys._getframe(1)
        while frame.f_back.f_globals["__name__"] != "tisim.pipeline" and frame.f_back.f_code is not self.ask.__code__:
            frame = frame.f_back
        module, code = frame.f_globals["__name__"].rpartition(".")[2], frame.f_code
        self.events.append((f"{module}.{code.co_name}", code.co_consts[0].splitlines()[0], step))

    def run(self, m, d, kernels, parallel=True, **scalars):
        for kernel in kernels:
            self.add(Step(kernel))
        memory.host_view(d.device("counts"))[:] = 1

    def upload(self, array, values, first=0):
        self._upload(array, values, first)
        self.host(array)

    def fill(self, array, value):
        self._fill(array, value)
        self.host(array)

    def host(self, array):
        """Notes that Python writes an array, if it is one of the data's and not just being made."""
        names = [name for name, a in self.data._device.items() if a is array]
        if names:
            self.add(Step(None, names))
