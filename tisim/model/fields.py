"""The arrays of a Model, each declared once: size of the first axis, dtype, columns, and what an index may be.

Names, shapes and dtypes are mjModel's. A word of the table is `name:type`, where type is d (float64), f (float32), i
(int32) or b (uint8), then the number of columns or the size they follow, then for an index `<size` (0 .. size-1) or
`?size` (-1 allowed). A line begins with the size of its arrays and, after a slash, the prefix of their names.
"""

import numpy as np

TABLE = """
nq/         qpos0:d qpos_spring:d
nbody/body_ parentid:i<nbody rootid:i<nbody weldid:i<nbody mocapid:i?nmocap jntnum:i jntadr:i?njnt dofnum:i
    dofadr:i?nv treeid:i?ntree geomnum:i geomadr:i?ngeom simple:b sameframe:b pos:d3 quat:d4 ipos:d3 iquat:d4 mass:d
    subtreemass:d inertia:d3 invweight0:d2 gravcomp:d margin:d contype:i conaffinity:i plugin:i user:d*nuser_body
njnt/jnt_   type:i qposadr:i<nq dofadr:i<nv bodyid:i<nbody group:i limited:b actfrclimited:b actgravcomp:b solref:d2
    solimp:d5 pos:d3 axis:d3 stiffness:d range:d2 actfrcrange:d2 margin:d user:d*nuser_jnt
nv/dof_     bodyid:i<nbody jntid:i<njnt parentid:i?nv treeid:i<ntree Madr:i<nM simplenum:i solref:d2 solimp:d5
    frictionloss:d armature:d damping:d invweight0:d M0:d length:d
nv/M_       rownnz:i rowadr:i<nC
nC/M_       colind:i<nv
ntree/tree_ bodyadr:i<nbody bodynum:i dofadr:i?nv dofnum:i sleep_policy:i
ngeom/geom_ type:i contype:i conaffinity:i condim:i bodyid:i<nbody dataid:i matid:i?nmat group:i priority:i plugin:i
    sameframe:b solmix:d solref:d2 solimp:d5 size:d3 aabb:d6 rbound:d pos:d3 quat:d4 friction:d3 margin:d gap:d
    fluid:d12 user:d*nuser_geom rgba:f4
nsite/site_ type:i bodyid:i<nbody matid:i?nmat group:i sameframe:b size:d3 pos:d3 quat:d4 user:d*nuser_site rgba:f4
ncam/cam_   mode:i bodyid:i<nbody targetbodyid:i?nbody pos:d3 quat:d4 poscom0:d3 pos0:d3 mat0:d9 orthographic:i fovy:d
    ipd:d resolution:i2 sensorsize:f2 intrinsic:f4 user:d*nuser_cam
nlight/light_ mode:i bodyid:i<nbody targetbodyid:i?nbody type:i texid:i?ntex castshadow:b bulbradius:f intensity:f
    range:f active:b pos:d3 dir:d3 poscom0:d3 pos0:d3 dir0:d3 attenuation:f3 cutoff:f exponent:f ambient:f3 diffuse:f3
    specular:f3
nmesh/mesh_ vertadr:i vertnum:i faceadr:i facenum:i normaladr:i normalnum:i texcoordadr:i texcoordnum:i
    graphadr:i?nmeshgraph scale:d3 pos:d3 quat:d4 polynum:i polyadr:i
nmeshvert/mesh_ vert:f3 polymapadr:i polymapnum:i
nmeshnormal/mesh_ normal:f3
nmeshtexcoord/mesh_ texcoord:f2
nmeshface/mesh_ face:i3<nmeshvert facenormal:i3 facetexcoord:i3
nmeshgraph/mesh_ graph:i
nmeshpoly/mesh_ polynormal:d3 polyvertadr:i polyvertnum:i
nmeshpolyvert/mesh_ polyvert:i<nmeshvert
nmeshpolymap/mesh_ polymap:i<nmeshpoly
nskin/skin_ matid:i?nmat group:i rgba:f4 inflate:f vertadr:i vertnum:i texcoordadr:i?nskintexvert faceadr:i facenum:i
    boneadr:i bonenum:i
nskinvert/skin_ vert:f3
nskintexvert/skin_ texcoord:f2
nskinface/skin_ face:i3<nskinvert
nskinbone/skin_ bonevertadr:i bonevertnum:i bonebindpos:f3 bonebindquat:f4 bonebodyid:i<nbody
nskinbonevert/skin_ bonevertid:i<nskinvert bonevertweight:f
nhfield/hfield_ size:d4 nrow:i ncol:i adr:i<nhfielddata
nhfielddata/hfield_ data:f
ntex/tex_   type:i colorspace:i height:i width:i nchannel:i adr:i
ntexdata/tex_ data:b
nmat/mat_   texid:i10?ntex texuniform:b texrepeat:f2 emission:f specular:f shininess:f reflectance:f metallic:f
    roughness:f rgba:f4
npair/pair_ dim:i geom1:i<ngeom geom2:i<ngeom signature:i solref:d2 solreffriction:d2 solimp:d5 margin:d gap:d
    friction:d5
nexclude/exclude_ signature:i
neq/eq_     type:i obj1id:i obj2id:i objtype:i active0:b solref:d2 solimp:d5 data:d11
ntendon/tendon_ adr:i<nwrap num:i matid:i?nmat group:i limited:b actfrclimited:b width:d solref_lim:d2 solimp_lim:d5
    solref_fri:d2 solimp_fri:d5 range:d2 actfrcrange:d2 margin:d stiffness:d damping:d armature:d frictionloss:d
    lengthspring:d2 length0:d invweight0:d treenum:i treeid:i2 user:d*nuser_tendon rgba:f4
nwrap/wrap_ type:i objid:i prm:d
nu/actuator_ trntype:i dyntype:i gaintype:i biastype:i trnid:i2 actadr:i?na actnum:i group:i ctrllimited:b
    forcelimited:b actlimited:b dynprm:d10 gainprm:d10 biasprm:d10 actearly:b ctrlrange:d2 forcerange:d2 actrange:d2
    gear:d6 cranklength:d acc0:d length0:d lengthrange:d2 user:d*nuser_actuator plugin:i
nsensor/sensor_ type:i datatype:i needstage:i objtype:i objid:i reftype:i refid:i intprm:i3 dim:i adr:i cutoff:d noise:d
    user:d*nuser_sensor plugin:i
nnumeric/numeric_ adr:i size:i
nnumericdata/numeric_ data:d
ntext/text_ adr:i size:i
ntextdata/text_ data:b
ntuple/tuple_ adr:i size:i
ntupledata/tuple_ objtype:i objid:i objprm:d
nkey/key_   time:d qpos:d*nq qvel:d*nv act:d*na mpos:d*3nmocap mquat:d*4nmocap ctrl:d*nu
"""

