"""Data: the state, inputs and results of one or many worlds of a Model."""

import math

import numpy as np

from tisim.device import memory, runtime
from tisim.device.program import Program
from tisim.enums import mjtDisableBit, mjtSleepState
from tisim.errors import Error, FieldError, brief
from tisim.mjcf.format.names import nearest
from tisim.model.kinds import ALIASES
from tisim.model.watched import numbers
from tisim.mujoco_names import OF_DATA, instead

from . import (
    asleep,
    copying,
    diverged,
    given,
    jacobian,
    matrices,
    moments,
    on_demand,
    owed,
    scalars,  # noqa: F401  tells kernels what names mean
    varied,
)
from .arrays import DATA
from .declare import LENGTHS
from .device_array import Copy, DeviceArray
from .solver_stat import SolverStat
from .state import Warnings, reset
from .storage import Storage
from .timer import Timers
from .view import CONTACT_FIELDS, accessor, picked
from .view import FIELDS as DATA_VIEWS
from .world import World

MADE = moments.MADE | matrices.MADE  # what is made on the host when it is read
FAULTS = ("world", "reset", "freeze")  # what a diverging island brings about
# what stages use of a Data and users do not
INTERNAL = set(
    """bound capacity room check count counts_on_host device drop exceeds fill forget_counts grow is_fixed features
    keep_bound list_view on_host pay program scalar scratch set_counts shrink some""".split()
)


class Contact:
    """The contact list: fields of mujoco's mjContact as arrays of length ncon."""

    def __init__(self, data):
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name):
        if name in ("geom1", "geom2"):
            return self.geom[:, int(name[-1]) - 1]
        if "contact_" + name not in DATA:
            flex = name in ("H", "elem", "flex", "vert")
            hint = "; flexes are not part of tisim" if flex else nearest(name, CONTACT_FIELDS)
            raise FieldError(f"contact has no field {brief(name)}{hint}")
        return self._data.list_view("contact_" + name, "ncon")

    def __setattr__(self, name, value):
        raise Error(f"contact.{name} is computed by the collision stage; writing it would be lost")

    def __len__(self):
        return self._data.count("ncon")

    def __getitem__(self, index):
        """The contact at a place in the list, as a ContactView; for a slice a list of them."""
        return picked(self, index)

    def __dir__(self):
        return [*super().__dir__(), *CONTACT_FIELDS]

    def __repr__(self):
        try:
            return f"<contacts of a Data: {len(self)}>"
        except Error:
            return "<contacts of a Data, of an earlier tisim.init>"


