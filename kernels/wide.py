"""types.py for what reckons with places and shapes: here FP, vectors and matrices are f64 in f32, too, where the
backend has it (WIDE). A distance is a difference of places, and its sign says whether there is a contact; in f32 it is
right to 1e-7 m only, some metres from the origin. Variables of such numbers begin as FP(0.0): 0.0 is of f32.
"""

from .types import *
from .types import WIDE, ti

FP = WIDE
EPSILON = 2.0**-52 if FP == ti.f64 else 2.0**-23
vec2 = ti.types.vector(2, FP)
vec3 = ti.types.vector(3, FP)
vec4 = ti.types.vector(4, FP)
vec6 = ti.types.vector(6, FP)
mat3 = ti.types.matrix(3, 3, FP)
