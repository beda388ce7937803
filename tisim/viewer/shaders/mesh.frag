#version 450
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
// Sun with shadows and sky on a surface, the ground chequered and faded far away. No derivatives: lavapipe's are not
// numbers along edges of triangles; the pixel's footprint on the ground follows from distance and angle.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 color;
layout(location = 3) in vec4 second;
layout(location = 4) in vec2 local;
layout(location = 0) out vec4 result;

float free_to(ivec2 c, int side, float depth) {  // 1 where nothing stands between the sun and this depth
  c = clamp(c, ivec2(0), ivec2(side - 1));
  int i = c.y * side + c.x;
  uint far = word[int(r.map.y) + (i >> 1)] >> (16 * (i & 1)) & 0xFFFFu;
  return far == 0xFFFFu || depth <= float(far) ? 1.0 : 0.0;
}

float lit(vec3 n, vec3 sun) {  // share of the sun's light that is not in the way of anything
  int side = int(r.map.x);
  if (side == 0) return 1.0;
  vec3 x = normalize(cross(vec3(0, 0, 1), sun)), y = cross(sun, x), lift = light[2].pos;
  vec3 p = position + n * lift.z - light[1].pos;
  float depth = -dot(p, sun), scale = 0.5 * side / (depth * light[1].color.z);
  vec2 at = vec2(dot(p, x), -dot(p, y)) * scale + 0.5 * side - 0.5;
  if (any(lessThan(at, vec2(0))) || any(greaterThan(at, vec2(side - 1)))) return 1.0;
  depth = (depth - lift.z - lift.x) / (lift.y - lift.x) * 65534.0;
  ivec2 c = ivec2(floor(at));
  vec2 w = at - c;
  vec2 up = vec2(free_to(c, side, depth), free_to(c + ivec2(1, 0), side, depth));
  vec2 down = vec2(free_to(c + ivec2(0, 1), side, depth), free_to(c + ivec2(1, 1), side, depth));
  vec2 both = mix(up, down, w.y);
  return mix(both.x, both.y, w.x);
}

void main() {
  bool ground = second.a > 0.5;
  vec3 sun = light[0].pos, to_eye = u.s.camera_pos - position;
  float away = length(to_eye);
  vec3 n = normalize(normal);
  if (!ground && color.a < 0.999 && dot(n, to_eye) < 0.0) discard;  // the far side of glass: triangles are not sorted
  vec3 albedo = color.rgb;
  if (ground) {
    float tile = light[1].color.x, down = max(abs(dot(to_eye, n)), 1e-3 * away);
    vec2 along = normalize(to_eye.xy + 1e-9), t = local / tile;
    float pixel = away * 2.0 * u.tan_half_fov / (u.height * tile);
    vec2 w = max(pixel * (abs(along.yx) + abs(along) * away / down), 1e-4);
    vec2 i = 2.0 * (abs(fract((t - 0.5 * w) * 0.5) - 0.5) - abs(fract((t + 0.5 * w) * 0.5) - 0.5)) / w;
    albedo = mix(second.rgb, albedo, 0.5 + 0.5 * i.x * i.y);
  }
  albedo = pow(albedo, vec3(2.2));
  float cosine = max(dot(n, sun), 0.0);
  if (cosine > 0.0) cosine *= lit(n, sun);
  vec3 light_in = light[0].color * cosine + u.s.ambient_light * (0.55 + 0.45 * n.z) + 0.08 * max(-n.z, 0.0);
  float shine = 0.22 * pow(max(dot(n, normalize(to_eye / away + sun)), 0.0), 60.0) * step(1e-4, cosine);
  vec3 c = pow(clamp(1.0 - exp(-1.25 * (albedo * light_in + (ground ? 0.0 : shine))), 0.0, 1.0), vec3(1.0 / 2.2));
  float fade = ground ? 1.0 - exp(-pow(away / light[1].color.y, 2.0)) : 0.0;
  result = vec4(mix(c, SKY, fade), color.a);
}
