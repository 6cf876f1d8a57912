"""systemd timers with the services that they start (systemd.timer(5), systemd.service(5), systemd.exec(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from schedules.importing.formats.oncalendar import OnCalendar, parse_oncalendar
from schedules.importing.formats.units import Unit, parse_unit, span, words
from schedules.importing.naming import command_words
from schedules.importing.old_job import Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import UnionRule
from schedules.text.duration import format_duration

MONOTONIC: Final = ("OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec")
CLOCK: Final = {"gap": "skip", "repeat": "first"}
_SPECIFIER: Final = re.compile(r"%[a-zA-Z]")
_SANDBOX: Final = re.compile(
    r"Protect|Private|Restrict|Capabilit|NoNewPrivileges|SystemCallFilter|ReadOnly|ReadWrite|Dynamic"
)


def load_timers(texts: Mapping[str, str], zone: str) -> Loaded:
    """A job for each `.timer` among the files, with the commands of its service; `texts` are the files by name."""
    units = {PurePath(name).name: parse_unit(text) for name, text in texts.items()}
    jobs = [_job(name, parse_unit(text), units, zone) for name, text in texts.items() if name.endswith(".timer")]
    return Loaded(jobs)


def _job(file: str, timer: Unit, units: Mapping[str, Unit], zone: str) -> OldJob:
    name = PurePath(file).stem
    service_name = timer.last("Timer", "Unit") or f"{name}.service"
    service = units.get(service_name)
    description = timer.last("Unit", "Description") or (service.last("Unit", "Description") if service else None)
    job: dict[str, Any] = {"description": description} if description else {}
    remarks = list(_timer_remarks(timer))
    calendars = _calendars(timer, remarks)
    zones = {each.zone or zone for each in calendars}
    rule = UnionRule(tuple(each.rule(zone) for each in calendars)) if calendars and len(zones) == 1 else None
    if len(zones) > 1:
        remarks.append(
            Remark(
                "zones",
                "question",
                f"its times are of {len(zones)} zones ({', '.join(sorted(zones))}): make it one job for each, or choose one zone",
            )
        )
    job["schedule"] = list(_entries(calendars, remarks)) or [{"every": "1d"}]
    job |= {"timezone": min(zones, default=zone), "dst": CLOCK, **_policies(timer, service, remarks)}
    job |= _what_it_runs(service, service_name, remarks)
    source = "; ".join(f"{each.key}={each.value}" for each in timer.settings if each.section == "Timer")
    naming = [name, *(command_words(" ".join(_first_command(service))) if service else [])]
    return OldJob(file, 0, name, source, naming[:1], job, rule, _stated(timer), remarks)


def _calendars(timer: Unit, remarks: list[Remark]) -> list[OnCalendar]:
    found: list[OnCalendar] = []
    for setting in timer.all("Timer", "OnCalendar"):
        try:
            found.append(parse_oncalendar(setting.value))
        except ImportProblem as problem:
            remarks.append(Remark("schedule", "refused", str(problem)))
    return found


def _entries(calendars: list[OnCalendar], remarks: list[Remark]) -> Iterator[Any]:
    for each in calendars:
        try:
            entry = each.entry()
            yield entry if "dialect" in entry else entry["cron"]
        except ImportProblem as problem:
            remarks.append(Remark("schedule", "question", f"no cron text means the same: {problem}"))


def _timer_remarks(timer: Unit) -> Iterator[Remark]:
    if given := [each for key in MONOTONIC for each in timer.all("Timer", key)]:
        keys = ", ".join(f"{each.key}={each.value}" for each in given)
        yield Remark(
            "monotonic",
            "question",
            f"{keys} counts from the machine's boot or the last run, and no calendar says that: at which times should it run?",
        )
    if timer.last("Timer", "WakeSystem") in {"true", "yes", "1", "on"}:
        yield Remark("wake", "changed", "WakeSystem wakes a sleeping machine; here a worker has to be awake")


def _policies(timer: Unit, service: Unit | None, remarks: list[Remark]) -> dict[str, Any]:
    persistent = (timer.last("Timer", "Persistent") or "").lower() in {"true", "yes", "1", "on"}
    made: dict[str, Any] = {"overlap": "skip", "catchup": {"policy": "run_latest" if persistent else "skip"}}
    with _said(remarks, "jitter"):
        if delay := timer.last("Timer", "RandomizedDelaySec"):
            made["jitter"] = format_duration(span(delay))
    limit = service and (service.last("Service", "TimeoutStartSec") or service.last("Service", "TimeoutSec"))
    with _said(remarks, "timeout"):
        if limit and limit != "infinity":
            made["timeout"] = format_duration(span(limit))
    return made


class _said:  # noqa: N801  used as a word in a `with` line
    """What cannot be read in a `with` block becomes a remark, and the rest goes on."""

    def __init__(self, remarks: list[Remark], identifier: str) -> None:
        self._remarks, self._id = remarks, identifier

    def __enter__(self) -> None:
        """Nothing to begin."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, ImportProblem):
            self._remarks.append(Remark(self._id, "question", str(error)))
            return True
        return False


