"""The grammar of MJCF as one table: which elements stand where, with which attributes of which type.

The table is MuJoCo 3.4.0's (`mj_printSchema`). Each line names an element, its depth shown by the indentation, then
its attributes; `|` continues a line. Before the name, `~` marks an element that tisim knows and refuses; after it, `?`
marks one that may stand only once in its parent. An attribute is `name:kind`, with `!` where it is required:

    text             any string             int, int2, ints   one, two or any number of integers
    3                exactly 3 numbers      ..3               1 to 3 numbers, the rest keep their default
    *                any number of numbers  =list             a word of the keyword list
    (no kind)        not looked into: only in refused elements

attribute.py has the kinds and the keyword lists. To support a refused element, take its `~` away, give every attribute
its kind, and compile it.
"""

from .attribute import Attribute

TABLE = """
  compiler          alignfree:=bool angle:=angle assetdir:text autolimits:=bool balanceinertia:=bool boundinertia:1
      | boundmass:1 coordinate:=coordinate discardvisual:=bool eulerseq:text fitaabb:=bool fusestatic:=bool
      | inertiafromgeom:=tri inertiagrouprange:int2 meshdir:text saveinertial:=bool settotalmass:1 strippath:=bool
      | texturedir:text usethread:=bool
    lengthrange?    accel:1 interval:1 inttotal:1 maxforce:1 mode:=lrmode timeconst:1 timestep:1 tolrange:1
        | useexisting:=bool uselimit:=bool
  option            actuatorgroupdisable:ints ccd_iterations:int ccd_tolerance:1 cone:=cone density:1 gravity:3
      | impratio:1 integrator:=integrator iterations:int jacobian:=jacobian ls_iterations:int ls_tolerance:1
      | magnetic:3 noslip_iterations:int noslip_tolerance:1 o_friction:..5 o_margin:1 o_solimp:..5 o_solref:..2
      | sdf_initpoints:int sdf_iterations:int sleep_tolerance:1 solver:=solver timestep:1 tolerance:1 viscosity:1
      | wind:3
    flag?           actuation:=enable autoreset:=enable clampctrl:=enable constraint:=enable contact:=enable
        | damper:=enable energy:=enable equality:=enable eulerdamp:=enable filterparent:=enable frictionloss:=enable
        | fwdinv:=enable gravity:=enable invdiscrete:=enable island:=enable limit:=enable midphase:=enable
        | multiccd:=enable nativeccd:=enable override:=enable refsafe:=enable sensor:=enable sleep:=enable
        | spring:=enable warmstart:=enable
  size              memory:text nconmax:int njmax:int nkey:int nstack:int nuser_actuator:int nuser_body:int
      | nuser_cam:int nuser_geom:int nuser_jnt:int nuser_sensor:int nuser_site:int nuser_tendon:int nuserdata:int
  visual
    global?         azimuth:1 bvactive:=bool cameraid:int elevation:1 ellipsoidinertia:=bool fovy:1 glow:1 ipd:1
        | linewidth:1 offheight:int offwidth:int orthographic:=bool realtime:1
    quality?        numquads:int numslices:int numstacks:int offsamples:int shadowsize:int
    headlight?      active:int ambient:3 diffuse:3 specular:3
    map?            actuatortendon:1 alpha:1 fogend:1 fogstart:1 force:1 haze:1 shadowclip:1 shadowscale:1
        | stiffness:1 stiffnessrot:1 torque:1 zfar:1 znear:1
    scale?          actuatorlength:1 actuatorwidth:1 camera:1 com:1 connect:1 constraint:1 contactheight:1
        | contactwidth:1 forcewidth:1 framelength:1 framewidth:1 frustum:1 jointlength:1 jointwidth:1 light:1
        | selectpoint:1 slidercrank:1
    rgba?           actuator:4 actuatornegative:4 actuatorpositive:4 bv:4 bvactive:4 camera:4 com:4 connect:4
        | constraint:4 contactforce:4 contactfriction:4 contactgap:4 contactpoint:4 contacttorque:4 crankbroken:4
        | fog:4 force:4 frustum:4 haze:4 inertia:4 joint:4 light:4 rangefinder:4 selectpoint:4 slidercrank:4
  statistic         center:3 extent:1 meaninertia:1 meanmass:1 meansize:1
  default           class:text
    mesh?           inertia:=meshinertia maxhullvert:int scale:3
    material?       emission:1 metallic:1 reflectance:1 rgba:4 roughness:1 shininess:1 specular:1 texrepeat:2
        | texture:text texuniform:=bool
      layer texture:text! role:=texrole!
    joint?          type:=joint actuatorfrclimited:=tri actuatorfrcrange:2 actuatorgravcomp:=bool armature:1 axis:3
        | damping:1 frictionloss:1 group:int limited:=tri margin:1 pos:3 range:2 ref:1 solimpfriction:..5
        | solimplimit:..5 solreffriction:..2 solreflimit:..2 springdamper:2 springref:1 stiffness:1 user:*
    geom?           type:=geom conaffinity:int condim:int contype:int density:1 fitscale:1 fluidcoef:..5
        | fluidshape:=fluid friction:..3 fromto:6 gap:1 group:int hfield:text margin:1 mass:1 material:text
        | mesh:text pos:3 priority:int rgba:4 shellinertia:=bool size:..3 solimp:..5 solmix:1 solref:..2 user:*
        | $orient
    site?           type:=geom fromto:6 group:int material:text pos:3 rgba:4 size:..3 user:* $orient
    camera?         focal:2 focalpixel:2 fovy:1 ipd:1 mode:=camlight orthographic:=bool pos:3 principal:2
        | principalpixel:2 resolution:2 sensorsize:2 user:* $orient
    light?          type:=light active:=bool ambient:3 attenuation:3 bulbradius:1 castshadow:=bool cutoff:1
        | diffuse:3 dir:3 directional:=bool exponent:1 intensity:1 mode:=camlight pos:3 range:1 specular:3
    pair?           condim:int friction:..5 gap:1 margin:1 solimp:..5 solref:..2 solreffriction:..2
    equality?       active:=bool solimp:..5 solref:..2
    tendon?         damping:1 frictionloss:1 group:int limited:=tri margin:1 material:text range:2 rgba:4
        | solimpfriction:..5 solimplimit:..5 solreffriction:..2 solreflimit:..2 springlength:..2 stiffness:1 user:*
        | width:1
    general?        actdim:int actearly:=bool actlimited:=tri actrange:2 biasprm:..10 biastype:=bias cranklength:1
        | ctrllimited:=tri ctrlrange:2 dynprm:..10 dyntype:=dyn forcelimited:=tri forcerange:2 gainprm:..10
        | gaintype:=gain gear:..6 group:int user:*
    motor?          cranklength:1 ctrllimited:=tri ctrlrange:2 forcelimited:=tri forcerange:2 gear:..6 group:int
        | user:*
    position?       cranklength:1 ctrllimited:=tri ctrlrange:2 dampratio:1 forcelimited:=tri forcerange:2 gear:..6
        | group:int inheritrange:1 kp:1 kv:1 timeconst:1 user:*
    velocity?       cranklength:1 ctrllimited:=tri ctrlrange:2 forcelimited:=tri forcerange:2 gear:..6 group:int kv:1
        | user:*
    intvelocity?    actrange:2 cranklength:1 ctrllimited:=tri ctrlrange:2 dampratio:1 forcelimited:=tri forcerange:2
        | gear:..6 group:int inheritrange:1 kp:1 kv:1 user:*
    damper?         cranklength:1 ctrlrange:2 forcelimited:=tri forcerange:2 gear:..6 group:int kv:1 user:*
    cylinder?       area:1 bias:3 cranklength:1 ctrllimited:=tri ctrlrange:2 diameter:1 forcelimited:=tri forcerange:2
        | gear:..6 group:int timeconst:1 user:*
    muscle?         cranklength:1 ctrllimited:=tri ctrlrange:2 force:1 forcelimited:=tri forcerange:2 fpmax:1 fvmax:1
        | gear:..6 group:int lmax:1 lmin:1 range:2 scale:1 timeconst:2 user:* vmax:1
    adhesion?       ctrlrange:2 forcelimited:=tri forcerange:2 gain:1 group:int user:*
  extension
    ~plugin         plugin:text
      ~instance name
        ~config key value
  custom
    numeric         name:text! data:* size:int
    text            name:text! data:text!
    tuple           name:text!
      element objname:text! objtype:=objtype! prm:1
  asset
    mesh            name:text class:text builtin:=meshbuiltin content_type:text face:ints file:text
        | inertia:=meshinertia material:text maxhullvert:int normal:* params:* refpos:3 refquat:4 scale:3
        | smoothnormal:=bool texcoord:* vertex:*
      ~plugin instance:text plugin:text
        ~config key value
    hfield          name:text content_type:text elevation:* file:text ncol:int nrow:int size:4!
    skin            name:text face:ints file:text group:int inflate:1 material:text rgba:4 texcoord:* vertex:*
      bone bindpos:3! bindquat:4! body:text! vertid:ints! vertweight:*!
    texture         name:text type:=texture builtin:=builtin colorspace:=colorspace content_type:text file:text
        | fileback:text filedown:text filefront:text fileleft:text fileright:text fileup:text gridlayout:text
        | gridsize:int2 height:int hflip:=bool mark:=mark markrgb:3 nchannel:int random:1 rgb1:3 rgb2:3 vflip:=bool
        | width:int
    material        name:text class:text emission:1 metallic:1 reflectance:1 rgba:4 roughness:1 shininess:1
        | specular:1 texrepeat:2 texture:text texuniform:=bool
      layer texture:text! role:=texrole!
    model           name:text content_type:text file:text!
  worldbody
  deformable
    ~flex           name body dim:int element elemtexcoord flatskin:text group:int material node radius:1 rgba:4
        | texcoord vertex
      ~contact? activelayers conaffinity condim contype friction gap internal margin passive priority selfcollide
          | solimp solmix solref vertcollide
      ~edge? damping stiffness
      ~elasticity? damping elastic2d poisson thickness young
    skin            name:text face:ints file:text group:int inflate:1 material:text rgba:4 texcoord:* vertex:*
      bone bindpos:3! bindquat:4! body:text! vertid:ints! vertweight:*!
  contact
    pair            name:text class:text condim:int friction:..5 gap:1 geom1:text geom2:text margin:1 solimp:..5
        | solref:..2 solreffriction:..2
    exclude         name:text body1:text! body2:text!
  equality
    connect         name:text class:text active:=bool anchor:3 body1:text body2:text site1:text site2:text solimp:..5
        | solref:..2
    weld            name:text class:text active:=bool anchor:3 body1:text body2:text relpose:7 site1:text site2:text
        | solimp:..5 solref:..2 torquescale:1
    joint           name:text class:text active:=bool joint1:text! joint2:text polycoef:..5 solimp:..5 solref:..2
    tendon          name:text class:text active:=bool polycoef:..5 solimp:..5 solref:..2 tendon1:text! tendon2:text
    ~flex           name class:text active flex:text solimp solref
  tendon
    spatial         name:text class:text actuatorfrclimited:=tri actuatorfrcrange:2 armature:1 damping:1
        | frictionloss:1 group:int limited:=tri margin:1 material:text range:2 rgba:4 solimpfriction:..5
        | solimplimit:..5 solreffriction:..2 solreflimit:..2 springlength:..2 stiffness:1 user:* width:1
      site site:text!
      geom geom:text! sidesite:text
      pulley divisor:1!
    fixed           name:text class:text actuatorfrclimited:=tri actuatorfrcrange:2 armature:1 damping:1
        | frictionloss:1 group:int limited:=tri margin:1 range:2 solimpfriction:..5 solimplimit:..5
        | solreffriction:..2 solreflimit:..2 springlength:..2 stiffness:1 user:*
      joint coef:1! joint:text!
  actuator
    general        name:text class:text actdim:int actearly:=bool actlimited:=tri actrange:2 biasprm:..10
        | biastype:=bias body:text cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2 dynprm:..10 dyntype:=dyn
        | forcelimited:=tri forcerange:2 gainprm:..10 gaintype:=gain gear:..6 group:int joint:text jointinparent:text
        | lengthrange:2 refsite:text site:text slidersite:text tendon:text user:*
    motor          name:text class:text cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2 forcelimited:=tri
        | forcerange:2 gear:..6 group:int joint:text jointinparent:text lengthrange:2 refsite:text site:text
        | slidersite:text tendon:text user:*
    position       name:text class:text cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2 dampratio:1
        | forcelimited:=tri forcerange:2 gear:..6 group:int inheritrange:1 joint:text jointinparent:text kp:1 kv:1
        | lengthrange:2 refsite:text site:text slidersite:text tendon:text timeconst:1 user:*
    velocity       name:text class:text cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2 forcelimited:=tri
        | forcerange:2 gear:..6 group:int joint:text jointinparent:text kv:1 lengthrange:2 refsite:text site:text
        | slidersite:text tendon:text user:*
    intvelocity    name:text class:text actrange:2 cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2
        | dampratio:1 forcelimited:=tri forcerange:2 gear:..6 group:int inheritrange:1 joint:text jointinparent:text
        | kp:1 kv:1 lengthrange:2 refsite:text site:text slidersite:text tendon:text user:*
    damper         name:text class:text cranklength:1 cranksite:text ctrlrange:2 forcelimited:=tri forcerange:2
        | gear:..6 group:int joint:text jointinparent:text kv:1 lengthrange:2 refsite:text site:text slidersite:text
        | tendon:text user:*
    cylinder       name:text class:text area:1 bias:3 cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2
        | diameter:1 forcelimited:=tri forcerange:2 gear:..6 group:int joint:text jointinparent:text lengthrange:2
        | refsite:text site:text slidersite:text tendon:text timeconst:1 user:*
    muscle         name:text class:text cranklength:1 cranksite:text ctrllimited:=tri ctrlrange:2 force:1
        | forcelimited:=tri forcerange:2 fpmax:1 fvmax:1 gear:..6 group:int joint:text jointinparent:text
        | lengthrange:2 lmax:1 lmin:1 range:2 scale:1 slidersite:text tausmooth:1 tendon:text timeconst:2 user:*
        | vmax:1
    adhesion       name:text class:text body:text ctrlrange:2 forcelimited:=tri forcerange:2 gain:1 group:int
        | user:*
    ~plugin         name:text class:text actdim:int actearly:=bool actlimited:=tri actrange:2 cranklength:1
        | cranksite:text ctrllimited:=tri ctrlrange:2 dynprm:..10 dyntype:=dyn forcelimited:=tri forcerange:2
        | gear:..6 group:int instance:text joint:text jointinparent:text lengthrange:2 plugin:text site:text
        | slidersite:text tendon:text user:*
      ~config key value
  sensor
    touch           name:text cutoff:1 noise:1 site:text! user:*
    accelerometer   name:text cutoff:1 noise:1 site:text! user:*
    velocimeter     name:text cutoff:1 noise:1 site:text! user:*
    gyro            name:text cutoff:1 noise:1 site:text! user:*
    force           name:text cutoff:1 noise:1 site:text! user:*
    torque          name:text cutoff:1 noise:1 site:text! user:*
    magnetometer    name:text cutoff:1 noise:1 site:text! user:*
    camprojection   name:text camera:text! cutoff:1 noise:1 site:text! user:*
    rangefinder     name:text cutoff:1 noise:1 site:text! user:*
    jointpos        name:text cutoff:1 noise:1 joint:text! user:*
    jointvel        name:text cutoff:1 noise:1 joint:text! user:*
    tendonpos       name:text cutoff:1 noise:1 tendon:text! user:*
    tendonvel       name:text cutoff:1 noise:1 tendon:text! user:*
    actuatorpos     name:text cutoff:1 noise:1 actuator:text! user:*
    actuatorvel     name:text cutoff:1 noise:1 actuator:text! user:*
    actuatorfrc     name:text cutoff:1 noise:1 actuator:text! user:*
    jointactuatorfrc name:text cutoff:1 noise:1 joint:text! user:*
    tendonactuatorfrc name:text cutoff:1 noise:1 tendon:text! user:*
    ballquat        name:text cutoff:1 noise:1 joint:text! user:*
    ballangvel      name:text cutoff:1 noise:1 joint:text! user:*
    jointlimitpos   name:text cutoff:1 noise:1 joint:text! user:*
    jointlimitvel   name:text cutoff:1 noise:1 joint:text! user:*
    jointlimitfrc   name:text cutoff:1 noise:1 joint:text! user:*
    tendonlimitpos  name:text cutoff:1 noise:1 tendon:text! user:*
    tendonlimitvel  name:text cutoff:1 noise:1 tendon:text! user:*
    tendonlimitfrc  name:text cutoff:1 noise:1 tendon:text! user:*
    framepos        name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    framequat       name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    framexaxis      name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    frameyaxis      name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    framezaxis      name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    framelinvel     name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    frameangvel     name:text cutoff:1 noise:1 objname:text! objtype:=objtype! refname:text reftype:=objtype user:*
    framelinacc     name:text cutoff:1 noise:1 objname:text! objtype:=objtype! user:*
    frameangacc     name:text cutoff:1 noise:1 objname:text! objtype:=objtype! user:*
    subtreecom      name:text body:text! cutoff:1 noise:1 user:*
    subtreelinvel   name:text body:text! cutoff:1 noise:1 user:*
    subtreeangmom   name:text body:text! cutoff:1 noise:1 user:*
    insidesite      name:text cutoff:1 noise:1 objname:text! objtype:=objtype! site:text! user:*
    distance        name:text body1:text body2:text cutoff:1 geom1:text geom2:text noise:1 user:*
    normal          name:text body1:text body2:text cutoff:1 geom1:text geom2:text noise:1 user:*
    fromto          name:text body1:text body2:text cutoff:1 geom1:text geom2:text noise:1 user:*
    contact         name:text body1:text body2:text cutoff:1 data:text geom1:text geom2:text noise:1 num:int
        | reduce:=reduce site:text subtree1:text subtree2:text user:*
    e_potential     name:text cutoff:1 noise:1 user:*
    e_kinetic       name:text cutoff:1 noise:1 user:*
    clock           name:text cutoff:1 noise:1 user:*
    user            name:text cutoff:1 datatype:=datatype dim:int! needstage:=stage noise:1 objname:text
        | objtype:=objtype user:*
    tactile         name:text geom:text! mesh:text! user:*
    ~plugin         name:text cutoff:1 instance:text objname:text objtype:text plugin:text refname:text reftype:text
        | user:*
      ~config key value
  keyframe
    key             name:text act:* ctrl:* mpos:* mquat:* qpos:* qvel:* time:1
"""

