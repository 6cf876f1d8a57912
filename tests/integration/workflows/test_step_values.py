"""What one step gives back, every reader takes: on a real server, with values that are legal JSON and that strict parsers refuse."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from temporalio.client import Client, WorkflowHandle

from activities.contract import JobResult
from activities.steps.readable import MAX_DEPTH
from schedules.server.codec import data_converter
from schedules.server.codec_keys import CodecKeys
from tests.processes import worker
from tests.runs import failure, request, start
from tests.servers import HOST, DevServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUEUE = "values"
SECRET = "${secret:DB_USER}"
MODULE = """
import json
from typing import Any
from pydantic import BaseModel
from temporalio import workflow
from activities import handler

class Said(BaseModel):
    text: str

@handler("say")
def say(params: Said) -> Any:
    return json.loads(params.text)

@workflow.defn(name="Say")
class Say:
    @workflow.run
    async def run(self, text: str) -> Any:
        return json.loads(text)

@workflow.defn(name="SayUnreadable")
class SayUnreadable:
    @workflow.run
    async def run(self) -> Any:
        from temporalio.api.common.v1 import Payload
        from temporalio.common import RawValue
        return RawValue(Payload(metadata={"encoding": b"binary/of-tomorrow"}, data=b"x"))
"""
HALF = json.dumps({"a": "\ud83d", "\udc00": 1})
DEEP = json.dumps({"a": json.loads("[" * 250 + "]" * 250)})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(server: DevServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    """One that reads as the product's commands do; a worker runs what it starts."""
    folder: Path = tmp_path_factory.mktemp("worker")
    (folder / "said.py").write_text(MODULE)
    async with worker(
        server.address,
        cwd=folder,
        task_queue=QUEUE,
        modules="said",
        allow_commands="true",
        TICKWRIGHT_SECRET_DB_USER="app",
    ) as running:
        await running.until_log("secrets_ordinary", names=["DB_USER"])
        yield await Client.connect(server.address, data_converter=data_converter(CodecKeys()))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service() -> AsyncIterator[str]:
    """Answers with the body that it is sent."""

    async def echo(asked: web.Request) -> web.Response:
        return web.Response(body=await asked.read(), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, HOST, 0)
    await site.start()
    yield f"http://{HOST}:{runner.addresses[0][1]}/"
    await runner.cleanup()


async def ended(run: WorkflowHandle[Any, JobResult]) -> JobResult:
    """The result of a run that succeeds; a run whose workflow tasks fail would never end."""
    async with asyncio.timeout(60):
        return await run.result()


def saying(kind: str, text: str, url: str) -> dict[str, Any]:
    """Parameters of a step that gives this JSON back."""
    literal = text.replace("{", "{{").replace("}", "}}")
    params: dict[str, dict[str, Any]] = {
        "command": {"argv": ["echo", literal]},
        "python": {"handler": "say", "params": {"text": literal}},
        "http": {"url": url, "body": literal},
        "workflow": {"type": "Say", "args": [literal]},
    }
    return params[kind]


@pytest.mark.parametrize("text", [HALF, DEEP], ids=["half a character", "250 deep"])
@pytest.mark.parametrize("kind", ["command", "python", "http", "workflow"])
async def test_a_run_ends_and_its_result_can_be_read(
    client: Client, service: str, name: str, kind: str, text: str
) -> None:
    run = await start(client, request(kind, saying(kind, text, service), job=name, deadline=20.0), QUEUE)
    result = await ended(run)
    output = result.steps[0].output
    value = output["body"] if kind == "http" else output
    assert result.outcome == "succeeded"
    if text is HALF:
        assert {"a": "\ufffd", "\ufffd": 1}.items() <= value.items()
        assert not result.steps[0].altered
    else:
        assert json.dumps(value["a"]).startswith("[" * (MAX_DEPTH - 3))
        assert "deep, not kept" in json.dumps(value["a"])
        assert result.steps[0].altered[0].path[-2:] == ["0", "0"]
    json.dumps(value).encode("utf-8", "strict")


async def test_a_child_whose_result_nobody_can_read_has_ended_all_the_same(client: Client, name: str) -> None:
    run = await start(client, request("workflow", {"type": "SayUnreadable"}, job=name, deadline=20.0), QUEUE)
    result = await ended(run)
    assert result.outcome == "succeeded"
    assert "cannot be read" in result.steps[0].output


async def test_a_request_with_half_a_character_runs(client: Client, name: str) -> None:
    """As a client of the user's may have written it; no release reads it in the same way otherwise."""
    run = await start(client, request("command", {"argv": ["echo", "a\ud83d"]}, job=name, deadline=20.0), QUEUE)
    result = await ended(run)
    assert result.steps[0].output["stdout"] == "a\ufffd\n"


async def test_a_message_with_half_a_character_fails_the_run(client: Client, name: str) -> None:
    params = {"handler": "say", "params": {"text": "\ud83d"}}
    ended = await failure(await start(client, request("python", params, job=name, deadline=20.0), QUEUE))
    assert ended.type == "failed"


async def test_a_value_with_a_secret_in_it_fails_the_step_that_uses_it(client: Client, name: str) -> None:
    export = {"argv": ["sh", "-c", """echo '{{"file": "/data/app/export.csv", "rows": 4711}}'"""], "env": {"U": SECRET}}
    for key, outcome in (("rows", "succeeded"), ("file", "failed")):
        load = request("command", {"argv": ["echo", f"{{steps.export.output.{key}}}"]}).steps[0]
        what = request("command", export, job=f"{name}-{key}", deadline=20.0)
        run = await start(client, replace(what, steps=[replace(what.steps[0], name="export"), load]), QUEUE)
        if outcome == "succeeded":
            assert (await ended(run)).steps[1].output["stdout"] == "4711\n"
        else:
            told = await failure(run)
            assert "`{steps.export.output.file}`: it contains the text of the secret `DB_USER`" in told.message
            assert told.result["steps"][0]["output"]["file"] == "/data/***/export.csv"
