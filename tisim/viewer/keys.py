"""The keys of the window: what each does, and its number for key callbacks.

The first name of each can be read everywhere; those behind it only where GLFW's keyboard is at hand (`imgui.py`).
Letters and F-keys are those of MuJoCo's `simulate` where both have the function.
"""

KEYS = (
    ("space", (), "pause, go on", "pause"),
    ("right", (), "one step", "step"),
    ("left", (), "back one recorded state", "back"),
    ("s", ("-",), "slower", "slower"),
    ("a", ("=",), "faster", "faster"),
    ("backspace", (), "start again", "reset"),
    ("r", (), "load the file again", "reload"),
    ("return", (), "next keyframe", "keyframe"),
    ("up", (), "nearer", "nearer"),
    ("down", (), "farther", "farther"),
    ("x", ("]",), "next camera", "next_camera"),
    ("z", ("[",), "last camera", "last_camera"),
    ("y", (), "follow what is selected", "track"),
    ("escape", (), "free camera, nothing selected", "align"),
    ("c", (), "contacts", "CONTACTPOINT"),
    ("f", (), "contact forces", "CONTACTFORCE"),
    ("u", (), "chains of forces", "chains"),
    ("j", (), "joints", "JOINT"),
    ("m", (), "centres of mass", "COM"),
    ("i", (), "inertia boxes, hulls of meshes", "solids"),
    ("v", (), "tendons", "TENDON"),
    ("e", (), "equalities", "CONSTRAINT"),
    ("t", (), "translucent", "TRANSPARENT"),
    ("n", (), "islands", "ISLAND"),
    ("k", ("f6",), "frames: body, geom, site ...", "frames"),
    ("l", ("f7",), "labels: body, joint, geom ...", "labels"),
    ("o", (), "colours: own, asleep, group, speed, force", "colors"),
    ("g", (), "geoms of groups 3 to 5", "groups"),
    ("b", (), "sites of groups 3 to 5", "sites"),
    ("tab", (), "panels", "panels"),
    ("h", ("f1",), "this help", "help"),
    ("shift h", ("f2",), "info: sizes, rows, energy, memory, speed", "info"),
    ("d", ("f3",), "solver and timing", "profiler"),
    ("shift d", ("f4",), "sensors", "sensors"),
    (None, ("f5",), "full screen", "full_screen"),
    ("p", (), "screenshot", "screenshot"),
    ("w", (), "film: begin, end", "film"),
    ("q", (), "quit", "quit"),
    *((None, (str(k),), f"geoms of group {k}", f"group{k}") for k in range(6)),
)
MOUSE = (
    ("left drag", "turn"),
    ("right drag", "move"),
    ("wheel, middle drag", "zoom"),
    ("double click", "select"),
    ("ctrl + left drag", "pull it"),
    ("ctrl + right drag", "turn it"),
    ("shift", "along the ground"),
)
ACTIONS = {name: action for first, more, _, action in KEYS for name in (first, *more) if name}
OF_WINDOW = {"info", "profiler", "sensors", "full_screen"}  # what a page has not
OF_TIME = {"pause", "step", "back", "slower", "faster", "reload"}  # what a program does that steps by itself
# numbers of GLFW, as key callbacks of MuJoCo's viewer get them
CODES = {chr(c): c - 32 for c in range(ord("a"), ord("z") + 1)} | {c: ord(c) for c in "0123456789-=[]"}
CODES |= dict(space=32, escape=256, tab=258, backspace=259, right=262, left=263, down=264, up=265)
CODES |= {"return": 257} | {f"f{k}": 289 + k for k in range(1, 13)}
FURTHER = sorted({name for _, more, _, _ in KEYS for name in more})
# names that GGUI gives keys -> ours
OF_GGUI = {" ": "space", "Right": "right", "Left": "left", "Up": "up", "Down": "down", "Tab": "tab"}
OF_GGUI |= {"Return": "return", "Escape": "escape", "BackSpace": "backspace"}


def action(name, shift=False):
    """What a key does, None: nothing; some do something else with shift."""
    return ACTIONS.get(f"shift {name}" if shift else name, ACTIONS.get(name))


def lines(further, without=()):
    """Lines of the help: (keys, what they do).

    further  whether keys behind the first can be read, and the wheel;  without  actions that are not there.
    """
    for first, more, words, does in KEYS:
        names = [name for name in ((first, *more) if further else (first,)) if name]
        if names and does not in without and not does.startswith("group"):
            yield ", ".join(names), words
    if further:
        yield "0 ... 5", "geoms of a group, with shift sites"
    for keys, words in MOUSE:
        yield (keys if further else keys.replace("wheel, ", "")), words
