"""A plan for a comment on a pull request, and for a terminal."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from schedules.console.markdown import LONGEST, code, error_markdown, escape
from schedules.model import Action, Activity, Policies
from schedules.plan.plan import Applied, Plan, make_plan
from schedules.views.plan import document
from schedules.views.plan_lines import plan_lines
from schedules.views.plan_markdown import plan_markdown
from tests.factories import NOW, desired, observed

OWNER = "billing/production"
EVIL = [
    "`x` <script>alert(1)</script> @everyone [a](http://b) | **b**",
    "``",
    "`",
    "a\n# heading\n- [ ] x",
    "$x$ ![i](j)",
]


def planned(*names: str) -> tuple[Plan, list[Applied]]:
    plan = make_plan(OWNER, {name: desired(name) for name in names}, {}, NOW)
    return plan, [Applied(change, "planned") for change in plan.changes]


@pytest.mark.parametrize("text", EVIL)
def test_in_a_code_span_nothing_has_a_meaning(text: str) -> None:
    """CommonMark: a span ends at the next run of backticks of the very length of the first."""
    span = code(text)
    fence = re.match("`+", span)
    assert fence
    inner = span[fence.end() : -fence.end()]
    assert fence.group() not in re.findall("`+", inner)
    assert "\n" not in span
    assert inner.strip() == "".join(char if char.isprintable() else "␣" for char in text).strip() or "`" in text


@pytest.mark.parametrize("text", EVIL)
def test_in_a_sentence_markup_is_text(text: str) -> None:
    shown = escape(text)
    assert not re.search(r"(?<!\\)[`*<>\[\]|#$!]", shown)
    assert not re.search(r"@\w", shown)
    assert "\n" not in shown


@pytest.mark.parametrize("text", EVIL)
def test_hostile_names_and_values_stay_in_their_line(text: str) -> None:
    there = observed(desired(action=Action("JobWorkflow", "tickwright", (text,))), activity=Activity(running=(text,)))
    doomed = replace(there, id=text)
    plan = make_plan(OWNER, {there.id: desired()}, {there.id: there, text: doomed}, NOW)
    shown = plan_markdown(plan, [Applied(change, "failed", text) for change in plan.changes], [text])
    for line in shown.splitlines():
        assert re.match(r"$|### |#### [~-] |- |billing", line), line
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", line))
        assert not re.search(r"[<>|]|@\w|\]\(", outside), line


def test_every_change_has_its_section() -> None:
    plan = make_plan(
        OWNER,
        {"new": desired("new"), "one": desired("one", policies=Policies("allow_all", 3600))},
        {"one": observed(desired("one")), "old": observed(desired("old"))},
        NOW,
    )
    text = plan_markdown(plan, [Applied(change, "planned") for change in plan.changes])
    assert "#### + create `new`" in text
    assert "#### ~ update `one`" in text
    assert "- `policies.overlap`: `skip` → `allow_all`" in text
    assert "#### - delete `old`" in text
    assert "1 to create, 1 to update, 1 to delete" in text
    assert "Mon 2027\\-03\\-01 08:00 EST, Tue 03\\-02 08:00" in text


def test_a_comment_is_never_too_long_for_its_place() -> None:
    plan, results = planned(*(f"job-{number}" for number in range(2000)))
    text = plan_markdown(plan, results)
    assert len(text) < LONGEST + 100
    shown = text.count("#### ")
    assert text.endswith(f"… and {2000 - shown} more changes\n")


def test_a_line_a_change_and_the_last_one_counts() -> None:
    plan, _ = planned("a", "b")
    lines = [line.text for line in plan_lines(plan)]
    assert lines[0] == "+ create a"
    assert lines[-1] == "billing/production: 2 to create, 0 to update, 0 to delete, 0 unchanged"
    assert next(line.tone for line in plan_lines(plan)) == "create"


def test_what_turned_out_to_be_in_sync_is_no_change_in_the_document() -> None:
    plan, results = planned("a", "b")
    told = document(
        plan, [replace(results[0], result="unchanged"), replace(results[1], result="applied")], warnings=["w"]
    )
    assert [change["job"] for change in told["changes"]] == ["b"]
    assert (told["unchanged"], told["warnings"]) == (1, ["w"])
    assert told["changes"][0]["next_after"][0] == "2027-03-01T13:00:00Z"
    assert told["changes"][0]["consequences"] == []


def test_a_comment_without_a_plan_says_why() -> None:
    text = error_markdown("cannot reach Temporal at h:1 (without TLS); set `X`")
    assert text == "### Schedules\n\n❌ cannot reach Temporal at h:1 \\(without TLS\\); set \\`X\\`\n"
    assert error_markdown("refused:\n  one\n  <b>") == "### Schedules\n\n❌ refused:\n\n- one\n- \\<b\\>\n"
    assert len(error_markdown("x\n" * 50_000)) < LONGEST + 100
