"""Settings of a worker: from the environment, else from `tickwright.toml`, else these defaults."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    DirectoryPath,
    Field,
    FilePath,
    SecretStr,
    ValidationError,
)

from activities.contract import DEFAULT_TASK_QUEUE
from schedules.errors import SettingsError
from schedules.serve.access import Token, check_token
from schedules.serve.guard import Guard
from schedules.server.codec_keys import SETTINGS as CODEC_SETTINGS
from schedules.spec.task_queue import check_task_queue
from schedules.text.address import host_and_port
from schedules.text.duration import parse_duration
from schedules.text.nearest import nearest
from worker.outputs import check_bucket

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PREFIX = "TICKWRIGHT_"
SECRET_PREFIX = "TICKWRIGHT_SECRET_"  # noqa: S105 - the prefix of names, not a secret
FILE = Path("tickwright.toml")
ADVICE = {
    "bool_parsing": "write true or false",
    "path_not_directory": "write a folder that exists",
    "path_not_file": "write a file that exists",
}
SECRETS = frozenset({"http_token"})
"""Fields whose values are in no message."""
AUTO = "auto"
MOST_AT_ONCE, MOST_CACHED, MOST_POLLERS, SLOWEST = 100_000, 1_000_000, 1_000, 0.001
"""Far beyond what a worker can do, and within what the SDK's core takes: it aborts the process over some greater ones."""


def _names(value: Any) -> Any:
    """`a, b` and `["a", "b"]` are the same list."""
    return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


def _address(value: Any) -> Any:
    return host_and_port(value) if isinstance(value, str) else value


def _token(token: SecretStr) -> SecretStr:
    check_token(token.get_secret_value())
    return token


def _pollers(value: Any) -> Any:
    """A number of at least two, or `auto`."""
    if value == AUTO or (str(value).isdecimal() and 2 <= int(value) <= MOST_POLLERS):  # noqa: PLR2004 - the SDK's least
        return value
    raise ValueError(f"{value!r} is not a number of polls; write 2 to {MOST_POLLERS}, or auto")


Pollers = Annotated[int | Literal["auto"], BeforeValidator(_pollers)]


