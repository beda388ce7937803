"""Every joint with everything a joint can have."""

from tisim.scenes.common import FLOOR, document


def joints(cone="pyramidal"):
    """One mechanism for each joint type, with limits, springs, dampers, friction and armature: a scene for tests."""
    box = '<geom type="box" size=".15 .05 .05" pos=".15 0 0"'
    world = [
        FLOOR,
        f'    <body name="hinge" pos="0 0 1"><joint name="hinge" axis="0 1 0" range="-45 60" limited="true" '
        f'damping=".05" armature=".01"/>{box} rgba=".85 .3 .25 1"/></body>',
        f'    <body name="spring" pos="0 .4 1"><joint name="spring" axis="0 1 0" stiffness="8" springref="20" '
        f'damping=".1"/>{box} rgba=".9 .6 .2 1"/></body>',
        f'    <body name="rough" pos="0 .8 1"><joint name="rough" axis="0 1 0" frictionloss="1.5"/>{box} '
        'rgba=".85 .8 .3 1"/></body>',
        f'    <body name="slide" pos="0 1.2 1"><joint name="slide" type="slide" axis="1 0 1" range="-.4 .3" '
        f'limited="true" damping="1"/>{box} rgba=".4 .7 .4 1"/></body>',
        f'    <body name="ball" pos="0 1.6 1"><joint name="ball" type="ball" range="0 50" limited="true" '
        f'damping=".05"/>{box} rgba=".25 .6 .7 1"/></body>',
        f'    <body name="free" pos="0 2 .5" quat=".9 .3 .2 .1"><freejoint name="free"/>{box} '
        'rgba=".4 .45 .8 1"/></body>',
        f'    <body name="arm" pos="0 2.4 1"><joint name="arm1" axis="0 0 1"/><joint name="arm2" axis="0 1 0"/>{box} '
        'rgba=".6 .4 .75 1"/>',
        '      <body name="hand" pos=".3 0 0"><joint name="hand" type="ball" damping=".01"/>'
        '<geom type="capsule" fromto="0 0 0 .25 0 0" size=".04" rgba=".8 .5 .7 1"/></body>',
        "    </body>",
    ]
    return document("joints", world, 0.002, cone)
