"""The command that prints what a shell needs to complete tisim's commands, options, their words, scenes and files.

The script is made of the commands themselves and asks no process of tisim when a key is pressed.
"""

from tisim.errors import Error

from .options import CHOICES

EVERYWHERE = "--help", "--debug"  # besides those of a command
BASH = """_tisim() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands} --help --version"
    else
        case "$before" in
{choices}
            *) case "$current" in
                -*) case "${{COMP_WORDS[1]}}" in
{options}
                esac ;;
                *) case "${{COMP_WORDS[1]}}" in
                    {scened}) words="{scenes}" ;;
                    completion) words="{shells}" ;;
                esac ;;
            esac ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _tisim tisim"""
ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
SHELLS = "bash", "zsh", "fish"


def completion(commands, shell):
    """The script for a shell.  commands  dict name -> click's Command."""
    from tisim import scenes

    if shell not in SHELLS:
        raise Error(f"{shell}: expected {', '.join(SHELLS)}")
    options = {name: [*(o for p in c.params for o in names(p)), *EVERYWHERE] for name, c in commands.items()}
    words = {o: " ".join(choices(p)) for c in commands.values() for p in c.params for o in names(p) if choices(p)}
    scened = [name for name, c in commands.items() if any(p.name == "source" for p in c.params)]
    if shell == "fish":
        return _fish(commands, scened, scenes.names())
    script = BASH.format(
        commands=" ".join(commands), scened="|".join(scened), scenes=" ".join(scenes.names()), shells=" ".join(SHELLS),
        choices="\n".join(f'            {name}) words="{few}" ;;' for name, few in words.items()),
        options="\n".join(f'                    {name}) words="{" ".join(all_)}" ;;'
                          for name, all_ in options.items()),
    )  # fmt: skip
    return (ZSH if shell == "zsh" else "") + script


def names(param):
    """Options by which a parameter of a command is given, those that switch it off, too; none for an argument."""
    return [o for o in (*param.opts, *param.secondary_opts) if o.startswith("-")]


def choices(param):
    """Words that a parameter takes: all, or those that its metavar names beside numbers and addresses."""
    for option in param.opts:
        if option in CHOICES:
            return list(CHOICES[option]())
    return [word for word in (param.metavar or "").split("|") if word.isalpha() and word.islower()]


def _fish(commands, scened, scenes):
    """One line for each command, option and scene."""
    lines = []
    for name, command in commands.items():
        lines.append(f"complete -c tisim -n __fish_use_subcommand -f -a {name} -d {_quoted(command.help)}")
        where = f'"__fish_seen_subcommand_from {name}"'
        for param in command.params:
            words = [f"-l {o[2:]}" if o.startswith("--") else f"-s {o[1:]}" for o in names(param)]
            if words:
                few = " ".join(choices(param))
                value = "" if getattr(param, "is_flag", False) else f" -x -a '{few}'" if few else " -r"
                lines.append(f"complete -c tisim -n {where} {' '.join(words)}{value} -d {_quoted(param.help)}")
    lines += [f"complete -c tisim -l {o[2:]}" for o in EVERYWHERE]
    lines.append(f'complete -c tisim -n "__fish_seen_subcommand_from {" ".join(scened)}" -a "{" ".join(scenes)}"')
    lines.append(f'complete -c tisim -n "__fish_seen_subcommand_from completion" -f -a "{" ".join(SHELLS)}"')
    return "\n".join(lines)


def _quoted(text):
    """The first sentence of a help text, as a word of fish."""
    line = (text or "").strip().split("\n")[0].replace("\\[", "[").replace("\\", "\\\\").replace("'", "\\'")
    return f"'{line}'"