class Data(Storage):
    """State, inputs and results of `nworld` worlds of one model.

    m       a tisim.Model.
    nworld  number of independent worlds; above 1 every array gains a leading axis of that length.
    capacity  lengths that lists have at first, by name (nconmax: contacts, ...); they grow where that is too little.
    A feature that the engine does not simulate is refused by the first call that would compute it.
    """

    def __init__(self, m, nworld=1, capacity=None):
        given.model(m)
        runtime.ensure()
        if not isinstance(nworld, (int, np.integer)) or nworld < 1:
            raise Error(f"nworld={brief(nworld)}: expected a positive integer")
        self._lay_out(m, int(nworld), capacity)
        self.program = Program(self)
        self._faults = "world"
        self._shared = 0  # bits of asleep.WRITTEN: arrays that others write without telling
        self._open = None  # names of what a callback that runs now may write
        self._checked = False  # whether the model was found simulable
        self._info = {}  # host-side numbers a stage keeps between steps
        self.contact = Contact(self)
        reset(m, self)

    def __copy__(self):
        """An independent Data of the same Model, which goes on to the same bits."""
        return copying.restored(self.model, copying.contents(self))

    def __deepcopy__(self, memo):
        """As __copy__, of the copy of the Model where that is copied, too, and was before."""
        d = memo[id(self)] = copying.restored(memo.get(id(self.model), self.model), copying.contents(self))
        return d

    def __reduce__(self):
        return copying.restored, (self.model, copying.contents(self))

    def host(self, name):
        """Copy of an array on the host, shaped (nworld, ...) or, if the worlds share it, as it is declared."""
        return self._shaped(DATA[name], memory.download(self.device(name)))

    def on_host(self, name):
        """The same; on a CPU the memory itself, where it is until the Data makes another in its place."""
        owed.asked(self, name)
        a = self.device(name)
        view = memory.host_view(a)
        return self._shaped(DATA[name], memory.download(a) if view is None else view)

    def _shaped(self, array, flat):
        """An array's numbers in the shape that `host` gives them."""
        if array.shape[0] in LENGTHS:
            return flat[: flat.size // (n := math.prod(array.shape[1:])) * n].reshape(-1, *array.shape[1:])
        dims = (() if array.is_shared else (self.nworld,)) + array.dims(self._size_of)
        return flat[: math.prod(dims)].reshape(dims)

    def list_view(self, name, count):
        """Read-only copy of the list `name`, as far as it is filled; count  the name of its length."""
        return Copy(DATA[name], self.host(name)[: self.count(count)]).array()

    @property
    def efc_J(self):
        """Jacobian of all constraint rows, contacts among them: a scipy.sparse.csr_array (nefc, nv), made when read.

        With several worlds (nefc, nworld * nv): dof k of world w is column w * nv + k. Rows stand as in efc_force.
        """
        return jacobian.constraint_jacobian(self.model, self)

    def __getattr__(self, name):
        if name.startswith("_") or name not in DATA:
            hint = "" if name[:1] == "_" else instead(name, OF_DATA) or nearest(name, dir(self))
            raise FieldError(f"Data has no field '{name}'{hint}")
        array = DATA[name]
        if array.hidden:
            raise FieldError(f"{name} is the {array.stage} stage's own and not for users; `host` copies it")
        on_demand.check(self.model, name, on_demand.hard(self))
        if name.startswith("efc_"):
            on_demand.rows(self.model, self)
            return self.list_view(name, "nefc")
        if name in on_demand.MADE:
            on_demand.MADE[name](self.model, self)
            host = self.host(name)
            return Copy(array, host[0] if self.nworld == 1 else host).array()
        if array.is_list:
            return self.list_view(name, "ncon")
        dims = array.dims(self._size_of)
        return DeviceArray(self, array, dims if self.nworld == 1 else (self.nworld, *dims))

    def __setattr__(self, name, value):
        made = *MADE, "ncon", "nefc", "nisland", "warning", "timer", "solver", "solver_niter", "solver_nnz", "efc_J"
        if name in made:
            raise Error(f"{name} is computed; writing it would be lost")
        elif name in DATA:
            getattr(self, name)[...] = value
        elif name == "faults":
            if value not in FAULTS:
                raise Error(f"faults={brief(value)}: expected one of {', '.join(map(repr, FAULTS))}")
            self._faults = value
        elif name == "time":
            value = numbers(value)
            self.world_time[...] = np.reshape(value, (-1, 1)) if np.ndim(value) else value
        elif name.startswith("_") or (name in ("model", "nworld", "contact", "program") and name not in self.__dict__):
            object.__setattr__(self, name, value)
        else:
            raise FieldError(f"Data has no field '{name}' that can be written{nearest(name, _fields())}")

    def __dir__(self):
        own = [n for kind in (Storage, Data) for n in vars(kind) if not n.startswith("_") and n not in INTERNAL]
        return sorted({*own, *_fields(), "model", "nworld", "contact", *(n for n in dir(object) if n[:2] == "__")})

    def __repr__(self):
        try:
            time = f"time {self.time:g}" if self.nworld == 1 else f"{self.nworld} worlds"
        except Error:
            time = "of an earlier tisim.init"
        return f"<tisim.Data of {self.model!r}: {time}>"

    @property
    def time(self):
        """Simulation time [s]: a float for one world, else (nworld,)."""
        return float(self.host("world_time")[0, 0]) if self.nworld == 1 else self.world_time[:, 0]

    @property
    def warning(self):
        """Warnings by mjtWarning, each with number and lastinfo (arrays over worlds if there are several)."""
        return Warnings(self)

    @property
    def diverged(self):
        """Bad states since the last reset by the user, a list of Diverged(world, quantity, index, joint, body, number):
        which number of qpos, qvel or qacc was not finite or too large in which world, and how often one was."""
        return diverged.found(self.model, self)

    def world(self, index):
        """World number `index` alone: its arrays and contacts with the shapes of a Data of one world, see World."""
        return World(self, index)

    def vary(self, field, values, worlds=None, seed=0):
        """Gives a field of the model a value of its own in each world, in the place of the model's from now on.

            d.vary("geom_friction", friction)  # (nworld, ngeom, 3); axes behind the first may be 1
            d.vary("geom_friction", lambda rng, value: value * rng.uniform(0.5, 1.5), seed=3)

        field   name of the Model's array.  values  an array with the worlds in front, a function of (a NumPy Generator,
                the model's array) for one world, or None: the model's values again.
        worlds  as in reset: those that get values; the others keep theirs.
        seed    for a function: a number, or one for each of these worlds. What a world draws follows from it, the
                field and the world's index alone.
        Masses, inertias, armature and frames bring along what follows from them, as set_const does, for each world:
        some milliseconds a world. Where worlds would then differ in a list or a tree of boxes, such as that of static
        geoms, UnsupportedError names it. A reset keeps what varies. World k is bit for bit what it would be alone,
        with these values in its model.
        Raises FieldError for a field that is the same in all worlds, ValuesError for values that do not fit.
        """
        varied.vary(self, field, values, worlds, seed)

    @property
    def varied(self):
        """dict field -> (nworld, ...) values of the fields that `vary` made differ between worlds, read-only."""
        return dict(self._varied)

    @property
    def timer(self):
        """Times of the stages by mjtTimer, taken while `d.timer.on`; see Timers."""
        return Timers(self)

    @property
    def ncon(self):
        """Number of listed contacts, per world if there are several."""
        if self.nworld == 1:
            return self.count("ncon")
        return np.bincount(self.contact.worldid, minlength=self.nworld)

    @property
    def nefc(self):
        """Number of constraint rows over all worlds."""
        return self.count("nefc")

    @property
    def nisland(self):
        """Number of constraint islands over all worlds; 0 if the island flag is disabled."""
        return 0 if self.model.disabled(mjtDisableBit.mjDSBL_ISLAND) else self.count("nisland")

    @property
    def solver(self):
        """Improvement and gradient of each round of the solver, noslip behind it: SolverStat."""
        return SolverStat(self)

    @property
    def faults(self):
        """What happens where a state or acceleration is not finite or too large: "world", the default, resets the world
        as MuJoCo does; "reset" puts back only the island of trees in which it arose; "freeze" stops that island.
        """
        return self._faults

    @property
    def body_awake(self):
        """(nbody,) mjtSleepState of each body: -1 static, 0 asleep, 1 awake; mocap bodies are awake. A leading axis for
        several worlds."""
        state = asleep.body_awake(self.model, self)
        return state[0] if self.nworld == 1 else state

    @property
    def body_present(self):
        """(nbody,) bool: bodies that were not removed (tisim.remove). A leading axis for several worlds."""
        present = asleep.body_present(self.model, self)
        return present[0] if self.nworld == 1 else present

    @property
    def nbody_awake(self):
        """Bodies that do not sleep, static ones among them, per world if there are several."""
        return self._awake(asleep.body_awake(self.model, self) != mjtSleepState.mjS_ASLEEP)

    @property
    def ntree_awake(self):
        """Kinematic trees that are awake, per world if there are several."""
        return self._awake(self.host("tree_asleep") < 0)

    @property
    def nv_awake(self):
        """Degrees of freedom of the trees that are awake, per world if there are several."""
        return self._awake((self.host("tree_asleep") < 0) * np.asarray(self.model.tree_dofnum))

    def _awake(self, numbers):
        """Sums of numbers over each world."""
        sums = numbers.sum(axis=1)
        return int(sums[0]) if self.nworld == 1 else sums

    @property
    def solver_niter(self):
        """Solver iterations of each island."""
        return self.host("island_niter").reshape(-1)[: self.count("nisland")]

    @property
    def solver_nnz(self):
        """Numbers in the matrix that each island's solver made: dofs^2 for a dense factor, those of the blocks of a
        sparse one, both triangles; of PGS those of J L^-1 D^-1/2. 0 where there is none."""
        return self.host("island_nnz").reshape(-1)[: self.count("nisland")]


def _fields():
    """Names of the arrays that users see."""
    return [name for name, array in DATA.items() if not array.hidden]


for _name, _make in MADE.items():
    setattr(Data, _name, property(lambda d, make=_make: make(d.model, d), doc=_make.__doc__))
for _word in DATA_VIEWS:
    setattr(Data, _word, accessor(_word))
for _alias in ("jnt", "cam"):
    setattr(Data, _alias, getattr(Data, ALIASES[_alias]))
