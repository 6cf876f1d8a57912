"""`pause` and `resume` on a real server with a real worker."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contract import RESUME_PREFIX
from activities.note import paused_at
from activities.notices.contract import WATCHDOG_WORKFLOW
from schedules.errors import ServerError
from schedules.ledger.facts import Job
from schedules.ledger.records import Records
from schedules.operating.chosen import chosen_jobs
from schedules.operating.each import each_job
from schedules.operating.make_up import resume
from schedules.operating.pause import pause
from schedules.operating.writes import Writes
from schedules.server.workers import Workers
from tests.integration.operating import HOUR, Diary, command, done, hourly, hours_ago, stamp
from tests.integration.scenes import SECOND, Scene, now, until
from tests.processes import worker
from tests.servers import DevServer


async def state(scene: Scene, job: str) -> tuple[bool, str]:
    """Paused, and the note."""
    observed = await scene.gateway.describe(job)
    assert observed
    return observed.state.paused, observed.state.note


async def until_state(scene: Scene, job: str, *, paused: bool) -> str:
    """The note, once it is so."""
    async with asyncio.timeout(60):
        while True:
            now_paused, note = await state(scene, job)
            if now_paused == paused:
                return note
            await asyncio.sleep(0.1)


async def until_ended(scene: Scene, job: str) -> Any:
    """What the workflow of a timed resume says in the end."""
    async with asyncio.timeout(60):
        return await scene.client.get_workflow_handle(RESUME_PREFIX + job).result()


async def test_a_glob_means_no_watchdog(scene: Scene, server: DevServer) -> None:
    """It looks for missed runs of every job of its project; by its own name it can be paused."""
    job = await hourly(scene, "job")
    desired = scene.desired("watchdog")
    watchdog = replace(desired, action=replace(desired.action, workflow_type=WATCHDOG_WORKFLOW))
    assert await scene.gateway.create(watchdog, "")
    try:
        paused = await done(server, "pause", f"{scene.name}-*")
        by_name = await done(server, "pause", watchdog.id)
    finally:
        await scene.gateway.delete(watchdog.id)

    assert [each["job"] for each in paused["jobs"]] == [job]
    assert [each["job"] for each in by_name["jobs"]] == [watchdog.id]


async def test_jobs_named_by_a_glob_are_paused_with_who_when_and_why_and_resumed(
    scene: Scene, server: DevServer
) -> None:
    one, two, other = [await hourly(scene, short) for short in ("a-one", "a-two", "b")]
    async with asyncio.timeout(60):
        while {one, two} - {each.name for each in await scene.records.jobs(None)}:  # noqa: ASYNC110  List is behind
            await asyncio.sleep(0.1)

    paused = await done(server, "pause", f"{scene.id('a-')}*", "--reason", "the disk\n is full")
    states = {job: await state(scene, job) for job in (one, two, other)}
    resumed = await done(server, "resume", one, two, "--reason", "a new disk")
    after = {job: await state(scene, job) for job in (one, two)}
    again = await done(server, "resume", one)

    assert {each["job"] for each in paused["jobs"]} == {one, two}
    assert [states[job][0] for job in (one, two, other)] == [True, True, False]
    assert states[one][1].startswith("paused by ")
    assert states[one][1].endswith("Z: the disk is full")
    assert [each["result"] for each in resumed["jobs"]] == ["done", "done"]
    assert not after[one][0]
    assert ": a new disk (paused since " in after[one][1]
    assert again["jobs"][0]["warning"] == "it was not paused"


async def test_a_pause_keeps_remaining_actions_and_times(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job")
    before = await scene.gateway.describe(job)

    await done(server, "pause", job)
    await done(server, "resume", job)

    after = await scene.gateway.describe(job)
    assert before
    assert after
    assert (before.times, before.action, before.policies) == (after.times, after.action, after.policies)
    assert before.state.remaining_actions == after.state.remaining_actions


async def test_a_pause_until_a_time_ends_by_itself(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job", run={"command": ["true"]})
    before = await scene.gateway.describe(job)

    told = await done(server, "pause", job, "--until", "4s", "--reason", "short")
    paused, note = await state(scene, job)
    after_note = await until_state(scene, job, paused=False)

    assert paused
    assert "short (until 20" in note
    assert told["jobs"][0]["note"] == note
    assert after_note.startswith("resumed at 20")
    assert await until_ended(scene, job) == "resumed"
    observed = await scene.gateway.describe(job)
    assert before
    assert observed
    assert (before.times, before.action, before.policies) == (observed.times, observed.action, observed.policies)


async def test_what_an_operator_does_meanwhile_is_respected(scene: Scene, server: DevServer) -> None:
    by_hand, resumed, replaced = [await hourly(scene, short) for short in ("by-hand", "resumed", "replaced")]
    await done(server, "pause", by_hand, resumed, replaced, "--until", "15s")
    end = now() + 16 * SECOND

    await scene.client.get_schedule_handle(by_hand).pause(note="mine, for good")
    await scene.client.get_schedule_handle(resumed).unpause(note="mine, at work")
    await done(server, "pause", replaced, "--reason", "longer")
    await until(end)

    said = await until_ended(scene, by_hand)
    assert await state(scene, by_hand) == (True, "mine, for good")
    assert said == "nothing done: it is now paused for another reason: mine, for good"
    assert await until_ended(scene, resumed) == "nothing done: it is no longer paused"
    assert await state(scene, resumed) == (False, "mine, at work")
    assert (await state(scene, replaced))[0]


@pytest.mark.parametrize(("catchup", "wanted"), [(("run_latest",), 1), (("run_all", "--max", "2"), 2), (("skip",), 0)])
async def test_a_resume_makes_up_for_as_many_as_it_was_told(
    scene: Scene, server: DevServer, tmp_path: Path, catchup: tuple[str, ...], wanted: int
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", schedule={"every": "2s"}, run=diary.writing())
    await scene.ended("job")
    await done(server, "pause", job)
    await asyncio.sleep(0.5)
    before, paused = diary.times, now()
    await until(paused + 7 * SECOND)

    resuming = now()
    document = await done(server, "resume", job, "--catchup", *catchup)
    resumed = now()
    await scene.run("job", lambda run: run.scheduled_at > resumed and run.closed_at is not None)
    times = document["jobs"][0]["backfilled"]
    async with asyncio.timeout(60):
        while not set(times) <= set(diary.times):  # noqa: ASYNC110  a file tells nobody
            await asyncio.sleep(0.1)
    await done(server, "pause", job)

    assert len(times) == wanted
    assert [time for time in diary.times if stamp(paused) < time < stamp(resuming) and time not in times] == []
    assert times == sorted(set(times) - set(before))
    assert len(diary.times) == len(set(diary.times))


async def test_a_resume_that_was_ended_before_its_backfill_is_made_good_by_the_same_command(
    scene: Scene, server: DevServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", schedule={"every": "2s"}, run=diary.writing())
    await scene.ended("job")
    await done(server, "pause", job)
    paused = now()
    await until(paused + 9 * SECOND)
    known = await scene.records.job(job)
    assert known
    monkeypatch.setattr("schedules.operating.make_up.accounts", _killed)
    with pytest.raises(KilledError):
        await resume(scene.records, Writes(scene.client), known, "ann", "well (again)", "run_all", None)
    is_paused, note = await state(scene, job)
    plain = await done(server, "resume", job)
    made_up = (await done(server, "resume", job, "--catchup", "run_all", timeout=90))["jobs"][0]["backfilled"]
    async with asyncio.timeout(60):
        while not set(made_up) <= set(diary.times):  # noqa: ASYNC110  a file tells nobody
            await asyncio.sleep(0.1)
    again = await done(server, "resume", job, "--catchup", "run_all")
    await done(server, "pause", job)

    assert not is_paused
    assert "to make up for what was due from" in note
    assert "--catchup run_all" in plain["jobs"][0]["warning"]
    first = paused.replace(microsecond=0) + SECOND * (2 - paused.second % 2)
    of_the_pause = {stamp(first + count * 2 * SECOND) for count in range(4)}
    assert of_the_pause <= set(made_up)
    assert of_the_pause <= set(diary.times)
    assert len(diary.times) == len(set(diary.times))
    assert again["jobs"][0]["warning"] == "it was not paused"
    assert "make up" not in again["jobs"][0]["note"]


async def test_a_job_that_cannot_be_read_keeps_no_other_from_being_paused(scene: Scene, server: DevServer) -> None:
    one, broken, two = [await hourly(scene, short) for short in ("one", "broken", "two")]
    writes = Writes(scene.client)

    chosen = await chosen_jobs(Unreadable(scene.client, broken), [one, broken, two])
    done = await each_job(chosen, lambda job: pause(writes, job, "ann", now(), "", None))

    assert {each.job: each.failed for each in done} == {one: False, two: False, broken: True}
    assert next(each.note for each in done if each.failed) == "describe: the server answered INTERNAL: broken"
    assert [(await state(scene, job))[0] for job in (one, broken, two)] == [True, False, True]


async def test_a_second_pause_forgets_not_since_when(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job")
    await done(server, "pause", job)
    first = paused_at((await state(scene, job))[1])
    await asyncio.sleep(1.1)

    await done(server, "pause", job, "--reason", "longer", "--until", "2h")

    assert first
    assert paused_at((await state(scene, job))[1]) == first


class Unreadable(Records):
    """The records of a server that cannot describe one job."""

    def __init__(self, client: Client, broken: str) -> None:
        super().__init__(client)
        self._broken = broken

    async def job(self, name: str) -> Job | None:
        if name == self._broken:
            raise ServerError("describe", "INTERNAL", "broken")
        return await super().job(name)


class KilledError(Exception):
    """The command ended here."""


async def _killed(*_: object) -> list[Any]:
    raise KilledError


async def test_wrong_calls_change_nothing(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job")

    refused = [
        await command(server, "pause", job, "--until", "2020-01-01"),
        await command(server, "pause", job, f"{job[:-1]}x"),
        await command(server, "pause", "no-such-*"),
        await command(server, "pause", job, "--reason", "x" * 501),
        await command(server, "resume", job, "--max", "3"),
    ]
    await scene.client.get_schedule_handle(job).pause(note="by hand")

    assert [each.code for each in refused] == [2] * 5
    assert "has passed; write a later time" in refused[0].stderr
    assert f"did you mean `{job}`?" in refused[1].stderr
    assert "matches `no-such-*`" in refused[2].stderr
    assert "500 at most" in refused[3].stderr
    assert "--catchup run_all" in refused[4].stderr


async def test_a_timed_pause_without_a_worker_says_what_is_missing(
    server: DevServer, client: Client, name: str
) -> None:
    async with Scene(client, name) as scene:
        job = await hourly(scene, "job")

        told = await done(server, "pause", job, "--until", "1h")
        await done(server, "resume", job)

    assert f"no worker polls task queue `{name}`" in told["jobs"][0]["warning"]


async def test_a_pause_that_nobody_could_end_says_so_until_a_worker_does(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with Scene(client, name) as scene:
        job, later = await hourly(scene, "job"), await hourly(scene, "later")
        await done(server, "pause", job, "--until", "3s", "--reason", "a \N{SNOWMAN} (until noon)")
        paused = now()
        told = await done(server, "pause", later, "--until", "1h")
        await until(paused + 9 * SECOND)

        states = {each["job"]: each for each in (await done(server, "status", "--owner", f"{name}/test"))["jobs"]}
        explained = await done(server, "explain", job, stamp(hours_ago(-1)))
        text = (await command(server, "explain", later, stamp(hours_ago(-1)))).stdout
        async with worker(server.address, cwd=tmp_path, task_queue=name):
            note = await until_state(scene, job, paused=False)
        after = (await done(server, "explain", job, stamp(hours_ago(-1))))["resumes_at"]
        await done(server, "resume", later)

    end, fault = states[job]["resumes_at"], f"no worker polls task queue `{name}`"
    assert states[job]["not_resumed_because"] == explained["not_resumed_because"] == fault
    assert end == explained["resumes_at"]
    assert note.startswith(f"resumed at {end}, as the pause had said (paused since 20")
    assert after is None
    assert states[later]["not_resumed_because"] is None
    assert told["jobs"][0]["note"].endswith(f"(until {states[later]['resumes_at']})")
    assert f"pause      paused until {states[later]['resumes_at']} (resumes by itself)" in text


async def test_other_workers_than_ours_would_not_end_the_pause_of_what_a_schedule_starts_itself(
    client: Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedules.server.workers.ANSWER_SECONDS", 1)
    others = Worker(client, task_queue=name, workflows=[Theirs], workflow_runner=UnsandboxedWorkflowRunner())
    async with Scene(client, name) as scene, others:
        job = await hourly(scene, "job", run={"workflow": {"type": "Theirs", "direct": {}}})
        async with asyncio.timeout(60):
            while not await Workers(client).polls(name):  # noqa: ASYNC110  the server tells nobody
                await asyncio.sleep(0.1)

        known = await scene.records.job(job)
        assert known
        _, warning = await pause(Writes(client), known, "ann", now(), "", now() + HOUR)
        await Writes(client).forget_resume(job)

    assert warning == f"no Tickwright worker answers in task queue `{name}`; it stays paused until one does"


@workflow.defn
class Theirs:
    @workflow.run
    async def run(self) -> None:
        return