# what places follow from: kernels have it in f64, in f32, too (dtype "w" of tisim/data/declare.py)
WIDE = """qpos0 body_pos body_quat jnt_pos jnt_axis geom_size mesh_polynormal hfield_size""".split()
DTYPES = {"d": np.float64, "f": np.float32, "i": np.int32, "b": np.uint8}


class Field:
    """One array: size (name of its length), dtype, columns (a number, a size name, or None), index, optional.

    index  name of the size that its values index, or None;  optional  True where -1 stands for none.
    """

    __slots__ = ("name", "size", "dtype", "columns", "index", "optional")

    def __init__(self, name, size, kind):
        self.name, self.size, self.dtype = name, size, np.dtype(DTYPES[kind[0]])
        self.optional = "?" in kind
        width, _, index = kind[1:].replace("?", "<").partition("<")
        self.index = index or None
        self.columns = None if not width else width[1:] if width.startswith("*") else int(width)

    @property
    def kind(self):
        """Its dtype as kernels see it: see tisim/data/declare.py."""
        return "i" if self.dtype.kind != "f" else "w" if self.name in WIDE else "f"

    @property
    def width(self):
        """Numbers of an element, as kernels see it."""
        return self.columns if isinstance(self.columns, int) else 1

    def shape(self, sizes):
        """Shape in a model of these sizes (dict name -> int)."""
        n = sizes[self.size]
        if self.columns is None:
            return (n,)
        if isinstance(self.columns, int):
            return (n, self.columns)
        times, name = (int(self.columns[0]), self.columns[1:]) if self.columns[0].isdigit() else (1, self.columns)
        return (n, times * sizes[name])


