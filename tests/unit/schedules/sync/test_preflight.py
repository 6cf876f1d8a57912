"""What would keep jobs from running, found before they are applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from activities.contract import OfferQuestion, WorkerOffer
from schedules.compile.job import compile_job
from schedules.model import Action, DesiredSchedule
from schedules.plan.plan import Plan, make_plan
from schedules.spec.notices import ChannelSpec
from schedules.sync.preflight import preflight, unregistered
from schedules.testing import SchedulesInMemory
from tests.factories import NOW, desired, job, observed


@dataclass
class Workers:
    """By queue what its workers offer; a queue that is missing has no worker, None is one that does not answer."""

    offers: dict[str, WorkerOffer | list[WorkerOffer | None] | None] = field(default_factory=dict)
    limit: int = 0
    asked: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    async def polls(self, task_queue: str) -> bool:
        return task_queue in self.offers

    async def answers(self, task_queue: str, question: OfferQuestion) -> list[WorkerOffer | None]:
        self.asked.append(task_queue)
        self.secrets = question.secrets
        offers = self.offers[task_queue]
        return offers if isinstance(offers, list) else [offers]

    async def largest_payload(self) -> int:
        return self.limit


def compiled(name: str, queue: str = "tickwright", **run: object) -> DesiredSchedule:
    return compile_job(job(name, run=run, task_queue=queue), "billing", "production", NOW)


def plan(*wanted: DesiredSchedule, there: Sequence[DesiredSchedule] = ()) -> Plan:
    server = {each.id: observed(each) for each in there}
    return make_plan("billing/production", {each.id: each for each in wanted}, server, NOW)


async def told(wanted: Sequence[DesiredSchedule], workers: Workers, *, ask: bool) -> list[str]:
    """With all of them to be created."""
    return await preflight(plan(*wanted), wanted, workers, ask=ask)


PYTHON = compiled("cleanup", python={"handler": "delete-old-rows"})
CHILD = compiled("close", workflow={"type": "Close"})
COMMAND = compiled("echo", command=["echo"])
HTTP = compiled("ping", http={"url": "https://example.com/ping"})
ALL = WorkerOffer(["delete-old-rows"], ["Close", "JobWorkflow"])


async def test_workers_that_have_all_are_no_reason_to_warn() -> None:
    workers = Workers({"tickwright": ALL})
    assert await told([PYTHON, CHILD, COMMAND], workers, ask=True) == []
    assert workers.asked == ["tickwright"], "once for a queue"


async def test_a_queue_without_workers_is_told_once() -> None:
    (warning,) = await told([PYTHON, COMMAND], Workers(), ask=True)
    assert warning == (
        "no worker polls task queue `tickwright`: `cleanup`, `echo` would wait; "
        "start one with TICKWRIGHT_TASK_QUEUE=tickwright TICKWRIGHT_ALLOW_COMMANDS=true TICKWRIGHT_MODULES=… tickwright worker, "
        "with the modules that have `delete-old-rows`"
    )


async def test_what_the_worker_lacks_is_told_with_what_it_has() -> None:
    workers = Workers({"tickwright": WorkerOffer(["delete-old-row"], [])})
    handler, workflow = await told([PYTHON, CHILD], workers, ask=True)
    assert handler.startswith(
        "no handler `delete-old-rows` in the worker of task queue `tickwright`, which `cleanup` need"
    )
    assert "there is `delete-old-row`" in handler
    assert workflow.startswith("no workflow type `Close`")
    assert "TICKWRIGHT_MODULES" in workflow


async def test_a_worker_without_the_key_of_jobs_is_told_and_others_workers_are_not_asked_for_it() -> None:
    workers = Workers({"tickwright": WorkerOffer([], [], ["old"]), "theirs": None})
    foreign = desired("foreign", action=Action("Close", "theirs", (1,)), encryption="new")
    wanted = [replace(COMMAND, encryption="new"), foreign]
    (warning,) = await told(wanted, workers, ask=True)
    assert warning.startswith("no key `new` in the worker of task queue `tickwright`, with which `echo` are")
    workers.offers["tickwright"] = WorkerOffer([], [], ["old", "new"])
    assert await told(wanted, workers, ask=True) == []


async def test_one_of_several_workers_that_lacks_something_is_named() -> None:
    full = WorkerOffer(["delete-old-rows"], ["Close"], worker="1@new")
    bare = WorkerOffer([], [], worker="1@old", commands=False, missing_secrets=["DB"])
    secret = compiled("dump", command=["pg_dump", "${secret:DB}"])
    workers = Workers({"tickwright": [full, bare, None]})
    warnings = await told([PYTHON, CHILD, secret], workers, ask=True)
    assert [warning.partition(",")[0] for warning in warnings] == [
        f"no {what} in 1 of the 2 workers of task queue `tickwright` (1@old)"
        for what in ("handler `delete-old-rows`", "workflow type `Close`", "commands are allowed", "secret `DB`")
    ]
    assert workers.secrets == ["DB"]
    assert "TICKWRIGHT_ALLOW_COMMANDS=true" in warnings[2]
    assert "TICKWRIGHT_SECRET_DB" in warnings[3]


async def test_secrets_of_notices_are_asked_for_too() -> None:
    channels = {
        "ops": ChannelSpec.model_validate(
            {"webhook": {"url": "https://example.com", "headers": {"A": "${secret:HOOK}"}}}
        )
    }
    workers = Workers({"tickwright": WorkerOffer([], [], missing_secrets=["HOOK"])})
    wanted = compile_job(
        job("ping", run={"http": {"url": "https://example.com/ping"}}, on_failure=["ops"]),
        "billing",
        "production",
        NOW,
        channels=channels,
    )
    (warning,) = await told([wanted], workers, ask=True)
    assert warning.startswith("no secret `HOOK` in the worker of task queue `tickwright`, which `ping` need")


async def test_a_worker_that_does_not_answer_is_told() -> None:
    (warning,) = await told([PYTHON], Workers({"tickwright": None}), ask=True)
    assert "no worker of task queue `tickwright` answered what it can run" in warning


async def test_who_only_looks_asks_no_worker() -> None:
    workers = Workers({"tickwright": WorkerOffer([], [])})
    assert await told([PYTHON], workers, ask=False) == []
    assert workers.asked == []


async def test_jobs_that_need_nothing_special_ask_no_worker() -> None:
    workers = Workers({"tickwright": None, "theirs": None})
    foreign = desired("foreign", action=Action("Close", "theirs", ()))
    assert await told([HTTP, foreign], workers, ask=True) == []
    assert workers.asked == []


async def test_a_namespace_that_lacks_our_search_attributes_is_told() -> None:
    (said,) = await unregistered(plan(PYTHON), SchedulesInMemory(attributes=()))
    assert "TickwrightOwner, TickwrightHash" in said
    assert await unregistered(plan(PYTHON), SchedulesInMemory()) == []
    assert await unregistered(plan(), SchedulesInMemory(attributes=())) == [], "nothing is to be written"


async def test_parameters_that_the_namespace_would_refuse_are_told() -> None:
    big = compiled("big", command=["echo", "x" * 5_000])
    (warning,) = await told([big], Workers({"tickwright": ALL}, limit=5_000), ask=True)
    assert warning.startswith("the parameters of big are 5,")
    assert "more than the 5,000 that the namespace takes" in warning


async def test_jobs_that_do_not_change_are_looked_at_too() -> None:
    workers = Workers({"tickwright": ALL})
    elsewhere = compiled("elsewhere", queue="far", command=["echo"])
    quiet = plan(COMMAND, elsewhere, there=[COMMAND, elsewhere])
    assert quiet.changes == ()
    (warning,) = await preflight(quiet, [COMMAND, elsewhere], workers, ask=True)
    assert warning.startswith("no worker polls task queue `far`: `elsewhere` would wait")


async def test_a_job_that_gets_no_schedule_needs_no_worker() -> None:
    foreign = replace(COMMAND, owner="payroll/p")
    refused = plan(COMMAND, there=[foreign])
    assert refused.changes[0].conflict
    assert await preflight(refused, [COMMAND], Workers(), ask=True) == []


async def test_each_step_and_compensation_asks_for_the_workers_of_its_own_queue() -> None:
    undo = {"python": {"handler": "undo-post"}, "task_queue": "undoers"}
    steps = [
        {"name": "export", "python": {"handler": "export"}, "task_queue": "big"},
        {"name": "post", "workflow": {"type": "Post"}, "compensate": undo},
        {"name": "again", "python": {"handler": "export"}, "task_queue": "big"},
    ]
    wanted = compile_job(job("close", run=None, steps=steps), "billing", "production", NOW)
    workers = Workers({"tickwright": WorkerOffer([], ["Pots"]), "big": WorkerOffer(["exprot"], [])})
    queues, handler, workflow = sorted(
        await told([wanted], workers, ask=True),
        key=lambda text: "no worker polls" not in text,
    )
    assert queues.startswith("no worker polls task queue `undoers`: `close` would wait")
    assert handler.startswith(
        "no handler `export` in the worker of task queue `big`, which `close` need: there is `exprot`"
    )
    assert workflow.startswith("no workflow type `Post` in the worker of task queue `tickwright`")
