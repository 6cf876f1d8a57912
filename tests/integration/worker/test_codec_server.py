"""The codec server, asked as the Web UI and the `temporal` CLI ask."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from pathlib import Path

import aiohttp
import pytest
from google.protobuf import json_format
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.client import Client

from schedules.serve.access import Token
from schedules.serve.serving import serving
from schedules.server.codec import data_converter
from schedules.server.codec_keys import KEYS, CodecKeys
from tests.processes import run_command, started, worker
from tests.runs import request, shell, start
from tests.servers import TEMPORAL, DevServer
from worker.codec_http import CodecServer

UI, TOKEN = "http://localhost:8233", "open-sesame"
ONE = bytes(range(32))
SETTING = f"k1:{base64.b64encode(ONE).decode()}"
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"marker"')


async def ask(
    server: CodecServer, path: str, body: str, method: str = "POST", **headers: str
) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of the answer."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        serving(server.application(), ("127.0.0.1", 0), "--address") as url,
        aiohttp.ClientSession() as session,
        session.request(method, url + path, data=body.encode(), headers=given) as answer,
    ):
        return answer.status, await answer.text(), dict(answer.headers)


def payloads(*items: Payload) -> str:
    return json_format.MessageToJson(Payloads(payloads=items))


def codec_server(token: str = "") -> CodecServer:
    return CodecServer(CodecKeys("k1", {"k1": ONE}), [UI], Token(token) if token else None)


@pytest.mark.parametrize("above", ["", "/deep/er", "/default"])
async def test_what_it_encodes_it_decodes_under_any_path(above: str) -> None:
    """Temporal's protocol: only the last part of the path counts."""
    status, encoded, _ = await ask(codec_server(), f"{above}/encode", payloads(PLAIN, PLAIN), X_Namespace="default")
    assert status == 200
    first = json.loads(encoded)["payloads"][0]
    assert base64.b64decode(first["metadata"]["encoding"]) == b"binary/encrypted"
    assert b"marker" not in base64.b64decode(first["data"])
    status, decoded, headers = await ask(codec_server(), f"{above}/decode", encoded)
    assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert json_format.Parse(decoded, Payloads()) == Payloads(payloads=[PLAIN, PLAIN])


async def test_a_page_of_the_web_ui_may_call_and_any_other_may_not() -> None:
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Private_Network": "true"}
    status, _, allowed = await ask(codec_server(), "/decode", "", "OPTIONS", Origin=UI, **asked)
    assert status == 204
    assert allowed["Access-Control-Allow-Origin"] == UI
    assert allowed["Access-Control-Allow-Headers"] == "content-type,x-namespace,authorization"
    assert allowed["Access-Control-Allow-Private-Network"] == "true"
    status, _, given = await ask(codec_server(), "/decode", payloads(PLAIN), Origin=UI)
    assert (status, given["Access-Control-Allow-Origin"]) == (200, UI)

    for origin in ("http://evil.example", "null"):
        _, _, refused = await ask(codec_server(), "/decode", "", "OPTIONS", Origin=origin, **asked)
        assert not [name for name in refused if name.startswith("Access-Control")]
        status, text, _ = await ask(codec_server(), "/decode", payloads(PLAIN), Origin=origin)
        assert (status, "add it with --origin" in text) == (403, True)


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}é"])
async def test_with_a_token_nobody_is_answered_without_it(given: str) -> None:
    status, text, headers = await ask(codec_server(TOKEN), "/decode", payloads(PLAIN), Origin=UI, Authorization=given)
    assert (status, "marker" in text) == (401, False)
    assert headers["Access-Control-Allow-Origin"] == UI, "or the page could not read why"
    status, text, _ = await ask(codec_server(TOKEN), "/decode", payloads(PLAIN), Authorization=f"Bearer {TOKEN}")
    assert status == 200


@pytest.mark.parametrize("body", ["", "no json", '{"payloads": 1}', '{"payload": []}', '{"payloads": [{"data": 1}]}'])
async def test_a_body_that_is_none_is_refused(body: str) -> None:
    status, text, _ = await ask(codec_server(), "/decode", body)
    assert (status, text) == (400, 'the body is no {"payloads": […]} in JSON\n')


async def test_a_payload_of_another_key_is_refused_with_the_keys_id() -> None:
    [foreign] = await data_converter(CodecKeys("k9", {"k9": ONE})).encode(["marker"])
    status, text, _ = await ask(codec_server(), "/decode", payloads(foreign))
    assert (status, 'the key "k9", which is not among the keys given (k1)' in text) == (400, True)


@pytest.mark.parametrize(("method", "path"), [("POST", "/"), ("POST", "/xdecode"), ("GET", "/decode")])
async def test_anything_else_is_not_there(method: str, path: str) -> None:
    status, _, _ = await ask(codec_server(), path, "", method)
    assert status in {404, 405}


async def test_the_temporal_cli_shows_a_run_by_it(server: DevServer, name: str, tmp_path: Path) -> None:
    client = await Client.connect(server.address, data_converter=data_converter(CodecKeys("k1", {"k1": ONE})))
    async with worker(
        server.address, cwd=tmp_path, task_queue=name, allow_commands="true", TICKWRIGHT_CODEC_KEYS=SETTING
    ):
        run = await start(client, request(params=shell("echo marker4711 >&2; exit 3"), job=name), name)
        with pytest.raises(Exception, match="Workflow execution failed"):
            await run.result()
    env = {KEYS: SETTING, "TICKWRIGHT_CODEC_TOKEN": TOKEN}
    async with started("worker.codec_server", "--address", "127.0.0.1:0", env=env) as serving_it:
        url = (await serving_it.until(lambda: serving_it.out, "no address"))[0].removeprefix("codec server: ")
        there = ["--codec-endpoint", url, "--codec-auth", f"Bearer {TOKEN}"]
        without, shown = await show(server, run.id), await show(server, run.id, *there)
    assert "marker4711" in shown
    assert "marker4711" not in without


async def show(server: DevServer, workflow_id: str, *options: str) -> str:
    """The data of all the payloads that the CLI shows."""
    words = [
        "workflow",
        "show",
        "--address",
        server.address,
        "--workflow-id",
        workflow_id,
        "--output",
        "json",
        *options,
    ]
    process = await asyncio.create_subprocess_exec(TEMPORAL, *words, stdout=asyncio.subprocess.PIPE)
    text, _ = await process.communicate()
    return b"\n".join(base64.b64decode(data) for data in re.findall(rb'"data": "([^"]+)"', text)).decode(
        "utf-8", "replace"
    )


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        ([], {}, "there are no keys; set TICKWRIGHT_CODEC_KEYS_FILE or TICKWRIGHT_CODEC_KEYS"),
        (["--address", "0.0.0.0:0"], {KEYS: SETTING}, "--address 0.0.0.0 can be reached from other machines"),
        (["--address", "8888"], {KEYS: SETTING}, "'8888' is no address; write host:port"),
    ],
)
async def test_what_is_not_safe_or_not_possible_is_refused(
    arguments: list[str], env: dict[str, str], said: str
) -> None:
    ended = await run_command("worker.codec_server", *arguments, env=env)
    assert ended.code == 2
    assert said in ended.stderr
