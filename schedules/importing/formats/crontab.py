"""Crontabs: a user's (`crontab -l`), `/etc/crontab` and the files of `/etc/cron.d`, which name a user in each line.

What counts is how Vixie cron, Debian's cron and cronie read them: crontab(5), `entry.c`, `load_entry` and `child_process`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from schedules.importing import fields
from schedules.importing.naming import command_words
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem

_VARIABLE: Final = re.compile(r"""\s*(?P<name>"[^"]*"|'[^']*'|[^\s=#"']+)\s*=\s*(?P<value>.*?)\s*""")
_PERCENT: Final = re.compile(r"(?<!\\)%")
_END: Final = "TICKWRIGHT_STDIN"
NOT_UTF_8: Final = re.compile("[\udc80-\udcff]")
"""What stands in a text for a byte that is not UTF-8, decoded by `surrogateescape`."""
POLICIES: Final = (
    Policy("overlap", "a run starts while the one before still goes on", "the same (overlap: allow_all)"),
    Policy("missed runs", "a run that was due while the machine was off is gone", "the same (catchup: skip)"),
    Policy("retries", "none", "none"),
    Policy("timeout", "none: a run may hang for ever", "an attempt is ended after the timeout that you gave"),
)
KEEPING: Final = {"overlap": "allow_all", "catchup": {"policy": "skip"}}


@dataclass
class _State:
    """What the lines so far have set; cron reads from top to bottom, and a line holds for those below it."""

    file: str
    zone: str
    env: dict[str, str] = field(default_factory=dict)
    shell: str = "/bin/sh"
    mailto: str | None = None
    cron_tz: bool = False
    comment: list[str] = field(default_factory=list)


def load_crontab(text: str, file: str, zone: str, *, users: bool) -> Loaded:
    """The jobs of a crontab; `users` says whether its lines name a user. A line that cannot be read is dropped, with its reason."""
    state = _State(file, zone)
    jobs, dropped = list[OldJob](), list[Dropped]()
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        stripped = line.strip(" \t\r")
        if not stripped:
            state.comment = []
        elif NOT_UTF_8.search(line):
            state.comment = []
            if not stripped.startswith("#"):
                dropped.append(Dropped(file, number, f"not UTF-8, convert it first: {NOT_UTF_8.sub('�', stripped)}"))
        elif stripped.startswith("#"):
            state.comment.append(stripped.lstrip("#").strip())
        elif match := _variable(stripped):
            dropped.extend(Dropped(file, number, what, no_job=True) for what in _set(state, *match))
            state.comment = []
        else:
            try:
                job = _job(state, stripped, number, users=users)
                last = number == len(lines)  # no newline came after it
                jobs.append(job.saying(_NO_NEWLINE) if last else job)
            except ImportProblem as problem:
                dropped.append(Dropped(file, number, f"{problem}: {stripped}"))
            state.comment = []
    return Loaded(jobs, dropped)


_NO_NEWLINE = Remark(
    "no-newline",
    "changed",
    "its line ends the file without a newline: Debian's cron ignores such a line, and here it will run",
)


def _variable(line: str) -> tuple[str, str] | None:
    """Name and value of a line that sets a variable; a schedule line has no `=` before its first blank."""
    match = _VARIABLE.fullmatch(line)
    if match is None:
        return None
    name, value = (_unquoted(match[group]) for group in ("name", "value"))
    return (name, value) if re.fullmatch(r"[A-Za-z_]\w*", name) else None


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def _set(state: _State, name: str, value: str) -> Iterator[str]:
    match name:
        case "MAILTO":
            state.mailto = value
        case "SHELL":
            state.shell = value
        case "CRON_TZ":
            state.zone, state.cron_tz = value, True
        case "LOGNAME":
            yield "LOGNAME cannot be set: cron itself puts the user's name there"
        case "MAILFROM" | "CONTENT_TYPE" | "CONTENT_TRANSFER_ENCODING" | "RANDOM_DELAY":
            yield f"{name}={value} is about cron's mails and delays and was not carried over"
        case _:
            state.env[name] = value


