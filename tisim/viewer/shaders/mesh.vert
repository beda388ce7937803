#version 450
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
// One instance of a shape: its unit mesh is sized, stretched by half a length, turned and placed. A floor is the top of
// a box at its middle; the other sides are points.
layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec2 in_texcoord;  // x: which end of a capsule, -1 or 1; y: 1 where a size is no length
layout(location = 3) in vec4 in_color;
layout(location = 0) out vec3 position;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec4 color;
layout(location = 3) out vec4 second;  // colour; 1 where it is a floor
layout(location = 4) out vec2 local;

float f(int i) { return uintBitsToFloat(word[i]); }
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }

void main() {
  int k = RECORD * gl_InstanceIndex;
  vec4 q = vec4(f(k + 4), f(k + 5), f(k + 6), f(k + 7));
  vec3 size = vec3(f(k + 8), f(k + 9), f(k + 10)), center = vec3(f(k), f(k + 1), f(k + 2));
  bool ground = size.z < 0.0;
  float half_length = ground ? 0.0 : f(k + 3);
  if (!ground && in_texcoord.y == 0.0) {  // what is smaller than a pixel is as large as one
    float pixel = (u.s.projection * u.s.view * vec4(center, 1.0)).w * u.tan_half_fov / u.height;
    float growth = max(1.0, pixel / max(max(max(size.x, size.y), size.z), half_length));
    size *= growth;
    half_length *= growth;
  }
  vec3 at = size * in_position + vec3(0, 0, half_length * in_texcoord.x);
  if (ground) at = in_normal.z > 0.5 ? vec3(at.xy, 0.0) : vec3(0.0);
  position = center + turn(q, at);
  normal = turn(q, ground ? vec3(0.0, 0.0, 1.0) : normalize(in_normal / max(size, vec3(1e-9))));
  color = unpackUnorm4x8(word[k + 11]) * in_color;
  second = vec4(unpackUnorm4x8(word[k + 3]).rgb, ground ? 1.0 : 0.0);
  local = at.xy;
  gl_Position = u.s.projection * u.s.view * vec4(position, 1.0);
  gl_Position.y *= -1.0;
}
