"""Frames within bodies as kinematics takes them. Seed 003, "Coordinate frames and transformations".

Where the compiler found a frame to be the body's own, or that of its inertia, it is that very one (mjtSameFrame),
though its numbers may differ by a millionth. What was written since and differs by more is taken as written.
"""

import numpy as np

from tisim.enums import mjtSameFrame
from tisim.mjcf.elements.bodies import same_frame

from .declare import Table, declared

BODY = int(mjtSameFrame.mjSAMEFRAME_BODY), int(mjtSameFrame.mjSAMEFRAME_BODYROT)
INERTIA = int(mjtSameFrame.mjSAMEFRAME_INERTIA), int(mjtSameFrame.mjSAMEFRAME_INERTIAROT)


def _frames(m, kind, prefix=""):
    """(positions (n, 3), orientations (n, 4)) of bodies' inertia, geoms or sites."""
    pos, quat = (np.array(getattr(m, f"{kind}_{prefix}{part}")) for part in ("pos", "quat"))
    ipos, iquat = pos, quat
    flag = np.asarray(getattr(m, f"{kind}_sameframe"))
    if kind != "body":
        body = np.asarray(getattr(m, f"{kind}_bodyid"))
        ipos, iquat = body_frames(m)
        ipos, iquat = ipos[body], iquat[body]
    near = same_frame(pos, quat, ipos, iquat)
    for both, there, turn in ((BODY, 0.0 * ipos, [1.0, 0, 0, 0]), (INERTIA, ipos, iquat)):
        whole = (flag == both[0]) & (near == both[0])
        pos = np.where(whole[:, None], there, pos)
        quat = np.where((np.isin(flag, both) & np.isin(near, both))[:, None], turn, quat)
    return pos, quat


def body_frames(m):
    """Those of bodies' inertia."""
    return _frames(m, "body", "i")


# for device_model.DERIVED
OWN = ("body_ipos", "body_iquat", "body_sameframe")
TABLES = declared(
    *(
        Table(f"{kind}_{name}", dtype, (f"n{kind}", width), lambda m, make=make, part=part: make(m)[part], reads, doc)
        for kind, dtype, make, reads in (
            ("body", "f", body_frames, OWN),
            ("geom", "w", lambda m: _frames(m, "geom"), ("geom_pos", "geom_quat", "geom_sameframe", *OWN)),
            ("site", "f", lambda m: _frames(m, "site"), ("site_pos", "site_quat", "site_sameframe", *OWN)),
        )
        for part, (name, width, doc) in enumerate(
            (("place", 3, "place in the body, as kinematics takes it [m]"), ("turn", 4, "orientation likewise"))
        )
    )
)
