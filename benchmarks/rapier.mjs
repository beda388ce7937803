// Rapier (npm: @dimforge/rapier3d-compat) for benchmarks/lcp.py: a line of JSON asks, a line answers.
// argv: folder of the package. First line: {gravity, h, bodies: [{shape, size, fixed, mass, pos, quat, lin, ang}]}
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import path from "node:path";

const root = process.argv[2];
const main = JSON.parse(readFileSync(path.join(root, "package.json"))).module;
const loaded = await import(pathToFileURL(path.join(root, main)).href);
const R = loaded.default ?? loaded;
await R.init();

const xyz = ([x, y, z]) => ({ x, y, z });
let world;
const bodies = [];

function make(b) {
  const desc = b.fixed ? R.RigidBodyDesc.fixed() : R.RigidBodyDesc.dynamic();
  const [w, x, y, z] = b.quat;
  desc.setTranslation(...b.pos).setRotation({ w, x, y, z }).setCanSleep(false);
  const body = world.createRigidBody(desc);
  let shape;
  if (b.shape === "box") shape = R.ColliderDesc.cuboid(...b.size);
  else if (b.shape === "sphere") shape = R.ColliderDesc.ball(b.size[0]);
  else {
    // its axis is y
    shape = R.ColliderDesc.capsule(b.size[1], b.size[0]).setRotation({ x: Math.SQRT1_2, y: 0, z: 0, w: Math.SQRT1_2 });
  }
  shape.setFriction(1).setRestitution(0);
  if (!b.fixed) shape.setMass(b.mass);
  world.createCollider(shape, body);
  if (b.fixed) return;
  body.setLinvel(xyz(b.lin), true);
  body.setAngvel(xyz(b.ang), true);
  bodies.push(body);
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  if (ask.bodies) {
    world = new R.World(xyz(ask.gravity));
    world.timestep = ask.h;
    if (ask.iterations) world.numSolverIterations = ask.iterations;
    ask.bodies.forEach(make);
    console.log(JSON.stringify({ version: R.version(), iterations: world.numSolverIterations }));
  } else if (ask.steps) {
    const began = performance.now();
    for (let k = 0; k < ask.steps; k++) world.step();
    console.log(JSON.stringify({ ms: (performance.now() - began) / ask.steps }));
  } else {
    const pose = bodies.map((b) => {
      const p = b.translation(), q = b.rotation(), v = b.linvel();
      return [p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z];
    });
    console.log(JSON.stringify(pose));
  }
}
