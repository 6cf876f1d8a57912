"""The sending activities against a real service: what is sent, and that no secret is in what fails."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO

import pytest
import structlog
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.handlers.http import open_session
from activities.notices.contract import Delivery, Notice, Ping, Target
from activities.notices.send import SendActivities
from activities.steps.secrets import SecretStore
from tests.receiver import receiver
from worker.logs import configure_logs

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")  # apprise has its own
NOTICE = Notice(
    "failure", "billing", "default", "ledger", "UTC", reason="<b>boom</b> \N{PILE OF POO} \ud800", failures=1
)
SECRET = "s3cret-word"


@asynccontextmanager
async def sender(**secrets: str) -> AsyncIterator[SendActivities]:
    session = open_session()
    known = {f"TICKWRIGHT_SECRET_{name}": value for name, value in secrets.items()}
    try:
        yield SendActivities(SecretStore(known), lambda: session, "default", "")
    finally:
        await session.close()


async def failure(target: Target, **secrets: str) -> ApplicationError:
    async with sender(**secrets) as send:
        with pytest.raises(ApplicationError) as caught:
            await ActivityEnvironment().run(send.send_notice, Delivery(NOTICE, target, "key-1"))
    return caught.value


async def test_a_webhook_gets_the_document_with_its_key_and_headers() -> None:
    target = Target("hook", url="${secret:URL}/hook?x=1", headers={"authorization": "Bearer ${secret:WORD}"})
    async with receiver() as service, sender(URL=service.url, WORD=SECRET) as send:
        await ActivityEnvironment().run(send.send_notice, Delivery(NOTICE, target, "key-1"))
    [got] = service.taken
    headers = {name.lower(): value for name, value in got.headers.items()}
    assert (headers["idempotency-key"], headers["authorization"]) == ("key-1", f"Bearer {SECRET}")
    assert headers["content-type"] == "application/json"
    assert (got.path, got.query) == ("/hook", {"x": "1"})
    assert got.document["reason"] == "<b>boom</b> \N{PILE OF POO} \ufffd"


async def test_apprise_gets_title_and_text() -> None:
    async with receiver() as service, sender(URL=f"json://127.0.0.1:{service.port}/ops") as send:
        await ActivityEnvironment().run(send.send_notice, Delivery(NOTICE, Target("ops", apprise="${secret:URL}"), "k"))
    [got] = service.taken
    assert got.document["title"] == "[billing/default] ledger failed once"
    assert got.document["message"].startswith("Reason: <b>boom</b> \N{PILE OF POO} \ufffd")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"http://127.0.0.1:9/{SECRET}", "channel hook: no answer: ClientConnectorError"),
        (f"not an address {SECRET}", "channel hook: its address is not like https://host/path"),
        (f"http://{SECRET}.invalid/", "channel hook: no answer: ClientConnectorDNSError"),
    ],
)
async def test_an_address_that_cannot_be_reached_is_tried_again_and_not_shown(url: str, reason: str) -> None:
    error = await failure(Target("hook", url="${secret:URL}"), URL=url)
    assert (error.message, error.non_retryable) == (reason, False)


async def test_an_answer_that_refuses_is_told_without_the_address_and_says_when_to_try_again() -> None:
    async with receiver() as service:
        service.status = 503
        error = await failure(Target("hook", url="${secret:URL}"), URL=f"{service.url}/{SECRET}")
    assert error.message == "channel hook: it answered 503 Service Unavailable"


async def test_an_unknown_secret_and_an_unknown_service_are_told() -> None:
    assert "this worker has no secret `GONE`" in (await failure(Target("hook", url="${secret:GONE}"))).message
    error = await failure(Target("ops", apprise="${secret:URL}"), URL=f"nothing://{SECRET}")
    assert error.message.startswith("channel ops: apprise does not know such an address")


async def test_a_service_that_apprise_cannot_reach_is_tried_again() -> None:
    error = await failure(Target("ops", apprise="${secret:URL}"), URL=f"json://127.0.0.1:9/{SECRET}")
    assert error.message == "channel ops: the service did not accept it; the worker's log says more"


async def test_a_ping_keeps_the_query_and_names_the_run() -> None:
    async with receiver() as service, sender(URL=f"{service.url}/ping/abc/?token=1") as send:
        for sign in ("start", "success", "fail"):
            await ActivityEnvironment().run(send.send_ping, Ping("${secret:URL}", sign, "run-1", "why"))
    assert [each.path for each in service.taken] == ["/ping/abc/start", "/ping/abc", "/ping/abc/fail"]
    assert {tuple(each.query.items()) for each in service.taken} == {(("token", "1"), ("rid", "run-1"))}


async def test_no_part_of_a_secret_address_is_in_what_libraries_log() -> None:
    stream = StringIO()
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    configure_logs("json", "debug", stream)
    try:
        address = f"json://user:{SECRET}@127.0.0.1:9/hidden-path?+X-Key=hidden-token"
        await failure(Target("ops", apprise="${secret:URL}"), URL=address)
    finally:
        root.handlers[:], root.level = before, level
        structlog.reset_defaults()
    assert '"logger": "apprise"' in stream.getvalue()
    assert [word for word in (SECRET, "hidden-path", "hidden-token") if word in stream.getvalue()] == []
