#version 450
#extension GL_GOOGLE_include_directive : enable
#include "common.glsl"
// Sun and sky on a surface, the ground chequered and faded far away. No derivatives: lavapipe's are not numbers along
// edges of triangles; the pixel's footprint on the ground follows from distance and angle.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 color;
layout(location = 3) in vec3 second;
layout(location = 4) in vec2 local;
layout(location = 0) out vec4 result;

void main() {
  bool shadow = r.mode.x == 1.0, ground = shadow || r.is_floor != 0;
  vec3 sun = light[0].pos, to_eye = u.s.camera_pos - position;
  float away = length(to_eye);
  vec3 n = shadow ? vec3(0, 0, 1) : normalize(normal);
  vec3 albedo = shadow ? light[2].pos : color.rgb;
  if (ground) {
    float tile = light[1].color.x, down = max(abs(dot(to_eye, n)), 1e-3 * away);
    vec2 along = normalize(to_eye.xy + 1e-9), t = local / tile;
    float pixel = away * 2.0 * u.tan_half_fov / (u.height * tile);
    vec2 w = max(pixel * (abs(along.yx) + abs(along) * away / down), 1e-4);
    vec2 i = 2.0 * (abs(fract((t - 0.5 * w) * 0.5) - 0.5) - abs(fract((t + 0.5 * w) * 0.5) - 0.5)) / w;
    albedo = mix(shadow ? light[2].color : second, albedo, 0.5 + 0.5 * i.x * i.y);
  }
  albedo = pow(albedo, vec3(2.2));
  float cosine = shadow ? 0.0 : max(dot(n, sun), 0.0);
  vec3 light_in = light[0].color * cosine + u.s.ambient_light * (0.55 + 0.45 * n.z) + 0.08 * max(-n.z, 0.0);
  float shine = 0.22 * pow(max(dot(n, normalize(to_eye / away + sun)), 0.0), 60.0) * step(1e-4, cosine);
  vec3 c = pow(clamp(1.0 - exp(-1.25 * (albedo * light_in + (ground ? 0.0 : shine))), 0.0, 1.0), vec3(1.0 / 2.2));
  float fade = ground ? 1.0 - exp(-pow(away / light[1].color.y, 2.0)) : 0.0;
  result = vec4(mix(c, SKY, fade), shadow ? 1.0 : color.a);
}
