"""The service that the examples talk to."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import aiohttp

from activities.contract import RetryRequest
from tests.integration.step_failures import failure_of
from tests.step_calls import bench, step_call
from worker.dev.demo_service import demo_service


async def post(url: str, key: str) -> None:
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{url}/sync", headers={"Idempotency-Key": key}) as answer,
    ):
        assert answer.status == 200


async def test_every_third_new_key_is_refused_once_and_takes_effect_once(tmp_path: Path) -> None:
    async with demo_service(tmp_path / "demo.db") as service, aiohttp.ClientSession() as client:
        seen = []
        for key in ("a", "b", "c", "c", "c", "d", "e", "f", "a"):
            async with client.post(f"{service.url}/dunning", headers={"Idempotency-Key": key}) as answer:
                seen.append(
                    (key, answer.status, (await answer.json()).get("repeated"), answer.headers.get("Retry-After"))
                )
        summary = service.summary()
    assert seen == [
        ("a", 200, False, None),
        ("b", 200, False, None),
        ("c", 503, None, "1"),
        ("c", 200, False, None),
        ("c", 200, True, None),
        ("d", 200, False, None),
        ("e", 200, False, None),
        ("f", 503, None, "1"),
        ("a", 200, True, None),
    ]
    assert summary == "demo service: 9 requests, 2 answered 503, 5 effects (distinct Idempotency-Keys)"


async def test_a_step_is_told_to_come_back_in_a_second(tmp_path: Path) -> None:
    retry = RetryRequest(max_attempts=3, initial=0.1)
    async with demo_service(tmp_path / "demo.db") as service, bench() as made:
        call = step_call("http", {"url": f"{service.url}/sync"}, retry=retry)
        for key in ("x", "y"):
            await post(service.url, key)
        error = await failure_of(made, call)
        made.at_attempt(2)
        result = await made.run(call)
    assert error.next_retry_delay == timedelta(seconds=1)
    assert result.output["body"] == {"done": "sync", "repeated": False}


async def test_a_request_without_a_key_is_refused(tmp_path: Path) -> None:
    async with (
        demo_service(tmp_path / "demo.db") as service,
        aiohttp.ClientSession() as client,
        client.post(f"{service.url}/sync") as answer,
    ):
        assert answer.status == 400
