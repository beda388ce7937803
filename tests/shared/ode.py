"""ODE 0.16 (the library in the wheel dartpy, double precision) by ctypes, fed with bodies and contacts of ours."""

import ctypes
import glob
import importlib.util
import os
import time

import numpy as np

REAL = ctypes.c_double
FDIR1, BOUNCE, APPROX1 = 0x002, 0x004, 0x7000


class Surface(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_int)] + [
        (name, REAL) for name in "mu mu2 rho rho2 rhoN bounce bounce_vel soft_erp soft_cfm motion1 motion2 motionN "
        "slip1 slip2".split()
    ]  # fmt: skip


class Geom(ctypes.Structure):
    _fields_ = [("pos", REAL * 4), ("normal", REAL * 4), ("depth", REAL), ("g1", ctypes.c_void_p),
                ("g2", ctypes.c_void_p), ("side1", ctypes.c_int), ("side2", ctypes.c_int)]  # fmt: skip


class Contact(ctypes.Structure):
    _fields_ = [("surface", Surface), ("geom", Geom), ("fdir1", REAL * 4)]


class Mass(ctypes.Structure):
    _fields_ = [("mass", REAL), ("c", REAL * 4), ("I", REAL * 12)]


def library():
    """The loaded library, None where the wheel is not there."""
    spec = importlib.util.find_spec("dartpy")
    if spec is None:
        return None
    root = os.path.dirname(spec.origin)
    found = [p for r in (root, os.path.dirname(root)) for p in glob.glob(os.path.join(r, "dartpy.libs", "libode-*"))]
    if not found:
        return None
    lib = ctypes.CDLL(found[0], mode=ctypes.RTLD_GLOBAL)
    made = "Ball Hinge Slider Fixed Universal Contact".split()
    for name in ["dWorldCreate", "dBodyCreate", "dJointGroupCreate", *(f"dJointCreate{kind}" for kind in made)]:
        getattr(lib, name).restype = ctypes.c_void_p
    for name in "Position Quaternion LinearVel AngularVel".split():
        getattr(lib, f"dBodyGet{name}").restype = ctypes.POINTER(REAL)
    lib.dInitODE2(0)
    return lib