def _first_command(service: Unit) -> list[str]:
    found = service.all("Service", "ExecStart")
    return words(found[0].value.lstrip("-@:+!|")) if found else []


def _what_it_runs(service: Unit | None, name: str, remarks: list[Remark]) -> dict[str, Any]:
    if service is None:
        remarks.append(Remark("service", "question", f"its service {name} is not among the files: what does it run?"))
        return {"run": {"command": ["./" + name.removesuffix(".service")]}}
    remarks.extend(_service_remarks(service))
    commands = list[tuple[str, dict[str, Any]]]()
    for key in ("ExecStartPre", "ExecStart", "ExecStartPost"):
        for setting in service.all("Service", key):
            with _said(remarks, "command"):
                commands.append((setting.value, _command(service, setting.value)))
            if setting.value.startswith("-"):
                step = "pre-step" if key == "ExecStartPre" else "ignored-failure"
                remarks.append(
                    Remark(
                        step,
                        "changed",
                        f"{key}={setting.value} may fail; here its command always ends with success (`|| true`)",
                    )
                )
    if len(commands) == 1:
        return {"run": {"command": commands[0][1]}}
    if not commands:
        remarks.append(Remark("command", "question", "its service has no ExecStart: what does it run?"))
        return {"run": {"command": ["./" + name.removesuffix(".service")]}}
    return {
        "steps": [
            {"name": f"step-{number}", "command": command} for number, (_, command) in enumerate(commands, start=1)
        ]
    }


def _command(service: Unit, value: str) -> dict[str, Any]:
    prefix = re.match(r"[-@:+!|]*", value)
    rest = value[prefix.end() :] if prefix else value
    may_fail = prefix is not None and "-" in prefix[0]
    given = [word.replace("{", "{{").replace("}", "}}") for word in words(rest)]
    if not given:
        raise ImportProblem(f"`{value}` names no program")
    made: dict[str, Any] = {"argv": ["/bin/sh", "-c", '"$@" || true', "sh", *given] if may_fail else given}
    env: dict[str, str] = {}
    for setting in service.all("Service", "Environment"):
        for word in words(setting.value):
            key, _, text = word.partition("=")
            env[key] = text.replace("{", "{{").replace("}", "}}")
    if env:
        made["env"] = env
    if folder := service.last("Service", "WorkingDirectory"):
        made["cwd"] = folder.lstrip("-")
    return made


def _service_remarks(service: Unit) -> Iterator[Remark]:
    if user := service.last("Service", "User"):
        yield Remark(
            "user", "changed", f"it runs as {user}; here it runs as the worker's user, so give it a worker of that user"
        )
    if files := service.all("Service", "EnvironmentFile"):
        yield Remark(
            "environment-file",
            "changed",
            f"the variables of {', '.join(each.value for each in files)} are not read: write them under `env`, or as secrets",
        )
    if units := service.last("Unit", "OnFailure"):
        yield Remark("on-failure", "changed", f"OnFailure={units} is not started: name channels in `on_failure`")
    if _SPECIFIER.search(
        " ".join(each.value for each in service.settings if each.key.startswith(("Exec", "Environment")))
    ):
        yield Remark("specifiers", "question", "its command has specifiers such as %n or %i: what do they stand for?")
    if keys := sorted({each.key for each in service.settings if _SANDBOX.match(each.key)}):
        yield Remark("sandbox", "changed", f"{', '.join(keys)} confines it; here it has the worker's rights")
    if restart := service.last("Service", "Restart"):
        yield Remark("restart", "changed", f"Restart={restart} starts it again after a failure: say so in `retry`")


def _stated(timer: Unit) -> tuple[Policy, ...]:
    persistent = (timer.last("Timer", "Persistent") or "").lower() in {"true", "yes", "1", "on"}
    missed = (
        "Persistent: one run after the machine was off"
        if persistent
        else "a time that passed while the machine was off is gone"
    )
    return (
        Policy("overlap", "a unit that still runs is not started again", "overlap: skip"),
        Policy("missed runs", missed, f"catchup: {'run_latest' if persistent else 'skip'}"),
        Policy("retries", "none, but for Restart=", "none"),
        Policy("timeout", "TimeoutStartSec of the service", "its timeout, or the one that you gave"),
        Policy("notices", "OnFailure= of the service", "none, until you add `on_failure`"),
    )
