"""A `container` step: what may be written, what it compiles to, and which mounts a worker lets it have."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from activities.errors import HandlerError
from activities.handlers.container.params import ContainerParams, body_of, check_mounts, size_in_bytes
from activities.handlers.lasting import name_of
from activities.steps.params import parse_params
from schedules.spec.kinds.container import ContainerSpec


def test_what_is_written_is_what_the_worker_takes() -> None:
    spec = ContainerSpec(
        image="report:1", args=("--all",), env={"A": "b"}, memory="512m", cpus=1.5, mounts=("/a:/b:ro",)
    )
    request = parse_params(ContainerParams, spec.step_params())
    body = body_of(request, request.env, {"tickwright.key": "k"})
    assert body == {
        "Image": "report:1",
        "Cmd": ["--all"],
        "Env": ["A=b"],
        "Labels": {"tickwright.key": "k"},
        "HostConfig": {
            "Binds": ["/a:/b:ro"],
            "LogConfig": {"Type": "json-file"},
            "RestartPolicy": {"Name": "no"},
            "Memory": 512 * 1024 * 1024,
            "MemorySwap": 512 * 1024 * 1024,
            "NanoCpus": 1_500_000_000,
        },
    }
    assert spec.described() == "container `report:1 --all`"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"image": ""}, "is no image"),
        ({"image": "a b"}, "is no image"),
        ({"memory": "lots"}, 'write for example "512m"'),
        ({"cpus": 0.0}, "greater than 0"),
        ({"mounts": ("/data",)}, "is no mount"),
        ({"mounts": ("/data:/x:rx",)}, "is no mount"),
        ({"files": {"token": "x"}}, "is no path of a file"),
        ({"pull": "often"}, "missing"),
        ({"env": {"A=B": "x"}}, "environment variable"),
    ],
)
def test_a_wrong_value_is_told_with_what_to_write(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        ContainerSpec(**{"image": "report:1", **fields})


@pytest.mark.parametrize(
    ("command", "args"), [((), ("sh", "-c", "echo {steps.a.output.x}")), (("bash", "-ec"), ("{steps.a.output.x}",))]
)
def test_no_shell_in_the_container_runs_what_a_step_has_said(command: tuple[str, ...], args: tuple[str, ...]) -> None:
    params = ContainerSpec(image="report:1", command=command, args=args).step_params()
    [problem] = ContainerSpec.find_problems(params, {"steps.a"}, None)
    assert problem.path == ("args", len(args) - 1)
    assert "give it in `env`" in problem.message


@pytest.mark.parametrize("field", ["args", "command", "image", "workdir", "user", "network"])
def test_a_secret_stands_only_where_people_may_choose_who_reads_it(field: str) -> None:
    text, listed = "${secret:A}", field in {"args", "command"}
    given: dict[str, Any] = {"image": "report:1", "files": {"/a": "${secret:A}"}, "env": {"A": "${secret:A}"}}
    params = ContainerSpec(**given | {field: (text,) if listed else text}).step_params()
    [problem] = ContainerSpec.find_problems(params, set(), None)
    assert problem.path == ((field, 0) if listed else (field,))
    assert "can read the secret `A` here; write it into `files`" in problem.message


@pytest.mark.parametrize(
    ("mount", "allowed"),
    [
        ("/srv/data:/x", True),
        ("/srv/data/below:/x:ro", True),
        ("/srv/data/../etc:/x", False),
        ("/srv/database:/x", False),
        ("/:/x", False),
        ("/srv/read:/x:ro", True),
        ("/srv/read:/x", False),
        ("/srv/read:/x:rw", False),
        ("cache:/x", True),
        ("cache2:/x", False),
        ("/srv/data:x", False),
        ("/srv/read:/x:ro,rw", False),
        ("/srv/data:/x:ro:/y", False),
        (":/x", False),
    ],
)
def test_a_worker_mounts_what_its_settings_name(mount: str, allowed: bool) -> None:
    places = ("/srv/data", "/srv/read:ro", "cache")
    if allowed:
        check_mounts([mount], places)
        return
    with pytest.raises(HandlerError) as caught:
        check_mounts([mount], places)
    assert caught.value.permanent


def test_an_image_without_a_tag_is_its_latest() -> None:
    images = ["a", "a:1", "host:5000/a", "host:5000/a:1", "a@sha256:0"]
    assert [ContainerParams(image=image).reference for image in images] == [
        "a:latest",
        "a:1",
        "host:5000/a:latest",
        "host:5000/a:1",
        "a@sha256:0",
    ]


def test_sizes_are_those_of_docker() -> None:
    assert [size_in_bytes(text) for text in ("1", "1b", "2k", "1.5m", "1G")] == [1, 1, 2048, 1_572_864, 1_073_741_824]


def test_each_step_has_one_name_which_every_attempt_finds() -> None:
    assert name_of("a") == name_of("a") != name_of("b")
    assert len(name_of("a" * 1000, 99)) <= 63


def test_after_a_failure_the_name_is_another() -> None:
    assert [name_of("a", failures) for failures in (1, 2)] == [f"{name_of('a')}-2", f"{name_of('a')}-3"]