class World:
    """The bodies of a Model in ODE; `step` takes a Data's state and contacts."""

    def __init__(self, lib, m, iterations, sor=1.3, erp=0.2, cfm=1e-10):
        self.lib, self.m = lib, m
        self.world, self.group = ctypes.c_void_p(lib.dWorldCreate()), ctypes.c_void_p(lib.dJointGroupCreate(0))
        lib.dWorldSetGravity(self.world, *map(REAL, map(float, m.opt.gravity)))
        lib.dWorldSetERP(self.world, REAL(erp))
        lib.dWorldSetCFM(self.world, REAL(cfm))
        lib.dWorldSetQuickStepNumIterations(self.world, iterations)
        lib.dWorldSetQuickStepW(self.world, REAL(sor))
        lib.dWorldSetAutoDisableFlag(self.world, 0)
        self.body = [None] * m.nbody
        for b in np.flatnonzero(m.body_treeid >= 0):
            mass = Mass()
            inertia = [REAL(float(x)) for x in m.body_inertia[b]]
            zero = [REAL(0.0)] * 3
            lib.dMassSetParameters(ctypes.byref(mass), REAL(float(m.body_mass[b])), *zero, *inertia, *zero)
            self.body[b] = ctypes.c_void_p(lib.dBodyCreate(self.world))
            lib.dBodySetMass(self.body[b], ctypes.byref(mass))

    def join(self, d):
        """A joint of ODE for each of the model but free ones, for bodies without one, in the order of the bodies, then
        for connects and welds: where a Data has them."""
        lib, m, joints = self.lib, self.m, {}
        self.place(np.concatenate([d.xpos, d.xquat], axis=1), np.zeros((m.nbody, 6)))
        for b in np.flatnonzero(m.body_treeid >= 0):
            if m.body_jntnum[b] == 0:
                joints["body", int(b)] = joint = ctypes.c_void_p(lib.dJointCreateFixed(self.world, None))
                lib.dJointAttach(joint, self.body[m.body_parentid[b]], self.body[b])
                lib.dJointSetFixed(joint)
                continue
            j = m.body_jntadr[b]
            kind = ("Free", "Ball", "Slider", "Hinge")[m.jnt_type[j]]
            if kind == "Free":
                continue
            if m.body_jntnum[b] == 2:
                kind = "Universal"
            joints[int(j)] = joint = ctypes.c_void_p(getattr(lib, f"dJointCreate{kind}")(self.world, None))
            lib.dJointAttach(joint, self.body[m.body_parentid[b]], self.body[b])
            if kind != "Slider":
                getattr(lib, f"dJointSet{kind}Anchor")(joint, *map(REAL, d.xanchor[j]))
            if kind == "Universal":
                lib.dJointSetUniversalAxis1(joint, *map(REAL, d.xaxis[j]))
                lib.dJointSetUniversalAxis2(joint, *map(REAL, d.xaxis[j + 1]))
            elif kind != "Ball":
                getattr(lib, f"dJointSet{kind}Axis")(joint, *map(REAL, d.xaxis[j]))
        for e in range(m.neq):
            word = "Fixed" if m.eq_type[e] == 1 else "Ball"
            b1, b2 = m.eq_obj1id[e], m.eq_obj2id[e]
            joints["equality", e] = joint = ctypes.c_void_p(getattr(lib, f"dJointCreate{word}")(self.world, None))
            lib.dJointAttach(joint, self.body[b1], self.body[b2])
            if word == "Fixed":
                lib.dJointSetFixed(joint)
            else:
                at = d.xpos[b1] + d.xmat[b1].reshape(3, 3) @ m.eq_data[e, :3]
                lib.dJointSetBallAnchor(joint, *map(REAL, at))
        return joints

    def place(self, pose, velocity):
        """Writes poses and velocities of all bodies."""
        lib = self.lib
        for b, body in enumerate(self.body):
            if body:
                lib.dBodySetPosition(body, *map(REAL, pose[b, :3]))
                lib.dBodySetQuaternion(body, (REAL * 4)(*pose[b, 3:]))
                lib.dBodySetLinearVel(body, *map(REAL, velocity[b, :3]))
                lib.dBodySetAngularVel(body, *map(REAL, velocity[b, 3:]))

    def step(self, pose, velocity, contacts, h, direct=False):
        """(pose, velocity, seconds of the step alone) behind a step.

        pose (nbody, 7), velocity (nbody, 6) of the principal frames in the world; contacts  from `contacts_of`;
        direct  dWorldStep, which solves exactly, instead of QuickStep.
        """
        lib = self.lib
        self.place(pose, velocity)
        for (b1, b2), pos, frame, dist, mu in contacts:
            contact, first, second = Contact(), self.body[b2], self.body[b1]  # its normal points into its first body
            sign = 1 if first else -1
            contact.surface.mode, contact.surface.mu = FDIR1 | APPROX1, mu
            contact.geom.pos[:3], contact.geom.normal[:3] = pos, sign * frame[:3]
            contact.geom.depth, contact.fdir1[:3] = -dist, frame[3:6]
            joint = ctypes.c_void_p(lib.dJointCreateContact(self.world, self.group, ctypes.byref(contact)))
            lib.dJointAttach(joint, *((first, second) if first else (second, None)))
        began = time.perf_counter()
        (lib.dWorldStep if direct else lib.dWorldQuickStep)(self.world, REAL(h))
        took = time.perf_counter() - began
        lib.dJointGroupEmpty(self.group)
        pose, velocity = pose.copy(), velocity.copy()
        for b, body in enumerate(self.body):
            if body:
                pose[b, :3], pose[b, 3:] = lib.dBodyGetPosition(body)[:3], lib.dBodyGetQuaternion(body)[:4]
                velocity[b, :3], velocity[b, 3:] = lib.dBodyGetLinearVel(body)[:3], lib.dBodyGetAngularVel(body)[:3]
        return pose, velocity, took


def contacts_of(m, d):
    """[(bodies, place, frame, distance, friction)] of the contact list."""
    pair = np.asarray(m.geom_bodyid)[np.asarray(d.contact.geom)]
    frame = np.asarray(d.contact.frame, float).reshape(-1, 9)
    return list(zip(pair.tolist(), np.array(d.contact.pos), frame, np.array(d.contact.dist),
                    np.array(d.contact.friction)[:, 0]))  # fmt: skip


def state_of(m, d):
    """(pose (nbody, 7), velocity (nbody, 6)) of free bodies whose frames are principal, from qpos and qvel."""
    pose, velocity = np.zeros((m.nbody, 7)), np.zeros((m.nbody, 6))
    moving = np.flatnonzero(m.body_dofnum)
    pose[moving] = np.array(d.qpos).reshape(-1, 7)
    velocity[moving] = np.array(d.qvel).reshape(-1, 6)
    w, x, y, z = pose[:, 3:].T
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
    velocity[:, 3:] = np.einsum("ijb,bj->bi", R, velocity[:, 3:])
    return pose, velocity
