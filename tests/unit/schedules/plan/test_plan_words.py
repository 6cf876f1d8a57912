"""One rule for every plan: what changed in the file stands in it in the file's words, and nothing else does."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from schedules.compile.job import compile_project
from schedules.console.terminal import wrapped
from schedules.plan.plan import Applied, Plan, make_plan
from schedules.spec.calendars import CalendarSet, CalendarSpec
from schedules.spec.job import JobSpec
from schedules.spec.notices import ChannelSet, ChannelSpec
from schedules.spec.project import Project
from schedules.views.plan_lines import plan_lines
from schedules.views.plan_markdown import plan_markdown
from tests.factories import NOW, observed

NAMES = ("alpha", "beta")
Fields = dict[str, Any]
QUICK = [Phase.explicit, Phase.reuse, Phase.generate]
"""An example takes a tenth of a second: making a failing one smaller would take minutes."""
WORK = [{"command": ["x"]}, {"command": {"argv": ["x y"], "shell": True}}, {"http": {"url": "http://h/"}}]
STEPS = [
    [{"name": "a", "command": ["x"]}, {"name": "b", "command": ["y"]}],
    [{"name": "b", "command": ["y"]}, {"name": "a", "command": ["x"]}],
    [{"name": "a", "command": ["x"], "timeout": "20m"}, {"name": "b", "command": ["y"]}],
    [{"name": "a", "command": ["x"]}, {"name": "b", "command": ["y"], "needs": []}],
    [
        {"name": "a", "command": ["x"]},
        {"name": "c", "command": ["z"], "compensate": {"command": ["u"], "timeout": "7m"}},
        {"name": "b", "command": ["y"]},
    ],
    [
        {"name": "a", "command": ["x"]},
        {"name": "c", "command": ["z"], "compensate": {"command": ["u"]}, "needs": ["a"]},
        {"name": "b", "command": ["y"], "when": "always"},
    ],
]
CHOICES: dict[str, list[Any]] = {
    "schedule": [
        "30 2 * * *",
        "0 8 * * 1-5",
        {"every": "10m"},
        {"every": "1h", "offset": "5m"},
        {"at": "2027-05-01T09:00"},
        {"at": "2027-05-02T09:00"},
        ["0 6 * * *", {"every": "2h"}],
    ],
    "timezone": ["Europe/Berlin", "America/New_York", "UTC"],
    "dst": [None, {"gap": "shift"}, {"repeat": "both"}, {"gap": "skip", "repeat": "second"}],
    "only": [None, ["workdays"]],
    "except": [None, ["freeze"]],
    "jitter": [None, "30s", "2m"],
    "overlap": [None, "buffer_all"],
    "catchup": [None, {"policy": "skip"}, {"policy": "run_all", "max_missed": 3}],
    "start_deadline": [None, "2h"],
    "deadline": [None, "3h"],
    "timeout": ["5m", "6m"],
    "heartbeat_timeout": [None, "45s"],
    "retry": [None, {"max_attempts": 3}, {"max_attempts": 3, "initial": "20s"}, {"permanent_errors": ["ValueError"]}],
    "task_queue": [None, "other"],
    "start_at": [None, "2027-04-01T06:30"],
    "mode": [None, "shadow"],
    "description": [None, "What it is for."],
    "labels": [None, {"team": "a"}],
    "contact": [None, "us"],
    "runbook": [None, "https://wiki/x"],
    "on_failure": [None, ["ops"], {"channels": ["ops"], "after": 3, "remind_every": "2h"}],
    "on_recovery": [None, ["pager"]],
    "on_missed": [None, ["ops"], {"channels": ["ops"], "grace": "1h"}],
    "pause_after": [None, 3, {"failures": 3, "retry_every": "1h"}],
    "ping": [None, "https://hc/x"],
}
NOTICES = {"on_failure", "on_recovery", "on_missed", "pause_after", "ping"}
SERVER_TERMS = re.compile(r"times\.|action\.|policies\.|args\[|steps\[|as before")
CALENDARS = CalendarSet(
    "jobs.yaml",
    {
        "freeze": CalendarSpec.model_validate({"dates": ["2027-12-24..2027-12-26"]}),
        "workdays": CalendarSpec.model_validate({"dates": ["2027-03-01..2029-12-31"]}),
    },
    frozenset(NAMES),
)
CHANNELS = ChannelSet(
    "jobs.yaml",
    {name: ChannelSpec.model_validate({"webhook": f"https://{name}/"}) for name in ("ops", "pager")},
    frozenset(NAMES),
)


@st.composite
def jobs(draw: st.DrawFn) -> Fields:
    fields = {name: draw(st.sampled_from(choices)) for name, choices in CHOICES.items()}
    work = {"run": draw(st.sampled_from(WORK))} if draw(st.booleans()) else {"steps": draw(st.sampled_from(STEPS))}
    return {name: value for name, value in {**fields, **work}.items() if value is not None}


@st.composite
def edits(draw: st.DrawFn) -> tuple[Fields, Fields]:
    """A job, and the same with up to three of its fields as in another."""
    before, other = draw(jobs()), draw(jobs())
    names = draw(st.sets(st.sampled_from([*CHOICES, "run"]), max_size=3))
    names |= {"steps"} if "run" in names else set()
    after = {**{name: value for name, value in before.items() if name not in names}}
    return before, after | {name: other[name] for name in names if name in other}


def project(fields: list[Fields]) -> Project:
    try:
        found = [JobSpec.model_validate({"name": name, **each}) for name, each in zip(NAMES, fields, strict=True)]
    except ValidationError:
        assume(False)
        raise
    return Project("billing", "production", tuple(found), calendars=(CALENDARS,), channels=(CHANNELS,))


def plan_of(pairs: list[tuple[Fields, Fields]]) -> Plan:
    there, wanted = (compile_project(project([pair[side] for pair in pairs]), NOW) for side in (0, 1))
    return make_plan("billing/production", wanted, {name: observed(each) for name, each in there.items()}, NOW)


def told(text: str) -> set[tuple[str, str]]:
    """The job and the key of the file of every line about a field, after checking that the line tells of a change."""
    found, names = set[tuple[str, str]](), list[str]()
    for line in text.splitlines():
        if not line.startswith("    "):
            names = re.findall("|".join(NAMES), line)
        elif " → " in line and not line.strip().startswith("other times"):
            field, _, values = line.strip().partition(": ")
            before, _, after = values.partition(" → ")
            assert before != after, line
            own = re.fullmatch(r"jobs\.(\w+)\.(.+)", field)
            parts = re.split(r"[. ]", own[2] if own else field.removeprefix("order of "))
            found |= {(name, parts[0]) for name in ([own[1]] if own else names)}
    return found


def changed(before: Fields, after: Fields) -> set[str]:
    keys = {key for key in {**before, **after} if before.get(key) != after.get(key)}
    return keys - NOTICES if "shadow" in (before.get("mode"), after.get("mode")) else keys


@given(st.tuples(edits(), edits()))
@settings(
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    deadline=None,
    max_examples=40,
    phases=QUICK,
)
def test_every_change_of_the_file_is_told_in_its_words_and_nothing_else(pairs: tuple[Any, Any]) -> None:
    whole = plan_of(list(pairs))
    text = "\n".join(line.text for line in plan_lines(whole))

    wanted = {(name, key) for name, pair in zip(NAMES, pairs, strict=True) for key in changed(*pair)}
    if any(key == "task_queue" for _, key in wanted):  # It decides from where the others are watched.
        text = "\n".join(line for line in text.splitlines() if "on_missed.task_queue" not in line)
    assert told(text) == wanted, text
    markdown = plan_markdown(whole, [Applied(change, "planned") for change in whole.changes])
    for shown in (text, markdown):
        assert not SERVER_TERMS.search(shown), shown
    for line in wrapped_lines(text):
        assert len(line) <= 80 or " " not in line.strip(), line


def wrapped_lines(text: str) -> list[str]:
    """As on a terminal of 80 columns."""
    return [part for line in text.splitlines() for part in wrapped(line, 80).splitlines()]
