"""What to draw, from where, and what is pulled: MjvOption, MjvCamera and MjvPerturb by mujoco's names and defaults."""

import numpy as np

from tisim.enums import mjtCamera, mjtFrame, mjtLabel, mjtVisFlag
from tisim.errors import Error

SHOWN = 0, 1, 2  # groups that are drawn by default
FLAGS_ON = "TEXTURE TENDON RANGEFINDER PERTOBJ STATIC SKIN FLEXEDGE FLEXSKIN".split()


class _Plain:
    """Attributes that are set by name: a wrong name is an error, an array is written in place."""

    def __init__(self):
        for name, value in self._defaults().items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        old = self.__dict__.get(name)
        if name not in self.__dict__:
            raise Error(f"{type(self).__name__} has no {name!r}; it has {', '.join(self.__dict__)}")
        try:
            if isinstance(old, np.ndarray):
                old[...] = value
                return
            value = float(value) if isinstance(old, float) else int(value)
        except (TypeError, ValueError, OverflowError):
            what = f"an array {old.dtype}{old.shape}" if isinstance(old, np.ndarray) else type(old).__name__
            raise Error(f"{type(self).__name__}.{name} = {value!r}: expected {what}") from None
        object.__setattr__(self, name, value)

    def __repr__(self):
        return "\n".join([f"<{type(self).__name__}", *(f"  {k}: {v}" for k, v in self.__dict__.items()), ">"])

    def __copy__(self):
        new = type(self)()
        for name, value in self.__dict__.items():
            setattr(new, name, value)
        return new

    def __deepcopy__(self, _):
        return self.__copy__()


class MjvOption(_Plain):
    """What is drawn besides geoms.

    geomgroup, sitegroup, jointgroup, tendongroup, actuatorgroup, flexgroup, skingroup  (6,) uint8: groups that are
    drawn, 0 to 2 at first;  flags  (mjNVISFLAG,) uint8, by mjtVisFlag;  frame  mjtFrame;  label  mjtLabel.
    """

    @staticmethod
    def _defaults():
        groups = "geom site joint tendon actuator flex skin".split()
        shown = np.isin(np.arange(6), SHOWN).astype(np.uint8)
        flags = np.zeros(len(mjtVisFlag) - 1, np.uint8)
        flags[[mjtVisFlag[f"mjVIS_{name}"] for name in FLAGS_ON]] = 1
        return dict(label=int(mjtLabel.mjLABEL_NONE), frame=int(mjtFrame.mjFRAME_NONE),
                    **{f"{g}group": shown.copy() for g in groups}, flags=flags, bvh_depth=1, flex_layer=0)  # fmt: skip


class MjvCamera(_Plain):
    """Where a picture is taken from.

    type  mjtCamera: free, tracking the body `trackbodyid`, or the model's camera `fixedcamid`;  lookat  (3,) [m];
    distance [m];  azimuth, elevation [degree];  orthographic  0 or 1.
    """

    @staticmethod
    def _defaults():
        return dict(type=int(mjtCamera.mjCAMERA_FREE), fixedcamid=-1, trackbodyid=-1, lookat=np.zeros(3), distance=2.0,
                    azimuth=90.0, elevation=-45.0, orthographic=0)  # fmt: skip


class MjvPerturb(_Plain):
    """What the mouse has selected and pulls.

    select  body, 0 for none;  active, active2  mjtPertBit;  refpos (3,) [m], refquat (4,)  where it is pulled to, of
    its centre of mass and inertia frame;  refselpos (3,) [m], localpos (3,) [m]  the selected point in the world's
    and in the body's frame;  localmass [kg]  mass that the point has;  scale  of the mouse's motion.
    """

    @staticmethod
    def _defaults():
        return dict(select=0, flexselect=-1, skinselect=-1, active=0, active2=0, refpos=np.zeros(3),
                    refquat=np.array([1.0, 0, 0, 0]), refselpos=np.zeros(3), localpos=np.zeros(3), localmass=0.0,
                    scale=1.0)  # fmt: skip
