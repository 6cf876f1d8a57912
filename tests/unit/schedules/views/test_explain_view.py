"""What `explain` says of a run that no time of the schedule started."""

from __future__ import annotations

from schedules.ledger.due import Due
from schedules.ledger.explain import Explained
from schedules.ledger.occurrences import Occurrence
from schedules.views.explain import explained_text
from tests.factories import utc
from tests.unit.schedules.ledger.ledgers import NOON, job, run


def test_a_run_that_a_new_build_of_the_workers_started_is_due_by_its_mark() -> None:
    started = run(NOON, build="billing-2027.3.1")
    occurrence = Occurrence(NOON, "succeeded", expected=False, origin="new_build", run=started)
    near = (utc("2027-03-01T11:50:00Z"), utc("2027-03-01T12:10:00Z"))
    text = explained_text(Explained(job(), Due(NOON, "not_scheduled", *near), NOON, occurrence))
    (due,) = [line for line in text.splitlines() if line.startswith("  due")]
    assert due.split(maxsplit=1)[1] == "yes: a new build of the workers started (@reboot)"
    assert "11:50" not in text  # The nearest times of the schedule would mean nothing.
    assert "billing-2027.3.1" in text