# What a body holds; worldbody, frame and replicate hold the same.
BODY_TABLE = """
  inertial?       pos:3! mass:1! diaginertia:3 fullinertia:6 $orient
  joint           name:text class:text type:=joint actuatorfrclimited:=tri actuatorfrcrange:2
      | actuatorgravcomp:=bool armature:1 axis:3 damping:1 frictionloss:1 group:int limited:=tri margin:1 pos:3
      | range:2 ref:1 solimpfriction:..5 solimplimit:..5 solreffriction:..2 solreflimit:..2 springdamper:2
      | springref:1 stiffness:1 user:*
  freejoint       name:text align:=tri group:int
  geom            name:text class:text type:=geom conaffinity:int condim:int contype:int density:1 fitscale:1
      | fluidcoef:..5 fluidshape:=fluid friction:..3 fromto:6 gap:1 group:int hfield:text margin:1 mass:1
      | material:text mesh:text pos:3 priority:int rgba:4 shellinertia:=bool size:..3 solimp:..5 solmix:1
      | solref:..2 user:* $orient
    ~plugin instance:text plugin:text
      ~config key value
  attach          body:text model:text! prefix:text!
  site            name:text class:text type:=geom fromto:6 group:int material:text pos:3 rgba:4 size:..3 user:*
      | $orient
  camera          name:text class:text focal:2 focalpixel:2 fovy:1 ipd:1 mode:=camlight orthographic:=bool pos:3
      | principal:2 principalpixel:2 resolution:2 sensorsize:2 target:text user:* $orient
  light           name:text class:text type:=light active:=bool ambient:3 attenuation:3 bulbradius:1
      | castshadow:=bool cutoff:1 diffuse:3 dir:3 directional:=bool exponent:1 intensity:1 mode:=camlight pos:3
      | range:1 specular:3 target:text texture:text
  ~plugin         instance:text plugin:text
    ~config key value
  ~composite      type:text count curve initial offset prefix quat size vertex
    ~joint type armature axis damping frictionloss group kind limited margin range solimpfix solimpfriction
        | solimplimit solreffix solreffriction solreflimit stiffness
    ~skin? group inflate material rgba subgrid texcoord
    ~geom? type conaffinity condim contype density friction gap group margin mass material priority rgba size
        | solimp solmix solref
    ~site? group material rgba size
    ~plugin instance plugin
      ~config key value
  ~flexcomp       name:text type count dim dof element file flatskin group inertiabox mass material origin point
      | pos radius rgba rigid scale spacing texcoord $orient
    ~edge? damping equality solimp solref stiffness
    ~elasticity? damping elastic2d poisson thickness young
    ~contact? activelayers conaffinity condim contype friction gap internal margin passive priority selfcollide
        | solimp solmix solref vertcollide
    ~pin grid gridrange id range
    ~plugin instance plugin
      ~config key value
"""