def _job(state: _State, line: str, number: int, *, users: bool) -> OldJob:
    line = line.removeprefix("-")
    count = 1 if line.startswith("@") else 5
    parts = line.split(None, count + users)
    if len(parts) <= count + users:
        missing = "a user and a command" if users else "a command"
        raise ImportProblem(f"a schedule of {count} field{'s'[: count > 1]} and {missing} were expected")
    schedule, user = " ".join(parts[:count]), parts[count] if users else ""
    command, stdin = _split_percent(parts[-1])
    rule = None if schedule == "@reboot" else fields.vixie(schedule, state.zone)
    job: dict[str, Any] = {"description": " ".join(filter(None, state.comment))} if any(state.comment) else {}
    job |= {"schedule": schedule, "timezone": state.zone, **KEEPING}
    job["run"] = {"command": _command(state, command, stdin)}
    remarks = [*_remarks(state, schedule, user), *_hints(command)]
    return OldJob(state.file, number, "", line, command_words(command), job, rule, POLICIES, remarks)


def _split_percent(text: str) -> tuple[str, str | None]:
    """The command, and what the first unescaped `%` begins: its standard input, in which further ones are newlines."""
    first, *rest = _PERCENT.split(text)
    stdin = "\n".join(rest).replace("\\%", "%") if rest else None
    return first.replace("\\%", "%").rstrip(), stdin


def _command(state: _State, command: str, stdin: str | None) -> dict[str, Any]:
    text = command
    if stdin is not None:
        ended = stdin if stdin.endswith("\n") else stdin + "\n"
        text = f"(\n{command}\n) <<'{_END}'\n{ended}{_END}\n"
    text = text.replace("{", "{{").replace("}", "}}")  # braces are templates in a spec
    plain = state.shell in {"/bin/sh", "sh"}
    made: dict[str, Any] = {"argv": [text], "shell": True} if plain else {"argv": [state.shell, "-c", text]}
    if state.env:
        made["env"] = {name: value.replace("{", "{{").replace("}", "}}") for name, value in state.env.items()}
    if home := state.env.get("HOME"):
        made["cwd"] = home
    return made


def _remarks(state: _State, schedule: str, user: str) -> Iterator[Remark]:
    if state.mailto != "" and not (state.mailto is None and user):
        to = f"to {state.mailto}" if state.mailto else "to the user"
        yield Remark(
            "mailto",
            "changed",
            f"cron mails all that a run prints {to}; here people get notices of failures (`on_failure`)",
        )
    if user:
        yield Remark(
            "user", "changed", f"it runs as {user}; here it runs as the worker's user, so give it a worker of that user"
        )
    if schedule == "@reboot":
        yield Remark(
            "reboot",
            "changed",
            "@reboot is once for each start of the machine; here it is once for each new build of the workers",
        )
    if state.cron_tz:
        yield Remark(
            "cron-tz",
            "changed",
            f"CRON_TZ={state.zone} holds for it, as cronie reads it; Debian's cron ignores that line",
        )


def _hints(command: str) -> Iterator[Remark]:
    if match := re.search(r"\bsleep\s+\$\(\(\s*RANDOM\s*%\s*(\d+)\s*\)\)", command):
        yield Remark(
            "jitter",
            "hint",
            f"it sleeps for up to {match[1]} s first; `jitter: {match[1]}s` does the same without a busy worker",
        )
    if match := re.search(r"\bflock\b((?:\s+-\w+|\s+--[\w-]+)*)\s+(\S+)", command):
        gives_up = re.search(r"\s(-\w*n\w*|--nonblock|--nb)\b", match[1])
        like = "`overlap: skip`" if gives_up else "`overlap: buffer_one`"
        yield Remark(
            "flock",
            "hint",
            f"flock {'gives up if' if gives_up else 'waits while'} another holds {match[2]}: like {like}, among all jobs of that lock",
        )
    if match := re.search(r"(?:^|\s|/)timeout(?:\s+-\S+)*\s+(\d+[smhd]?)\s", command):
        yield Remark(
            "timeout",
            "hint",
            f"it ends itself after {match[1]}; `timeout: {match[1] if match[1][-1].isalpha() else match[1] + 's'}` says so to Temporal, too",
        )
