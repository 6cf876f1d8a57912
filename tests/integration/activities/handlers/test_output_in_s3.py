"""The whole output of a command in S3-compatible storage. Moto stands in for a real one: it speaks S3 over HTTP, and checks no signature."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import obstore
import pytest
import pytest_asyncio
from obstore.store import S3Store

from activities.steps.sinks import S3
from tests.integration.activities.handlers.test_whole_output import SECRET, prints
from tests.integration.step_failures import details_of, failure_of
from tests.processes import started
from tests.servers import HOST, free_port
from tests.step_calls import bench

KEY = "k3y-0f-th3-acc0unt"
PLACE = "outputs/invoice-dunning/2027-03-01T13:00:00Z/run-id-1/run-1.stdout"


@pytest_asyncio.fixture
async def storage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Storage with a bucket `logs`, which the environment names."""
    address = f"http://{HOST}:{free_port()}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "tickwright",
        "AWS_SECRET_ACCESS_KEY": KEY,
    }.items():
        monkeypatch.setenv(name, value)
    arguments = ("-H", HOST, "-p", address.rpartition(":")[2])
    async with started("moto.server", *arguments), aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.put(f"{address}/logs") as answer:
                    answer.raise_for_status()
                    break
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)
        yield


def stored(place: str) -> str:
    return bytes(obstore.get(S3Store.from_url("s3://logs"), place).bytes()).decode()


@pytest.mark.usefixtures("storage")
async def test_a_long_output_is_in_the_bucket_whole_and_without_secrets() -> None:
    async with bench(outputs=S3("s3://logs/outputs"), secrets={"TOKEN": SECRET}) as made:
        output = (await made.run(prints())).output

    assert output["whole"] == {"stdout": f"s3://logs/{PLACE}"}
    assert KEY not in str(output)
    assert stored(PLACE) == "".join(f"{n} {'***' if n == 2500 else ''}\n" for n in range(5000))


@pytest.mark.usefixtures("storage")
async def test_a_failure_names_it_too() -> None:
    async with bench(outputs=S3("s3://logs/outputs"), secrets={"TOKEN": SECRET}) as made:
        error = await failure_of(made, prints(code=3))

    assert details_of(error)["whole"] == {"stdout": f"s3://logs/{PLACE}"}
    assert stored(PLACE).startswith("0 \n1 \n")


@pytest.mark.usefixtures("storage")
async def test_a_bucket_that_is_not_there_is_said_and_fails_no_step() -> None:
    async with bench(outputs=S3("s3://absent"), secrets={"TOKEN": SECRET}) as made:
        output = (await made.run(prints())).output

    assert output["exit_code"] == 0
    assert output["whole"] == {"stdout": "not kept: the storage said NoSuchBucket"}


async def test_storage_that_does_not_answer_fails_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{HOST}:{free_port()}")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tickwright")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    async with bench(outputs=S3("s3://logs"), secrets={"TOKEN": SECRET}) as made:
        output = (await made.run(prints())).output

    assert output["exit_code"] == 0
    assert output["whole"] == {"stdout": "not kept: the storage cannot be used (Generic)"}
