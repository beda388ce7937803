"""Random robots in URDF, for comparisons with MuJoCo: every kind of joint, shape, material and inertia."""

JOINTS = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"]


def random_urdf(rng, meshes=()):
    """Text of a robot of two to nine links.

    rng  numpy Generator;  meshes  names of mesh files that may be used.
    """
    links = [f"link{i}" for i in range(int(rng.integers(2, 10)))]
    if rng.random() < 0.3:
        links[int(rng.integers(len(links)))] = "world"
    out = [_extension(rng), _material("paint", rng), _material("", rng)]
    bodies = [_link(name, rng, meshes) for name in links]
    joints = []
    for i, name in enumerate(links[1:], 1):
        if name != "world" and rng.random() < 0.9:  # else it is one more root
            joints.append(_joint(i, links[int(rng.integers(i))], name, rng))
    out += [part for _, part in sorted(zip(rng.random(len(bodies) + len(joints)), bodies + joints))]
    return f'<robot name="r">{"".join(out)}</robot>'


def _numbers(rng, n, low=-1.0, high=1.0):
    return " ".join(f"{x:.4g}" for x in rng.uniform(low, high, n))


def _some(rng, text, chance=0.5):
    return text if rng.random() < chance else ""


def _extension(rng):
    flags = [f'{name}="{rng.choice(["true", "false"])}"' for name in ("fusestatic", "discardvisual", "balanceinertia")]
    attributes = " ".join(flag for flag in flags if rng.random() < 0.6)
    return _some(rng, f'<mujoco><compiler {attributes} boundmass=".001" boundinertia="1e-6"/></mujoco>', 0.8)


def _origin(rng):
    pos, turn = _some(rng, f'xyz="{_numbers(rng, 3)}"'), _some(rng, f'rpy="{_numbers(rng, 3, -3, 3)}"')
    return _some(rng, f"<origin {pos} {turn}/>", 0.7)


def _material(name, rng):
    color = _some(rng, f'<color rgba="{_numbers(rng, 4, 0, 1)}"/>', 0.7)
    return f'<material name="{name}">{color}</material>'


def _link(name, rng, meshes):
    inside = ""
    if rng.random() < 0.8 and name != "world":
        a, b, c = rng.uniform(1, 1.4, 3)
        inertia = f'ixx="{a:.4g}" iyy="{b:.4g}" izz="{c:.4g}" ixy="{_numbers(rng, 1, -0.1, 0.1)}" ixz="0" iyz=".01"'
        inside += f'<inertial>{_origin(rng)}<mass value="{rng.uniform(0.5, 2):.3g}"/><inertia {inertia}/></inertial>'
    for i in range(int(rng.integers(1, 4))):
        inside += _shape(f"{name}_{i}", rng, meshes)
    return f'<link name="{name}">{inside}</link>'


def _shape(name, rng, meshes):
    kind = rng.choice(["box", "sphere", "cylinder", "capsule", "mesh"][: 5 if meshes else 4])
    round_ = f'radius="{rng.uniform(0.1, 0.5):.3g}"'
    geometry = {
        "box": f'<box size="{_numbers(rng, 3, 0.1, 1)}"/>', "sphere": f"<sphere {round_}/>",
        "cylinder": f'<cylinder {round_} length="{rng.uniform(0.1, 1):.3g}"/>',
        "capsule": f'<capsule {round_} length="{rng.uniform(0.1, 1):.3g}"/>',
    }.get(kind)  # fmt: skip
    if kind == "mesh":
        scale = rng.choice(["", 'scale="1 1 1"', 'scale="1 2 1"', 'scale="2 2 2"'])
        geometry = f'<mesh filename="package://robot/{rng.choice(meshes)}" {scale}/>'
    tag = rng.choice(["visual", "collision"])
    own = _some(rng, f'name="{rng.choice([name, "same"])}"')
    material = _some(rng, _material(rng.choice(["paint", "other", "none"]), rng)) if tag == "visual" else ""
    return f"<{tag} {own}>{_origin(rng)}<geometry>{geometry}</geometry>{material}</{tag}>"


def _joint(i, parent, child, rng):
    kind = rng.choice(JOINTS, p=[0.25, 0.1, 0.15, 0.3, 0.04, 0.08, 0.08])
    inside = f'<parent link="{parent}"/><child link="{child}"/>' + _origin(rng)
    inside += _some(rng, f'<axis xyz="{_numbers(rng, 3)}"/>', 0.8)
    if kind != "spherical":
        low = _some(rng, f'lower="{_numbers(rng, 1, -2, 0.2)}"', 0.9)
        high = _some(rng, f'upper="{_numbers(rng, 1, -0.2, 2)}"', 0.9)
        effort = _some(rng, f'effort="{_numbers(rng, 1, -9, 9)}"')
        inside += _some(rng, f'<limit {low} {high} {effort} velocity="1"/>', 0.7)
    damping, friction = _some(rng, 'damping=".3"'), _some(rng, 'friction=".2"')
    inside += _some(rng, f"<dynamics {damping} {friction}/>")
    return f'<joint name="joint{i}" type="{kind}">{inside}</joint>'
