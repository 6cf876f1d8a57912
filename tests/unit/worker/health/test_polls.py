"""What a worker makes of the answers to its polls."""

from __future__ import annotations

from temporalio.runtime import BUFFERED_METRIC_KIND_COUNTER, BUFFERED_METRIC_KIND_HISTOGRAM

from tests.unit.worker.metrics.test_sdk_metrics import OfSdk, Page, Told
from worker.health.polls import ANSWERED, FAILED, OPERATIONS, SENT, Polls

SENT_METRIC, FAILED_METRIC = (OfSdk(name, BUFFERED_METRIC_KIND_COUNTER) for name in (SENT, FAILED))
ANSWERED_METRIC = OfSdk(ANSWERED, BUFFERED_METRIC_KIND_HISTOGRAM, unit="s")
WORKFLOWS, ACTIVITIES = OPERATIONS


class Scene:
    """Polls, their clock, and what the core counts of them."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.page = Page()
        self.polls = Polls(self.page, lambda: self.now)

    def sent(self, *operations: str) -> None:
        self.page.take([Told(SENT_METRIC, 1, {"operation": name}) for name in operations])

    def answered(self, operation: str) -> None:
        self.page.take([Told(ANSWERED_METRIC, 0.1, {"operation": operation})])

    def refused(self, operation: str, code: str) -> None:
        """The core counts it among the answers, too, and polls again."""
        self.sent(operation)
        self.answered(operation)
        self.page.take([Told(FAILED_METRIC, 1, {"operation": operation, "status_code": code})])


def polling() -> Scene:
    scene = Scene()
    scene.sent(*OPERATIONS)
    return scene


def test_before_both_kinds_of_polls_were_sent_a_worker_is_starting() -> None:
    scene = Scene()
    assert scene.polls.trouble() == "starting"
    scene.sent(ACTIVITIES)
    assert scene.polls.trouble() == "starting"
    scene.sent(WORKFLOWS)
    assert scene.polls.trouble() == ""


def test_a_refusal_is_told_at_once_although_another_kind_of_poll_is_taken() -> None:
    scene = polling()
    scene.refused(ACTIVITIES, "PERMISSION_DENIED")
    assert scene.polls.trouble() == "polls are refused: PERMISSION_DENIED"
    scene.now += 5
    scene.answered(WORKFLOWS)
    assert scene.polls.trouble() == "polls are refused: PERMISSION_DENIED"


def test_a_refusal_is_over_with_the_next_answer_or_when_none_follows() -> None:
    scene = polling()
    scene.refused(ACTIVITIES, "UNAUTHENTICATED")
    assert scene.polls.trouble()
    scene.answered(ACTIVITIES)
    assert scene.polls.trouble() == ""
    scene.refused(WORKFLOWS, "NOT_FOUND")
    scene.now += 14
    assert scene.polls.trouble()
    scene.now += 14
    scene.refused(WORKFLOWS, "NOT_FOUND")
    assert scene.polls.trouble()
    scene.now += 15.1
    assert scene.polls.trouble() == ""


def test_what_may_pass_is_told_after_half_a_minute_in_which_no_poll_is_held() -> None:
    scene = Scene()
    for now in range(0, 31, 5):
        scene.now = now
        for name in OPERATIONS:
            scene.refused(name, "UNAVAILABLE")
        assert scene.polls.trouble() == ("polls fail: UNAVAILABLE" if now == 30 else "")
    scene.sent(*OPERATIONS)
    assert scene.polls.trouble() == ""
