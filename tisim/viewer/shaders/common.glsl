// What GGUI of Taichi 1.7.4 binds for a mesh; the meaning of its free numbers is tisim's (tisim/viewer/raster.py).
struct SceneUBO { vec3 camera_pos; mat4 view; mat4 projection; vec3 ambient_light; int point_light_count; };
struct PointLight { vec3 pos; vec3 color; };
layout(binding = 0) uniform Renderable {
  vec3 map;       // x: texels of a side of the shadow map, 0: there is none; y: its first word
  int flag;       // use_per_vertex_color: not used
  int two_sided;  // not used
  float instanced;
} r;
layout(binding = 1) uniform Scene { SceneUBO s; float width, height, tan_half_fov, aspect; } u;
// [0] sun: direction, light; [1] the place that its map is seen from, (side of a tile, distance at which the ground has
// faded, tangent of half the map's angle); [2] depth of the map's values 0 and 65534, how far a surface is lifted
layout(binding = 2, std430) readonly buffer Lights { PointLight light[]; };
// records, and behind them the shadow map, row by row: depth along the sun's rays, two texels in a word
layout(binding = 3, std430) readonly buffer Records { uint word[]; };
const int RECORD = 12;  // words: position 3, half length or second colour; quaternion w x y z; size 3, colour
// (a floor: third size negative)
const vec3 SKY = vec3(0.87, 0.91, 0.95);
