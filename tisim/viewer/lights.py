"""The lights of a model, where they are now, and its headlight: what MuJoCo's pictures are lit by."""

import dataclasses

import numpy as np

from tisim.enums import mjtCamLight, mjtLightType

EVERYWHERE = -2.0  # cosine of the cone of a lamp that has none
WIDE = 80.0  # a cone of more degrees does not fit one view


@dataclasses.dataclass(frozen=True)
class Lamp:
    """A lamp: place (3,) [m], direction (3,) of its light, far (parallel rays), colours and how it fades.

    diffuse, specular (3,);  attenuation (3,) by 1, distance, distance^2;  cutoff [degree], 180: no cone;  exponent.
    """

    place: np.ndarray
    direction: np.ndarray
    far: bool
    shadows: bool
    diffuse: np.ndarray
    specular: np.ndarray
    attenuation: tuple = (1.0, 0.0, 0.0)
    cutoff: float = 180.0
    exponent: float = 0.0

    def rows(self, ambient):
        """Rows (6, 3) of `pic_lamp`; ambient (3,) light of all lamps."""
        cone = EVERYWHERE if self.cutoff >= 180 else np.cos(np.radians(self.cutoff))
        return np.array([self.diffuse, self.specular, self.attenuation, self.direction, (cone, self.exponent, 0),
                         ambient], float)  # fmt: skip

    def views(self, center, radius):
        """Views that shadows are looked for in: (rows right, up, backward (3, 3), half angle [rad]), none if far.

        center (3,), radius  the ball in which there is something that throws shadows [m].
        """
        toward = self.place - center
        away = np.linalg.norm(toward)
        if self.cutoff <= WIDE:
            return [(_axes(-self.direction), np.radians(self.cutoff))]
        if away > 1.3 * radius:
            return [(_axes(toward / away), np.arcsin(radius / away))]
        return [(_axes(sign * np.eye(3)[k]), 0.25 * np.pi) for k in range(3) for sign in (1, -1)]


def _axes(back):
    """Rows right, up and backward of a view."""
    right = np.cross([0, 0, 1.0] if abs(back[2]) < 0.99 else [0, 1.0, 0], back)
    right /= max(np.linalg.norm(right), 1e-12)
    return np.array([right, np.cross(back, right), back])


def poses(m, d, world=0):
    """Places (nlight, 3) [m] and directions (nlight, 3) of the model's lights in a world, as mj_camlight has them."""
    xpos, com = (np.asarray(getattr(d, a), float).reshape(-1, m.nbody, 3)[world] for a in ("xpos", "subtree_com"))
    turn = np.asarray(d.xmat, float).reshape(-1, m.nbody, 3, 3)[world]
    places, directions = np.zeros((m.nlight, 3)), np.zeros((m.nlight, 3))
    for k in range(m.nlight):
        body, mode, target = int(m.light_bodyid[k]), int(m.light_mode[k]), int(m.light_targetbodyid[k])
        if mode == mjtCamLight.mjCAMLIGHT_TRACK:
            places[k], directions[k] = xpos[body] + m.light_pos0[k], m.light_dir0[k]
        elif mode == mjtCamLight.mjCAMLIGHT_TRACKCOM:
            places[k], directions[k] = com[body] + m.light_poscom0[k], m.light_dir0[k]
        else:
            places[k], directions[k] = xpos[body] + turn[body] @ m.light_pos[k], turn[body] @ m.light_dir[k]
            if mode != mjtCamLight.mjCAMLIGHT_FIXED and target >= 0:
                at = xpos if mode == mjtCamLight.mjCAMLIGHT_TARGETBODY else com
                directions[k] = at[target] - places[k]
        directions[k] /= max(np.linalg.norm(directions[k]), 1e-15)
    return places, directions


def has_lights(m):
    """Whether the model has lights that a picture shows: active ones that are no image around the scene."""
    return bool((np.asarray(m.light_active, bool) & (np.asarray(m.light_type) != mjtLightType.mjLIGHT_IMAGE)).any())


def lamps(m, d, world, camera):
    """(list of Lamp, ambient light (3,)) of a model's active lights, and its headlight behind the camera."""
    found, ambient = [], np.zeros(3)
    head = m.vis.headlight
    if head.active:
        ambient += np.asarray(head.ambient, float)
        found.append(Lamp(camera.position, camera.forward, True, False, np.asarray(head.diffuse, float),
                          np.asarray(head.specular, float)))  # fmt: skip
    places, directions = poses(m, d, world)
    for k in range(m.nlight):
        kind = int(m.light_type[k])
        if not m.light_active[k] or kind == mjtLightType.mjLIGHT_IMAGE:
            continue
        ambient += m.light_ambient[k]
        far = kind == mjtLightType.mjLIGHT_DIRECTIONAL
        cone = dict(cutoff=float(m.light_cutoff[k]), exponent=float(m.light_exponent[k]))
        near = {} if far else dict(attenuation=tuple(map(float, m.light_attenuation[k])))
        if kind == mjtLightType.mjLIGHT_SPOT:
            near |= cone
        found.append(Lamp(places[k], directions[k], far, bool(m.light_castshadow[k]), m.light_diffuse[k],
                          m.light_specular[k], **near))  # fmt: skip
    return found, ambient
