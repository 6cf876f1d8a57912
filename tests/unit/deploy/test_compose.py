"""What docker-compose.yml promises of the services that run our image."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from schedules.text.duration import parse_duration
from tests.readme import ROOT
from worker.settings import PREFIX, WorkerSettings

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
OURS = {name: service for name, service in SERVICES.items() if "TICKWRIGHT_IMAGE" in service["image"]}
SPECS, SECRETS = "/specs", "/run/secrets/tickwright"


def mounted(service: dict[str, Any]) -> dict[str, str]:
    """Folders of the host by where they are mounted, read-only."""
    found = (re.fullmatch(r"(.+):(/[^:]+):ro", volume) for volume in service.get("volumes", []))
    return {match[2]: match[1] for match in found if match}


@pytest.mark.parametrize("service", OURS.values(), ids=OURS)
def test_the_image_is_one_of_yours_if_you_have_one(service: dict[str, Any]) -> None:
    assert service["image"] == "${TICKWRIGHT_IMAGE:-tickwright}"
    assert service["build"] == "${TICKWRIGHT_BUILD:-.}"


@pytest.mark.parametrize("service", OURS.values(), ids=OURS)
def test_no_variable_can_be_empty_and_take_away_what_the_image_says(service: dict[str, Any]) -> None:
    environment = service.get("environment", {})
    assert isinstance(environment, dict)
    assert not [name for name, value in environment.items() if not value or re.fullmatch(r"\$\{\w+(:?-)?\}", value)]


@pytest.mark.parametrize("service", OURS.values(), ids=OURS)
def test_settings_of_yours_reach_the_container_and_need_not_be_there(service: dict[str, Any]) -> None:
    assert service["env_file"] == [{"path": "tickwright.env", "required": False}]


def test_the_settings_that_are_given_are_ones_that_a_worker_takes() -> None:
    names = {name for name in OURS["worker"]["environment"] if name.startswith(PREFIX)}
    assert {name.removeprefix(PREFIX).lower() for name in names} <= WorkerSettings.model_fields.keys()


def test_each_image_is_a_build_of_its_own() -> None:
    assert OURS["worker"]["environment"]["TICKWRIGHT_BUILD_ID"] == OURS["worker"]["image"]


def test_workers_alone_read_the_secrets() -> None:
    assert OURS["worker"]["environment"]["TICKWRIGHT_SECRETS_DIR"] == SECRETS
    assert [name for name, service in OURS.items() if SECRETS in mounted(service)] == ["worker"]


@pytest.mark.parametrize("service", OURS.values(), ids=OURS)
def test_who_is_told_of_the_specs_has_them(service: dict[str, Any]) -> None:
    words = " ".join(service.get("command", []))
    assert (SPECS in words) == (SPECS in mounted(service))


def test_a_folder_of_secrets_is_there_and_goes_into_no_repository() -> None:
    default = re.search(r":-(.+)\}", mounted(OURS["worker"])[SECRETS])
    assert default
    assert "*" in (ROOT / default[1] / ".gitignore").read_text().splitlines()
    assert "/tickwright.env" in (ROOT / ".gitignore").read_text().splitlines()


def test_a_sync_waits_for_workers_that_poll() -> None:
    assert OURS["sync"]["depends_on"]["worker"] == {"condition": "service_healthy"}
    assert OURS["worker"]["healthcheck"]["test"][-2:] == ["worker.probe", "/readyz"]


@pytest.mark.parametrize("service", OURS.values(), ids=OURS)
def test_who_speaks_with_temporal_waits_for_the_namespace(service: dict[str, Any]) -> None:
    waits = service.get("depends_on", {}).get("temporal-namespace")
    assert waits == ({"condition": "service_completed_successfully"} if "environment" in service else None)


@pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
def test_a_service_that_fails_is_tried_again(service: dict[str, Any]) -> None:
    assert service["restart"] == "unless-stopped" or service["restart"].startswith("on-failure")


@pytest.mark.parametrize("service", OURS.values(), ids=OURS)
def test_a_container_of_ours_has_no_right_that_it_does_not_need(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] == "${TICKWRIGHT_USER:-10001:10001}" or "rules:/rules" in service["volumes"]


def test_the_database_counts_as_there_only_when_others_reach_it() -> None:
    """Its image sets it up with a server that listens on a socket only."""
    assert "--host" in SERVICES["postgresql"]["healthcheck"]["test"]


def test_the_grace_period_outlasts_the_drain() -> None:
    drain = WorkerSettings.model_validate({}).drain_timeout
    assert parse_duration(OURS["worker"]["stop_grace_period"]) >= drain + parse_duration("10s")