SPATIAL = {
    "worldbody": "",
    "body": "name:text childclass:text gravcomp:1 mocap:=bool pos:3 sleep:=sleep user:* $orient",
    "frame": "name:text childclass:text pos:3 $orient",
    "replicate": "count:int! sep:text prefix:text offset:3 euler:3",
}

ORIENT = "quat:4 axisangle:4 xyaxes:6 zaxis:3 euler:3"

# Attributes of handled elements that change the model and are not supported, with the values that change nothing.
REFUSED_ATTRIBUTES = {}


class Element:
    """One element: its name, attributes (dict name -> Attribute), children (dict tag -> Element), once, refused."""

    __slots__ = ("name", "attributes", "children", "once", "refused", "required")

    def __init__(self, name, attributes="", once=False, refused=False):
        words = attributes.replace("$orient", ORIENT).split()
        self.name, self.once, self.refused, self.children = name, once, refused, {}
        self.attributes = {word.partition(":")[0]: Attribute(word.partition(":")[2]) for word in words}
        self.required = [name for name, a in self.attributes.items() if a.required]


def _read_table(text, root):
    """Adds the elements of an indented table below root."""
    lines = []
    for line in text.strip("\n").split("\n"):
        if line.lstrip().startswith("|"):
            lines[-1] += " " + line.lstrip(" |")
        else:
            lines.append(line)
    path = [root]
    for line in lines:
        head, _, attributes = line.strip().partition(" ")
        depth = (len(line) - len(line.lstrip())) // 2
        name = head.strip("~?")
        element = Element(name, attributes, once=head.endswith("?"), refused=head.startswith("~"))
        path[depth:] = [element]
        path[depth - 1].children[name] = element


def _build():
    root = Element("mujoco", "model:text")
    _read_table(TABLE, root)
    root.children["default"].children["default"] = root.children["default"]
    inside = Element("body")
    _read_table(BODY_TABLE, inside)
    spatial = {name: Element(name, attributes) for name, attributes in SPATIAL.items()}
    inside.children.update({name: spatial[name] for name in ("body", "frame", "replicate")})
    for element in spatial.values():
        element.children = inside.children
    root.children["worldbody"] = spatial["worldbody"]
    return root


GRAMMAR = _build()
