"""What a notice says, whatever stands in the names and texts that others wrote."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from activities.notices.contract import Notice
from activities.notices.text import document_of, local_time, run_url_of, text_of, title_of

KEYS = {
    "version", "event", "title", "text", "project", "environment", "job", "scheduled_at", "scheduled_local", "timezone",
    "outcome", "reason", "attempts", "duration", "output", "failures", "since", "contact", "runbook", "run_url",
    "workflow_id", "run_id",
}  # fmt: skip


def notice(**fields: Any) -> Notice:
    usual: dict[str, Any] = {
        "event": "failure",
        "project": "billing",
        "environment": "production",
        "job": "ledger",
        "timezone": "America/New_York",
        "scheduled_at": "2027-03-14T07:30:00Z",
        "outcome": "timed_out",
        "reason": "step run: timed out after 5 s",
        "attempts": 3,
        "duration": 90.0,
        "output": "line 1\nline 2",
        "failures": 2,
        "since": "2027-03-13T07:30:00Z",
        "contact": "billing team",
        "runbook": "https://wiki.example/ledger",
        "workflow_id": "ledger-2027-03-14T07:30:00Z",
        "run_id": "run-1",
    }
    return Notice(**(usual | fields))


def test_a_person_reads_what_is_needed_to_act() -> None:
    url = run_url_of("https://ui.example/", "default", notice())
    assert text_of(notice(), url).splitlines() == [
        "Scheduled for: Sun 2027-03-14 03:30:00 EDT",
        "Outcome: timed out (3 attempts, 1.5 min)",
        "Reason: step run: timed out after 5 s",
        "Failed: 2 in a row; the first was scheduled for Sat 2027-03-13 02:30:00 EST",
        "Contact: billing team",
        "Runbook: https://wiki.example/ledger",
        "Run: https://ui.example/namespaces/default/workflows/ledger-2027-03-14T07%3A30%3A00Z/run-1/history",
        "Last lines of output:",
        "line 1",
        "line 2",
    ]


def test_titles_say_what_happened() -> None:
    one = {event: title_of(notice(event=event)) for event in ("failure", "reminder", "paused", "recovery", "missed")}
    assert one == {
        "failure": "[billing/production] ledger failed 2 times in a row",
        "reminder": "[billing/production] ledger still fails, 2 times in a row",
        "paused": "[billing/production] ledger is paused: it failed 2 times in a row",
        "recovery": "[billing/production] ledger succeeded again",
        "missed": "[billing/production] ledger did not run",
    }
    assert title_of(notice(failures=1)) == "[billing/production] ledger failed once"


def test_without_an_address_of_the_web_ui_there_is_no_link() -> None:
    assert run_url_of("", "default", notice()) == ""
    assert document_of(notice(), "")["run_url"] is None


def test_a_zone_that_this_machine_does_not_know_is_told_in_utc() -> None:
    assert local_time("2027-03-14T07:30:00Z", "Mars/Olympus") == "Sun 2027-03-14 07:30:00 UTC"


@given(st.text(max_size=1_000), st.text(max_size=1_000))
def test_a_document_has_all_its_keys_and_gives_back_every_text_as_it_was(contact: str, output: str) -> None:
    hostile = notice(contact=contact, output=output, reason="<b>\"'&\N{PILE OF POO}\n\0")
    document = json.loads(json.dumps(document_of(hostile, ""), ensure_ascii=False))
    assert document.keys() == KEYS
    assert (document["contact"], document["output"], document["reason"]) == (contact, output, hostile.reason)
    assert "\n" not in document["title"]


def test_a_document_of_what_is_not_known_has_all_its_keys() -> None:
    bare = Notice("missed", "billing", "default", "ledger", "UTC")
    assert document_of(bare, "").keys() == KEYS
