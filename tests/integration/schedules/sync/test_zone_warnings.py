"""A server with another tz database is noticed by a sync, and one with the same is not."""

from __future__ import annotations

import shutil
import zoneinfo
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tests.deploy import Deploy

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.servers import DevServer


def zone_file(zone: str) -> Path:
    """The compiled rules of a zone."""
    places = [Path(place) / zone for place in zoneinfo.TZPATH]
    package = Path(str(files("tzdata"))) / "zoneinfo" / zone
    return next(place for place in (*places, package) if place.is_file())


async def test_a_server_that_knows_no_summer_time_in_new_york_is_told(
    start_server: Callable[..., DevServer], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go reads `ZONEINFO` before any other tz database; Bogotá has New York's winter time all year."""
    doctored = tmp_path / "zoneinfo" / "America"
    doctored.mkdir(parents=True)
    shutil.copy(zone_file("America/Bogota"), doctored / "New_York")
    monkeypatch.setenv("ZONEINFO", str(tmp_path / "zoneinfo"))
    server = start_server()
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job("morning", schedule="0 8 * * *", timezone="America/New_York")
    deploy.job("berlin", schedule="0 8 * * *", timezone="Europe/Berlin")

    document = await deploy.sync("--no-preflight")

    (warning,) = document["warnings"]
    assert warning.startswith("the server's tz database differs in America/New_York: ")
    assert [change["result"] for change in document["changes"]] == ["applied", "applied"]


async def test_a_server_with_the_same_rules_is_not(server: DevServer, tmp_path: Path, name: str) -> None:
    deploy = Deploy(tmp_path, server.environ, name)
    for number, zone in enumerate(("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo")):
        deploy.job(f"{name}-{number}", schedule=f"0 {number} * * *", timezone=zone)

    assert (await deploy.sync("--no-preflight"))["warnings"] == []