def _read():
    fields = {}
    for line in TABLE.replace("\n    ", " ").strip().split("\n"):
        head, *words = line.split()
        size, _, prefix = head.partition("/")
        for word in words:
            name, _, kind = word.partition(":")
            fields[prefix + name] = Field(prefix + name, size, kind)
    return fields


FIELDS = _read()
# whole numbers that users may write; all others are the structure of the model, from which much is made
EDITABLE = set(
    """body_contype body_conaffinity jnt_group jnt_limited jnt_actfrclimited jnt_actgravcomp geom_type geom_contype
    geom_conaffinity geom_condim geom_dataid geom_matid geom_group geom_priority geom_sameframe site_type site_matid
    site_group site_sameframe cam_mode cam_targetbodyid cam_orthographic cam_resolution light_mode light_targetbodyid
    light_type light_texid light_castshadow light_active skin_matid skin_group tex_colorspace tex_data mat_texid
    mat_texuniform pair_dim pair_geom1 pair_geom2 pair_signature exclude_signature eq_active0 tendon_matid tendon_group
    tendon_limited tendon_actfrclimited actuator_group actuator_ctrllimited actuator_forcelimited actuator_actlimited
    actuator_actearly sensor_intprm text_data tree_sleep_policy""".split()
)
FIXED = {name for name, field in FIELDS.items() if field.dtype.kind != "f" and name not in EDITABLE}
# sizes that are the length of an array: the first one declared with that size
COUNTED = {field.size: name for name, field in reversed(list(FIELDS.items()))}
"""dict size -> name of an array that has this length."""


def complete(arrays, sizes):
    """(arrays, sizes) with every array of the table, in its order, and every size that follows from the arrays.

    An array that is missing has no rows. Raises KeyError for an array that the table does not know.
    """
    unknown = set(arrays) - set(FIELDS)
    if unknown:
        raise KeyError(f"arrays without a declaration in model/fields.py: {sorted(unknown)}")
    sizes = dict(sizes)
    for size, name in COUNTED.items():
        lengths = [len(arrays[n]) for n, f in FIELDS.items() if f.size == size and n in arrays]
        sizes[size] = lengths[0] if lengths else 0
    sizes["nmocap"] = int((arrays["body_mocapid"] >= 0).sum())
    sizes["ngravcomp"] = int((arrays["body_gravcomp"] > 0).sum())
    sizes["na"] = int(arrays["actuator_actnum"].sum()) if "actuator_actnum" in arrays else 0
    sizes["nsensordata"] = int(arrays["sensor_dim"].sum()) if "sensor_dim" in arrays else 0
    sizes.setdefault("nM", 0)
    sizes.setdefault("nC", 0)
    for word in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor"):
        sizes.setdefault(f"nuser_{word}", 0)
    out = {}
    for name, field in FIELDS.items():
        out[name] = arrays[name] if name in arrays else np.zeros(field.shape(sizes), field.dtype)
    return out, sizes


def wrong(arrays, sizes):
    """What is wrong with arrays that were read from a file, as text, or None: names, dtypes, shapes."""
    for name, field in FIELDS.items():
        array = arrays.get(name)
        if array is None:
            return f"the array {name} is missing"
        if array.dtype != field.dtype:
            return f"{name} has dtype {array.dtype}, expected {field.dtype}"
        if array.shape != field.shape(sizes):
            return f"{name} has shape {array.shape}, expected {field.shape(sizes)}"
    return None
