"""How an array of a Data is declared: names of lengths and the class Array; the arrays are in tisim/data/arrays/."""

import dataclasses
import math

from tisim.model.limits import CAPACITIES

# lengths that the stages set: name -> meaning
LENGTHS = dict(
    nbox="moving geoms with boxes of their own, bodies with many geoms, and the geoms of these",
    nplane="planes", nstatic="bounded static geoms", nlisted="different pairs of geoms that the model lists",
    nexclude="pairs of bodies that the model excludes", nworldplane="planes of all worlds",
    nworldgroup="bodies with many geoms of all worlds", nsortcount="blocks of the sort times values of a digit",
    nsortsum="blocks and stretches of these",
    nfound="places for what the threads of a sweep find", nccdreal="real numbers of all workers on convex shapes",
    nccdint="whole numbers of all workers on convex shapes", nray="rays of all worlds",
    nleafall="leaves of the rays' trees of all worlds", nnodeall="nodes of the rays' trees of all worlds",
    nreach="pairs of geoms that sensors of distances ask about", nreachall="the same in all worlds",
    nasked="sensors of distances",
    npartall="things sorted by owner at once, twice", npartcount="blocks of that sort times values of a digit",
    npicrecord="records of a picture", npicview="records in all views", npictile="tiles of a picture's views",
    npicorder="records in all views, twice", npicdigit="values of half a key, of all views",
    npicitem="entries of their lists", npiceye="views of a picture", npiclight="colours of its light",
    npictone="entries of the table of tones", npicsample="samples of a picture", npicblock="blocks of them",
    npicpress="contacts whose forces a picture shows", npicbody="bodies of its world", npictree="their trees",
    npicgeom="their geoms", npicink="colours of what a picture shows besides geoms", npicchunk="blocks of contacts",
    npichull="meshes, and one more", npicrim="edges of their hulls", npicplace="blocks of records times classes",
    npicpage="geoms that a page shows", npicbatch="their batches, and one more",
    npicclass="classes of records, and one more", npicshown="words of records that a window draws besides geoms",
    npicinstance="geoms that a window draws", npicextent="rows of boxes around blocks of these",
    npicdrawn="words of their records and shadow maps",
    npiclamp="rows of a lamp of a picture", npictex="textures of a picture", npictexel="their texels",
    nabreasthess="numbers of the Hessians that all workers make side by side", nabreastaxes="of their axes",
    nabreastbody="of their bodies' Hessians", nabreastdof="of their dofs", nabreasttree="of four trees abreast",
    nsmallX="numbers of Y of the small islands that all workers sweep over", nsmallA="of their matrices",
    nsmallvec="of their vectors",
    nlcppivot="numbers of the tableaus of all workers on small islands", nlcpbasis="unknowns of these",
    nvecall="numbers of a user's vectors of dofs, of all worlds",
)  # fmt: skip
ALL = "all"


@dataclasses.dataclass(frozen=True)
class Array:
    """One array: name, dtype, shape, role, unit, writing stage, meaning.

    dtype "f": the running precision; "w": f64 in f32, too, where the backend has it; "i": int32.
    role  "state" and "input": the user writes it; "computed": a stage writes it, users only read; "scratch": not
          shown to users; "stage": neither, and a reset leaves it, since its stage keeps something in it.
    element  numbers of an element, if these are not the last dimension.
    """

    name: str
    dtype: str
    shape: tuple
    role: str
    unit: str
    stage: str
    doc: str
    element: int = None

    @property
    def width(self):
        """Numbers of an element: `d.xpos[b]` is a vector of 3, `d.xmat[b]` a 3 x 3 matrix."""
        if self.element is not None:
            return self.element
        return self.shape[-1] if len(self.shape) > 1 and self.shape[0] != ALL else 1

    @property
    def rows(self):
        """Elements of one item: of contact_frame there are three, `d.contact_frame[c, r]`."""
        return max(1, math.prod(self.shape[1:]) // self.width) if self.shape[0] != ALL else 1

    @property
    def is_list(self):
        return self.shape[0] in CAPACITIES

    @property
    def is_shared(self):
        """True if there is one for all worlds."""
        return self.is_list or self.shape[0] in LENGTHS or self.shape[0] == ALL

    @property
    def hidden(self):
        return self.role in ("scratch", "stage")

    def dims(self, sizes):
        """Shape in numbers, without ALL; sizes maps a dimension's name to its value."""
        return tuple(s if isinstance(s, int) else int(sizes(s)) for s in self.shape if s != ALL)

    def size(self, sizes):
        return math.prod(self.dims(sizes))
