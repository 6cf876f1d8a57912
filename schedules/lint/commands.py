"""Findings about commands: habits of shells and of other systems that mean nothing, or something else, here. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from activities.steps.template import strings
from schedules.lint.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedules.spec.finding_ids import FindingId
    from schedules.spec.handlers import HandlerSpec
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path

OPERATORS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "<<", "2>", "2>>", "2>&1", "&>", "|&", "1>&2", ">&2"})
MOST_SHOWN = 4
IN_A_SHELL = '{argv: ["…"], shell: true}'
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{\{[A-Za-z_]|\(|\?|\$|[0-9@*#])|`[^`]+`|\A~(?:/|\Z)")
_PIPE = re.compile(r"(?<![|>])\|(?!\|)")
_BACKGROUND = re.compile(r"(?<![&>|<])&(?![&>])|\b(?:nohup|setsid|disown)\b")
_WITH_TEXT = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_WAIT = re.compile(r"\bwait\b")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_FOREIGN = re.compile(
    r"\{\{\s*(?:\.\w|(?:secrets|env|github|vars|inputs|matrix|var|params|macros|conn|dag|ti)\.\w"
    r"|(?:ds|ts|next_ds|prev_ds|yesterday_ds|tomorrow_ds|execution_date|logical_date|data_interval_\w+)(?:_nodash)?\s*[|}])"
)
_FOREIGN_MESSAGE = (
    "looks like a template of another system, and is not filled in; write `{scheduled_at:%Y-%m-%d}` and the like, "
    "and `${secret:NAME}` for secrets"
)


def command_findings(job: JobSpec) -> Iterator[Finding]:
    """Those of every handler of the job, compensations included."""
    for path, handler in _handlers(job):
        for at, text in strings(handler.handler.step_params()):
            if _FOREIGN.search(text):
                yield Finding("template-foreign", _FOREIGN_MESSAGE, (*path, handler.kind, *at), job.name)
        for place, index, identifier, message in _of_handler(handler):
            yield Finding(identifier, message, (*path, handler.kind, place, index), job.name)


def _of_handler(handler: HandlerSpec) -> Iterator[tuple[str, int, FindingId, str]]:
    """What is found in a command, or in what a container is to run."""
    if (command := handler.command) is not None:
        found = _of_shell(command.argv[0]) if command.shell else _of_argv(command.argv)
        yield from (("argv", *each) for each in found)
    elif (container := handler.container or handler.kubernetes) is not None:
        command_words, words = container.command, (*container.command, *container.args)
        for index, identifier, message in _of_given_shell(words) if command_words else ():
            own = index < len(command_words)
            place = index if own else index - len(command_words)
            yield "command" if own else "args", place, identifier, message


def _handlers(job: JobSpec) -> Iterator[tuple[Path, HandlerSpec]]:
    if job.run is not None:
        yield ("run",), job.run
    for index, step in enumerate(job.steps):
        yield ("steps", index), step
        if step.compensate is not None:
            yield ("steps", index, "compensate"), step.compensate


def _of_argv(argv: Sequence[str]) -> Iterator[tuple[int, FindingId, str]]:
    """A list of arguments goes to the program as it stands: no shell reads it."""
    words = argv[0].split()
    options = any(word.startswith("-") or "://" in word for word in words[1:])
    if len(argv) == 1 and len(words) > 1 and (options or not argv[0].startswith(("/", "./", "../"))):
        listed = ", ".join(words[:MOST_SHOWN]) + (", …" if len(words) > MOST_SHOWN else "")
        message = f"is read as the name of one program, with its spaces; write one item for each word: [{listed}], or {IN_A_SHELL}"
        yield 0, "command-one-text", message
    if _is_shell(argv[0]) or (argv[0].rpartition("/")[2] == "env" and any(map(_is_shell, argv))):
        yield from _of_given_shell(argv)
        return
    for index, word in enumerate(argv):
        if word in OPERATORS:
            message = f"`{word}` is an ordinary argument here, because no shell reads it; write {IN_A_SHELL}"
            yield index, "command-shell-word", message
        elif _VARIABLE.search(word):
            message = f"no shell replaces `$…`, `~` or backquotes here; use `env`, a whole path or a template, or write {IN_A_SHELL}"
            yield index, "command-variable", message
        yield from _percent(index, word)


def _is_shell(word: str) -> bool:
    return word.rpartition("/")[2] in SHELLS


def _of_given_shell(argv: Sequence[str]) -> Iterator[tuple[int, FindingId, str]]:
    """A shell that is named as the program, with its text behind an option such as `-c` or `-ec`."""
    shell = next((index for index, word in enumerate(argv) if _is_shell(word)), None)
    if shell is None:
        return
    option = next((index for index in range(shell + 1, len(argv)) if _WITH_TEXT.fullmatch(argv[index])), None)
    if option is None:
        return
    words = range(option + 1, len(argv))
    text = next((index for index in words if not argv[index].startswith(("-", "+")) and argv[index - 1] != "-o"), None)
    if text is None:
        return
    has_pipefail = argv[shell].endswith("fish") or "pipefail" in argv[shell:text]
    for _, identifier, message in _of_shell(argv[text]):
        if not (identifier == "shell-pipe" and has_pipefail):
            yield text, identifier, message


def _of_shell(text: str) -> Iterator[tuple[int, FindingId, str]]:
    """A text for `/bin/sh -c`, or for another shell."""
    bare = _QUOTED.sub("_", text)
    if _PIPE.search(bare) and "pipefail" not in bare:
        message = (
            "a pipe succeeds if its last command does, even if earlier ones fail; begin with `set -o pipefail;` where "
            'the shell knows it, as bash does and many a /bin/sh does not, else write [bash, -o, pipefail, -c, "…"]'
        )
        yield 0, "shell-pipe", message
    if _BACKGROUND.search(bare) and not _WAIT.search(bare):
        message = (
            "what runs in the background is killed when the shell ends, and the step counts as succeeded; remove `&` and `nohup`, "
            "or end with `wait`"
        )
        yield 0, "shell-background", message
    yield from _percent(0, text)


def _percent(index: int, text: str) -> Iterator[tuple[int, FindingId, str]]:
    if "\\%" in text:
        yield (
            index,
            "crontab-percent",
            "`\\%` is how a crontab writes `%`, and here the backslash stays; write `%`",
        )
