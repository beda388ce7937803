// What GGUI of Taichi 1.7.4 binds for a mesh; the meaning of its free numbers is tisim's (tisim/viewer/raster.py).
struct SceneUBO { vec3 camera_pos; mat4 view; mat4 projection; vec3 ambient_light; int point_light_count; };
struct PointLight { vec3 pos; vec3 color; };
layout(binding = 0) uniform Renderable {
  vec3 mode;      // x: 0 a thing, 1 its shadow on the floor
  int flag;       // use_per_vertex_color: not used
  int is_floor;   // two_sided: this is a chequered plane
  float instanced;
} r;
layout(binding = 1) uniform Scene { SceneUBO s; float width, height, tan_half_fov, aspect; } u;
// [0] sun: direction, light; [1] the floor that shadows fall on: a point of it, (side of a tile, distance at which the
// ground has faded, 0); [2] its two colours
layout(binding = 2, std430) readonly buffer Lights { PointLight light[]; };
layout(binding = 3, std430) readonly buffer Records { uint word[]; };
const int RECORD = 12;  // words: position 3, half length or second colour; quaternion w x y z; size 3, colour
const vec3 SKY = vec3(0.87, 0.91, 0.95);