class WorkerSettings(BaseModel):
    """What a worker pod can be told. Every field is `TICKWRIGHT_<NAME>`, or the same in lower case in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_queue: Annotated[str, AfterValidator(check_task_queue)] = Field(
        DEFAULT_TASK_QUEUE, min_length=1, description="Task queue to poll."
    )
    modules: Names = Field((), description="Modules with handlers, workflows and activities, comma-separated.")
    allow_commands: bool = Field(False, description="Whether `command` steps may run on this worker.")
    allow_containers: bool = Field(False, description="Whether `container` steps may run on this worker.")
    container_socket: str = Field(
        "", description="Unix socket of Docker or Podman; none given: that of DOCKER_HOST, else where the two have it."
    )
    container_mounts: Names = Field(
        (), description="Host paths and volumes that `container` steps may mount, comma-separated; `:ro`: to read."
    )
    kubernetes_namespaces: Names = Field((), description="Namespaces for `kubernetes` steps, comma-separated.")
    secrets_dir: DirectoryPath | None = Field(None, description="Folder with a file NAME for each ${secret:NAME}.")
    outputs_dir: DirectoryPath | None = Field(
        None,
        description="Folder for the whole output of commands, containers and Jobs, if it is longer than 9 KiB; by default only its ends are kept.",
    )
    outputs_url: Annotated[str, AfterValidator(check_bucket)] = Field(
        "",
        description="The same in S3-compatible storage, such as s3://bucket/outputs, with endpoint and credentials from AWS_… (extra `s3`).",
    )
    http_address: Annotated[tuple[str, int], BeforeValidator(_address)] = Field(
        ("127.0.0.1", 9464), description="Address for /livez, /startupz, /readyz and /metrics."
    )
    http_hosts: Names = Field(
        (),
        description="Host names, comma-separated, by which /metrics answers without a token, besides localhost and plain addresses.",
    )
    http_token: Annotated[SecretStr, AfterValidator(_token)] | None = Field(
        None, description="Bearer token that /metrics requires."
    )
    http_token_file: FilePath | None = Field(None, description="File with that token, read at each request.")
    drain_timeout: Annotated[timedelta, BeforeValidator(parse_duration)] = Field(
        timedelta(seconds=30), description="How long running steps may take to finish after SIGTERM, SIGINT or SIGHUP."
    )
    log_format: Literal["console", "json"] | None = Field(
        None, description="`console` or `json`; by default console on a terminal, else json."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level of log lines.")
    max_concurrent_steps: int = Field(100, ge=1, le=MOST_AT_ONCE, description="Most steps at the same time.")
    max_concurrent_workflow_tasks: int = Field(
        100, ge=2, le=MOST_AT_ONCE, description="Most workflow tasks at the same time."
    )
    max_cached_workflows: int = Field(
        1000, ge=1, le=MOST_CACHED, description="Runs kept in memory between their tasks."
    )
    max_steps_per_second: float | None = Field(
        None, ge=SLOWEST, allow_inf_nan=False, description="Most steps started a second; by default no limit."
    )
    max_queue_steps_per_second: float | None = Field(
        None,
        ge=SLOWEST,
        allow_inf_nan=False,
        description="The same for all workers of the task queue together; enforced by the server.",
    )
    max_concurrent_local_activities: int = Field(
        100,
        ge=1,
        le=MOST_AT_ONCE,
        description="Most local activities (arguments of `workflow` steps) at the same time.",
    )
    workflow_pollers: Pollers = Field(
        5, description="Polls for workflow tasks; `auto` uses as many as needed, up to 100."
    )
    step_pollers: Pollers = Field(5, description="Polls for steps; `auto` likewise.")
    backlog_interval: Annotated[timedelta, BeforeValidator(parse_duration)] = Field(
        timedelta(seconds=15), description="How often the backlog of the task queue is read; 0s never reads it."
    )
    ui_url: str = Field("", description="Address of Temporal's Web UI, for links in notices and `explain`.")
    build_id: str = Field("", description="Name of this build in Temporal; by default the installed version.")

    @property
    def guard(self) -> Guard:
        """Who may read /metrics. Raises SettingsError."""
        return Guard(self.token, self.http_hosts)

    @property
    def token(self) -> Token | None:
        """What /metrics asks for; None where there is none. Raises SettingsError."""
        return Token.of(self.http_token.get_secret_value() if self.http_token else None, self.http_token_file)


def load_settings(**overrides: Any) -> WorkerSettings:
    """The settings in force: arguments win over the environment, and the environment over the file.

    Raises SettingsError that names every wrong one and what to write instead.
    """
    problems = _unknown_names()
    try:
        settings = WorkerSettings.model_validate({**_from_file(), **_from_environment(), **overrides})
    except ValidationError as error:
        problems += [_problem(item) for item in error.errors()]
    except (OSError, ValueError) as error:
        problems.append(f"{FILE}: {error}")
    if problems:
        raise SettingsError("\n".join(problems))
    return settings


def settings_help() -> str:
    """One line a setting: its name, default and meaning."""
    lines = [
        f"  {PREFIX}{name.upper():<32}{field.description} (default: {_shown(field.default)})"
        for name, field in WorkerSettings.model_fields.items()
    ]
    shared = [f"  {name:<43}{meaning} (environment only, of `sync` too)" for name, meaning in CODEC_SETTINGS.items()]
    return "\n".join(lines + shared)


def _from_environment() -> dict[str, str]:
    values = {name: os.environ.get(PREFIX + name.upper()) for name in WorkerSettings.model_fields}
    return {name: value for name, value in values.items() if value is not None}


def _from_file() -> dict[str, Any]:
    """`tickwright.toml`; its keys may carry the prefix of the environment's names or leave it out. Raises OSError and ValueError."""
    if not FILE.exists():
        return {}
    import tomllib

    values: dict[str, Any] = {}
    for key, value in tomllib.loads(FILE.read_text(encoding="utf-8")).items():
        name = key.removeprefix(PREFIX.lower())
        if name in values:
            raise ValueError(f"{name} is set twice, with and without {PREFIX.lower()}; remove one")
        values[name] = value
    return values


def _unknown_names() -> list[str]:
    given = [name for name in os.environ if name.startswith(PREFIX) and not name.startswith(SECRET_PREFIX)]
    unknown = sorted(name for name in given if name.removeprefix(PREFIX).lower() not in _known())
    return [f"{name}: there is no such setting; {_nearest(name, PREFIX)}" for name in unknown]


def _known() -> list[str]:
    """What may be set in the environment."""
    return [*WorkerSettings.model_fields, *(name.removeprefix(PREFIX).lower() for name in CODEC_SETTINGS)]


def _nearest(name: str, prefix: str = "") -> str:
    """Advice for an unknown name, written as it was: with a prefix in upper case."""
    close = nearest(name.removeprefix(prefix), _known() if prefix else WorkerSettings.model_fields)[:1]
    shown = [prefix + word.upper() if prefix else word for word in close]
    return f"did you mean {shown[0]}?" if shown else "`tickwright worker --help` lists them all"


def _problem(error: ErrorDetails) -> str:
    name = str(error["loc"][0])
    if PREFIX + name.upper() in CODEC_SETTINGS:
        return f"{FILE}: {name}: set {PREFIX}{name.upper()} in the environment, because `sync` reads it, too"
    if name not in WorkerSettings.model_fields:
        return f"{FILE}: {name}: there is no such setting; {_nearest(name)}"
    variable = PREFIX + name.upper()
    place = variable if variable in os.environ else f"{FILE}: {name}"
    if error["type"] == "value_error":  # Ours: it names the value itself.
        return f"{place}: {error['msg'].removeprefix('Value error, ')}"
    given = "" if name in SECRETS else f", not {error['input']!r}"
    return f"{place}: {ADVICE.get(error['type'], error['msg'])}{given}"


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ":".join(str(part) for part in default) or "none"
    if isinstance(default, timedelta):
        return f"{int(default.total_seconds())}s"
    return "none" if default in {None, ""} else str(default).lower() if isinstance(default, bool) else str(default)
