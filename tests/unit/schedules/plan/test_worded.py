"""Plans say what changed in the words of the file; the JSON document has them beside the server's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.compile.job import compile_job, compile_project
from schedules.model import DesiredSchedule, Interval, ObservedSchedule, Times
from schedules.plan.plan import Applied, Plan, Rules, make_plan
from schedules.spec.calendars import CalendarSet, CalendarSpec
from schedules.spec.notices import ChannelSet, ChannelSpec
from schedules.spec.project import Project
from schedules.views.plan import document, result_text
from schedules.views.plan_lines import plan_lines
from schedules.views.plan_markdown import plan_markdown
from tests.factories import NOW, job, observed

OWNER = "billing/production"


def plan_text(whole: Plan) -> str:
    return "\n".join(line.text for line in plan_lines(whole))


def steps(**commands: str) -> dict[str, Any]:
    return {"run": None, "steps": [{"name": name, "command": [word]} for name, word in commands.items()]}


def plan(before: dict[str, Any], after: dict[str, Any], **there: Any) -> Plan:
    was = compile_job(job(**before), "billing", "production", NOW, channels=channels("a"))
    wanted = compile_job(job(**after), "billing", "production", NOW, channels=channels("a"))
    return make_plan(OWNER, {wanted.id: wanted}, {was.id: observed(was, **there)}, NOW)


def channels(path: str) -> dict[str, ChannelSpec]:
    return {name: ChannelSpec.model_validate({"webhook": f"https://{name}/{path}"}) for name in ("ops", "pager")}


def lines(whole: Plan) -> list[str]:
    """Those about fields."""
    text = [line.strip() for line in plan_text(whole).splitlines() if line.startswith("    ")]
    return [line for line in text if " → " in line and not line.startswith("other times")]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"schedule": {"every": "10s"}}, {"schedule": {"every": "1m"}}, ["schedule.every: 10s → 1m"]),
        ({}, {"schedule": "0 9 * * 1-5"}, ["schedule: 0 8 * * 1-5 → 0 9 * * 1-5"]),
        ({}, {"schedule": ["0 8 * * *", "@daily"]}, ["schedule: 0 8 * * 1-5 → 0 8 * * *, @daily"]),
        ({}, {"timezone": "Europe/Berlin"}, ["timezone: America/New_York → Europe/Berlin"]),
        ({"timeout": "30m"}, {"timeout": "1h"}, ["timeout: 30m → 1h"]),
        ({}, {"jitter": "90s"}, ["jitter: (none) → 1m30s"]),
        ({}, {"overlap": "buffer_one"}, ["overlap: skip → buffer_one"]),
        ({}, {"deadline": "2h"}, ["deadline: (none) → 2h"]),
        ({}, {"catchup": {"policy": "skip"}}, ["catchup.policy: run_latest → skip"]),
        ({}, {"start_deadline": "2h"}, ["start_deadline: (none) → 2h"]),
        ({}, {"retry": {"max_attempts": 5, "max": "10m"}}, ["retry.max_attempts: 1 → 5", "retry.max: 5m → 10m"]),
        ({}, {"run": {"command": ["false"]}}, ['run.command: ["true"] → ["false"]']),
        (
            {},
            {"run": {"http": {"url": "http://a/"}}},
            ['run: {"command": ["true"]} → {"http": {"url": "http://a/", "method": "POST"}}'],
        ),
        ({"mode": "shadow"}, {}, ["mode: shadow → live"]),
        ({}, {"task_queue": "other"}, ["task_queue: tickwright → other"]),
        ({}, {"labels": {"team": "a"}}, ["labels: (none) → team=a"]),
        ({}, {"description": "Remind them"}, ["description: (none) → Remind them"]),
        (
            steps(a="x", b="y"),
            {**steps(a="x", b="z"), "timeout": "6m"},
            ["timeout: 5m → 6m", 'steps.b.command: ["y"] → ["z"]'],
        ),
        (steps(a="x"), steps(a="x", b="y"), ['steps.b: (none) → {"command": ["y"]}']),
        ({"on_failure": ["ops"]}, {"on_failure": ["ops", "pager"]}, ['on_failure: ["ops"] → ["ops", "pager"]']),
        ({}, {"on_failure": ["ops"], "contact": "us"}, ['on_failure: (none) → ["ops"]', "contact: (none) → us"]),
        ({"pause_after": 3}, {"pause_after": 5}, ["pause_after.failures: 3 → 5"]),
        (
            {"schedule": "30 2 * * *", "timezone": "Europe/Berlin"},
            {"schedule": "30 2 * * *"},
            ["timezone: Europe/Berlin → America/New_York"],
        ),
        (
            {"schedule": "30 2 * * *"},
            {"schedule": "45 2 * * *", "dst": {"gap": "skip"}},
            ["schedule: 30 2 * * * → 45 2 * * *", "dst.gap: run_after → skip"],
        ),
        (
            {"schedule": {"at": "2027-04-01T09:00"}},
            {"schedule": {"at": "2027-04-02T09:00"}},
            ["schedule: at 2027-04-01T09:00:00 → at 2027-04-02T09:00:00"],
        ),
        ({}, {"start_at": "2027-04-01T06:30"}, ["start_at: (none) → 2027-04-01T06:30"]),
        (
            {"schedule": {"every": "1h"}},
            {"schedule": {"every": "1h", "offset": "5m"}},
            ["schedule.offset: (none) → 5m"],
        ),
        ({}, {"description": "New", "timeout": "6m"}, ["description: (none) → New", "timeout: 5m → 6m"]),
        (
            steps(a="x", b="y"),
            {"run": None, "steps": [{"name": "a", "command": ["x"]}, {"name": "b", "command": ["y"], "needs": []}]},
            ['steps.b.needs: ["a"] → (none)'],
        ),
        (
            steps(a="x"),
            {
                "run": None,
                "steps": [
                    {"name": "a", "command": ["x"], "compensate": {"command": ["u"], "retry": {"max_attempts": 2}}}
                ],
            },
            ['steps.a.compensate: (none) → {"command": ["u"], "retry": {"max_attempts": 2}}'],
        ),
        ({"on_failure": ["ops"], "mode": "shadow"}, {"on_failure": ["ops"]}, ["mode: shadow → live"]),
        (
            {"on_failure": ["ops"]},
            {"on_failure": ["ops"], "on_recovery": []},
            ["on_recovery: as on_failure → (none)"],
        ),
        (
            {"run": {"workflow": {"type": "Close", "direct": {"run_timeout": "5m"}}}},
            {"run": {"workflow": {"type": "Close", "args": [1], "direct": {"run_timeout": "10m", "memo": {"a": 1}}}}},
            [
                "run.workflow.direct.run_timeout: 5m → 10m",
                "run.workflow.direct.memo.a: (none) → 1",
                "run.workflow.args: (none) → [1]",
            ],
        ),
        (
            {},
            {"run": {"workflow": {"type": "Close", "direct": {}}}},
            ['run: {"command": {"argv": ["true"]}} → {"workflow": {"type": "Close", "direct": {}}}'],
        ),
    ],
)
def test_a_change_is_told_in_the_words_of_the_file(
    before: dict[str, Any], after: dict[str, Any], told: list[str]
) -> None:
    assert sorted(lines(plan(before, after))) == sorted(told)


def test_another_rule_for_clock_changes_is_told_with_the_days_on_which_it_matters() -> None:
    """Clocks go forward in Berlin on the last Sundays of March: 2027-03-28, 2028-03-26, …"""
    night = {"schedule": "30 2 * * *", "timezone": "Europe/Berlin"}

    text = plan_text(plan(night, {**night, "dst": {"gap": "shift"}}))

    assert "    dst.gap: run_after → shift\n" in text
    assert "    other times on Sun 2027-03-28 03:00 CEST → 03:30 CEST; Sun 2028-03-26 03:00 CEST → 03:30 CEST; " in text
    assert "schedule" not in text


def test_a_longer_horizon_is_no_change_of_the_schedule() -> None:
    night = {"schedule": "30 2 * * *", "timezone": "Europe/Berlin"}
    old, new = (
        compile_job(job(**night), "billing", "production", NOW.replace(year=year)) for year in (NOW.year - 1, NOW.year)
    )
    whole = make_plan(OWNER, {new.id: new}, {old.id: observed(old)}, NOW)

    assert lines(whole) == []
    assert "the times stay; DST horizon extended to 2030-12-31" in plan_text(whole)


def by_hand(server: ObservedSchedule) -> ObservedSchedule:
    return replace(server, times=Times(server.times.timezone, intervals=(Interval(60),)))


def test_what_was_changed_on_the_server_is_told_in_the_words_of_the_file_too() -> None:
    there = compile_job(job(), "billing", "production", NOW)
    whole = make_plan(OWNER, {there.id: there}, {there.id: by_hand(observed(there))}, NOW)

    assert lines(whole) == ["schedule: every 1m → 0 8 * * 1-5"]


def test_what_many_jobs_share_stands_there_once() -> None:
    jobs = [job(f"job-{number:02}", on_failure=["ops"]) for number in range(16)]
    old, new = (
        {each.name: compile_job(each, "billing", "production", NOW, channels=channels(path)) for each in jobs}
        for path in ("a", "b")
    )
    whole = make_plan(OWNER, new, {name: observed(each) for name, each in old.items()}, NOW)

    assert plan_text(whole).splitlines() == [
        "~ update 16 jobs (job-00, job-01, job-02, job-03, job-04 and 11 more)",
        "    channels.ops.webhook.url: https://ops/a → https://ops/b",
        "billing/production: 0 to create, 16 to update, 0 to delete, 0 unchanged",
    ]
    assert plan_markdown(whole, planned(whole)).count("channels.ops.webhook.url") == 1


def test_a_default_of_many_jobs_stands_there_once() -> None:
    old, new = (
        {name: compile_job(job(name, timeout=timeout), "billing", "production", NOW) for name in ("a", "b", "c")}
        for timeout in ("30m", "1h")
    )
    whole = make_plan(OWNER, new, {name: observed(each) for name, each in old.items()}, NOW)

    assert plan_text(whole).splitlines() == [
        "~ update 3 jobs (a, b, c)",
        "    timeout: 30m → 1h",
        "billing/production: 0 to create, 3 to update, 0 to delete, 0 unchanged",
    ]


def test_a_watchdog_is_told_as_what_its_jobs_say() -> None:
    """`a` begins to be watched, `b` gets more time, and `c` is new: what it says is not told a second time."""

    def schedules(**missed: Any) -> dict[str, DesiredSchedule]:
        jobs = tuple(job(name, on_missed=said) for name, said in missed.items())
        sets = (ChannelSet("jobs.yaml", channels("x"), frozenset("abc")),)
        return compile_project(Project("billing", "production", jobs, channels=sets), NOW)

    before = schedules(a=None, b={"channels": ["ops"], "grace": "10m"})
    after = schedules(a=["ops"], b={"channels": ["ops"], "grace": "1h"}, c=["pager"])
    whole = make_plan(OWNER, after, {name: observed(each) for name, each in before.items()}, NOW)

    assert sorted(lines(whole)) == ['jobs.a.on_missed: (none) → ["ops"]', "jobs.b.on_missed.grace: 10m → 1h"]


def test_another_content_of_a_calendar_is_told_by_its_name() -> None:
    def schedules(day: str) -> dict[str, DesiredSchedule]:
        freeze = CalendarSpec.model_validate({"dates": [day]})
        sets = (CalendarSet("jobs.yaml", {"freeze": freeze}, frozenset({"a"})),)
        jobs = (job("a", **{"except": ["freeze"]}),)
        return compile_project(Project("billing", "production", jobs, calendars=sets), NOW)

    there = {name: observed(each) for name, each in schedules("2027-12-24").items()}
    whole = make_plan(OWNER, schedules("2027-12-23"), there, NOW)

    assert lines(whole) == ["calendars.freeze: the days before → the days in the file"]
    assert "other times on Thu 2027-12-23 08:00 EST → none; Fri 2027-12-24 none → 08:00 EST" in plan_text(whole)


def test_creates_come_first_and_what_must_not_be_made_last() -> None:
    mine = [compile_job(job(name), "billing", "production", NOW) for name in ("a-new", "c-new")]
    theirs = compile_job(job("b-old"), "billing", "production", NOW)
    held = compile_job(job("a-held", timeout="1m"), "other", "production", NOW)
    wanted = [*mine, compile_job(job("a-held"), "billing", "production", NOW)]
    whole = make_plan(
        OWNER, {each.id: each for each in wanted}, {each.id: observed(each) for each in (theirs, held)}, NOW
    )

    starts = [line for line in plan_text(whole).splitlines() if line[0] in "+~-!"]
    assert [line.split(":")[0] for line in starts] == [
        "+ create a-new",
        "+ create c-new",
        "- delete b-old",
        "! update a-held",
    ]


def test_names_that_another_environment_has_are_one_line_without_the_advice_to_take_them() -> None:
    jobs = [job(f"job-{number:02}") for number in range(16)]
    old = [compile_job(each, "billing", "production", NOW) for each in jobs]
    new = {each.name: compile_job(each, "billing", "staging", NOW) for each in jobs}
    whole = make_plan("billing/staging", new, {each.id: observed(each) for each in old}, NOW)
    [line, total] = plan_text(whole).splitlines()
    failed = [Applied(change, "failed", change.conflict) for change in whole.changes]

    assert line.startswith("! update 16 jobs (job-00, ")
    assert "the name belongs to billing/production: each environment needs a namespace of its own, or a prefix" in line
    assert '`environments: {staging: {name_prefix: "sta-"}}`' in line
    assert "--adopt" not in line
    assert total == "billing/staging: 0 to create, 0 to update, 0 to delete, 0 unchanged, 16 refused"
    assert len(result_text(whole, failed, interrupted=False).splitlines()) == 2
    adopting = make_plan(
        "billing/staging", new, {each.id: observed(each) for each in old}, NOW, rules=Rules(adopt=True)
    )
    assert not [change for change in adopting.changes if change.conflict]


def planned(whole: Plan) -> list[Applied]:
    return [Applied(change, "planned") for change in whole.changes]


def test_the_document_has_both_words() -> None:
    whole = plan({"timeout": "30m"}, {"timeout": "1h"})

    [change] = document(whole, planned(whole))["changes"]

    assert change["spec"] == [{"field": "timeout", "before": "30m", "after": "1h"}]
    assert {"field": "action.args[0].steps[0].timeout", "before": 1800.0, "after": 3600.0} in change["diff"]


def test_markdown_marks_only_what_loses_a_run() -> None:
    """Eight o'clock in New York is an hour past: moving the run there takes today's away."""
    now = NOW.replace(hour=14)
    old, new = (compile_job(job(schedule=text), "billing", "production", now) for text in ("0 10 * * *", "0 8 * * *"))
    whole = make_plan(OWNER, {new.id: new}, {old.id: observed(old)}, now)

    text = plan_markdown(whole, planned(whole))

    assert text.count("⚠️") == 1
    assert "⚠️ if applied now, this change loses a run: 2027" in text


def test_markdown_marks_nothing_where_no_run_is_lost() -> None:
    night = {"schedule": "30 2 * * *", "timezone": "Europe/Berlin"}
    whole = plan(night, {**night, "dst": {"gap": "shift"}})

    text = plan_markdown(whole, planned(whole))

    assert "- other times on Sun 2027" in text
    assert "⚠️" not in text


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (steps(one="a", two="b"), steps(one="a"), ['steps.two: {"command": ["b"]} → (none)']),
        (
            steps(one="a", two="b"),
            steps(one="a", three="b"),
            ['steps.two: {"command": ["b"]} → (none)', 'steps.three: (none) → {"command": ["b"]}'],
        ),
        (
            {},
            steps(one="a"),
            ['run: {"command": ["true"]} → (none)', 'steps.one: (none) → {"command": ["a"]}'],
        ),
    ],
)
def test_a_step_that_goes_away_is_told_by_its_name(
    before: dict[str, Any], after: dict[str, Any], told: list[str]
) -> None:
    assert lines(plan(before, after)) == told


@st.composite
def several_steps(draw: st.DrawFn) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for name in draw(st.lists(st.sampled_from("abcd"), unique=True, min_size=1)):
        step: dict[str, Any] = {"name": name, **draw(WORK)}
        if draw(st.booleans()) and found:
            step["needs"] = [found[0]["name"]]
        if draw(st.booleans()):
            step["compensate"] = draw(WORK)
        if draw(st.booleans()):
            step["timeout"] = "1m"
        found.append(step)
    return {"run": None, "steps": found}


WORK: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"command": ["x"]}, {"command": ["y"]}, {"http": {"url": "http://h/"}}]
)


@given(several_steps(), several_steps())
def test_any_change_of_steps_can_be_told(before: dict[str, Any], after: dict[str, Any]) -> None:
    whole = plan(before, after)

    results = [Applied(change, "planned") for change in whole.changes]
    assert bool(lines(whole)) == bool(whole.changes)
    assert plan_markdown(whole, results)
    assert document(whole, results)
