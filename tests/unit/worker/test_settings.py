"""Worker settings: where they come from, and what is said of wrong ones."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from schedules.errors import SettingsError
from schedules.serve.access import Token, given_token
from schedules.server.codec_keys import SETTINGS as CODEC_SETTINGS
from worker.outputs import outputs_of
from worker.settings import WorkerSettings, load_settings, settings_help


@pytest.fixture(autouse=True)
def nothing_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable and no file says anything."""
    for name in [name for name in os.environ if name.startswith("TICKWRIGHT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write_file(text: str) -> None:
    Path("tickwright.toml").write_text(text, encoding="utf-8")


def refusal() -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert refused.value.exit_code == 2
    return str(refused.value).splitlines()


def test_without_anything_given_the_documented_defaults_hold() -> None:
    settings = load_settings()
    assert (settings.task_queue, settings.modules, settings.allow_commands) == ("tickwright", (), False)
    assert (settings.http_address, settings.drain_timeout) == (("127.0.0.1", 9464), timedelta(seconds=30))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("task_queue", "billing", "billing"),
        ("modules", "jobs.a, jobs.b,,", ("jobs.a", "jobs.b")),
        ("modules", "", ()),
        ("allow_commands", "true", True),
        ("allow_commands", "0", False),
        ("http_address", "0.0.0.0:80", ("0.0.0.0", 80)),
        ("http_address", "[::1]:0", ("::1", 0)),
        ("http_address", "localhost:65535", ("localhost", 65535)),
        ("drain_timeout", "1m30s", timedelta(seconds=90)),
        ("drain_timeout", "0s", timedelta(0)),
        ("log_format", "console", "console"),
        ("log_level", "debug", "debug"),
        ("max_concurrent_steps", "7", 7),
        ("max_concurrent_workflow_tasks", "2", 2),
        ("max_cached_workflows", "1", 1),
        ("max_steps_per_second", "0.5", 0.5),
        ("max_queue_steps_per_second", "3", 3.0),
        ("max_concurrent_local_activities", "4", 4),
        ("workflow_pollers", "2", 2),
        ("workflow_pollers", "auto", "auto"),
        ("step_pollers", "20", 20),
        ("backlog_interval", "0s", timedelta(0)),
        ("build_id", "abc", "abc"),
    ],
)
def test_a_variable_sets_a_field(name: str, text: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"TICKWRIGHT_{name.upper()}", text)
    assert getattr(load_settings(), name) == value


def test_the_secrets_folder_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_SECRETS_DIR", str(tmp_path))
    assert load_settings().secrets_dir == tmp_path
    monkeypatch.setenv("TICKWRIGHT_SECRETS_DIR", str(tmp_path / "gone"))
    assert refusal() == [f"TICKWRIGHT_SECRETS_DIR: write a folder that exists, not '{tmp_path}/gone'"]


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("task_queue", "", "at least 1 character"),
        ("allow_commands", "maybe", "write true or false, not 'maybe'"),
        ("http_address", "9464", "write host:port"),
        ("http_address", "localhost", "write host:port"),
        ("http_address", ":80", "write host:port"),
        ("http_address", "localhost:http", "write host:port"),
        ("http_address", "localhost:65536", "write host:port"),
        ("http_address", "localhost:-1", "write host:port"),
        ("drain_timeout", "30", 'write for example "30s"'),
        ("drain_timeout", "-5s", 'write for example "30s"'),
        ("drain_timeout", "", 'write for example "30s"'),
        ("log_format", "xml", "'console' or 'json'"),
        ("log_level", "INFO", "'debug', 'info', 'warning' or 'error'"),
        ("max_concurrent_steps", "0", "greater than or equal to 1"),
        ("max_concurrent_steps", "many", "valid integer"),
        ("max_concurrent_steps", "1.5", "valid integer"),
        ("max_concurrent_workflow_tasks", "1", "greater than or equal to 2"),
        ("max_cached_workflows", "0", "greater than or equal to 1"),
        ("max_steps_per_second", "0", "greater than or equal to 0.001"),
        ("max_cached_workflows", "100000000000", "less than or equal to 1000000"),
        ("max_concurrent_steps", "100001", "less than or equal to 100000"),
        ("max_concurrent_workflow_tasks", "100001", "less than or equal to 100000"),
        ("max_concurrent_local_activities", "100001", "less than or equal to 100000"),
        ("step_pollers", "1001", "write 2 to 1000, or auto"),
        ("max_steps_per_second", "1e-300", "greater than or equal to 0.001"),
        ("max_steps_per_second", "nan", "finite number"),
        ("max_steps_per_second", "inf", "finite number"),
        ("max_queue_steps_per_second", "0", "greater than or equal to 0.001"),
        ("max_concurrent_local_activities", "0", "greater than or equal to 1"),
        ("workflow_pollers", "1", "write 2 to 1000, or auto"),
        ("step_pollers", "many", "write 2 to 1000, or auto"),
        ("backlog_interval", "15", 'write for example "30s"'),
    ],
)
def test_a_bad_value_is_refused_with_its_place_and_what_to_write(
    name: str, text: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"TICKWRIGHT_{name.upper()}", text)
    [problem] = refusal()
    assert problem.startswith(f"TICKWRIGHT_{name.upper()}: ")
    assert advice in problem
    assert any(quoted in problem for quoted in (f"'{text}'", f'"{text}"'))


def test_an_unknown_variable_is_refused_with_its_near_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_TASK_QUEU", "x")
    assert refusal() == ["TICKWRIGHT_TASK_QUEU: there is no such setting; did you mean TICKWRIGHT_TASK_QUEUE?"]


def test_an_unknown_variable_without_a_near_miss_leads_to_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_QQQ", "x")
    assert refusal() == ["TICKWRIGHT_QQQ: there is no such setting; `tickwright worker --help` lists them all"]


def test_whole_outputs_go_to_one_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TICKWRIGHT_OUTPUTS_URL", "s3://logs/outputs")
    monkeypatch.setenv("TICKWRIGHT_OUTPUTS_DIR", str(tmp_path))
    with pytest.raises(SettingsError, match="both are set; keep one"):
        outputs_of(load_settings())


@pytest.mark.parametrize("url", ["https://logs", "s3://", "s3://key:secret@logs", "s3://Logs?x=1", "logs"])
def test_an_address_that_is_no_bucket_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_OUTPUTS_URL", url)
    [problem] = refusal()
    assert "is no bucket; write for example s3://my-bucket/outputs" in problem


def test_the_token_is_in_no_message_and_no_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_HTTP_TOKEN", "sesame")
    settings = load_settings()
    assert "sesame" not in repr(settings)
    assert settings.token
    write_file("http_token = 4711")
    monkeypatch.delenv("TICKWRIGHT_HTTP_TOKEN")
    assert refusal() == ["tickwright.toml: http_token: Input should be a valid string"]


def test_a_token_has_one_place_and_is_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    monkeypatch.setenv("TICKWRIGHT_HTTP_TOKEN_FILE", str(file))
    assert refusal() == [f"TICKWRIGHT_HTTP_TOKEN_FILE: write a file that exists, not '{file}'"]
    file.write_text("\n")
    with pytest.raises(SettingsError, match="no token in"):
        assert load_settings().token
    monkeypatch.setenv("TICKWRIGHT_HTTP_TOKEN", "sesame")
    with pytest.raises(SettingsError, match="both given"):
        assert load_settings().token


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"TICKWRIGHT_HTTP_TOKEN": ""}, "TICKWRIGHT_HTTP_TOKEN: is empty"),
        ({"TICKWRIGHT_HTTP_TOKEN": "  "}, "TICKWRIGHT_HTTP_TOKEN: no client can send this token"),
        ({"TICKWRIGHT_HTTP_TOKEN": "se same"}, "TICKWRIGHT_HTTP_TOKEN: no client can send this token"),
        ({"TICKWRIGHT_HTTP_TOKEN": "sésame"}, "TICKWRIGHT_HTTP_TOKEN: no client can send this token"),
        ({"TICKWRIGHT_HTTP_TOKEN_FILE": ""}, "TICKWRIGHT_HTTP_TOKEN_FILE: "),
        ({"TICKWRIGHT_HTTP_TOKEN_FILE": "two.words"}, "TICKWRIGHT_HTTP_TOKEN_FILE: two.words: no client can send"),
        (
            {"TICKWRIGHT_HTTP_TOKENS": "x"},
            "TICKWRIGHT_HTTP_TOKENS: there is no such setting; did you mean TICKWRIGHT_HTTP_TOKEN?",
        ),
        (
            {"TICKWRIGHT_HTTP_ADRESS": "x"},
            "TICKWRIGHT_HTTP_ADRESS: there is no such setting; did you mean TICKWRIGHT_HTTP_ADDRESS?",
        ),
    ],
)
def test_worker_and_monitor_refuse_the_same_tokens(
    given: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("two.words").write_text("open sesame\n")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as of_monitor:
        given_token()
    with pytest.raises(SettingsError) as of_worker:
        _ = load_settings().token
    for refused in (of_monitor, of_worker):
        assert refused.value.exit_code == 2
        assert str(refused.value).startswith(said)
        assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("header", "admitted"),
    [
        ("Bearer sesame", True),
        ("bearer sesame", True),
        ("BEARER sesame", True),
        ("Bearer sesam", False),
        ("Bearer", False),
        ("Basic sesame", False),
        ("sesame", False),
        ("", False),
    ],
)
def test_the_scheme_is_bearer_in_any_letter_case(header: str, admitted: bool) -> None:
    """RFC 9110, 11.1: the name of a scheme is case-insensitive."""
    assert Token("sesame").admits(header) is admitted


def test_without_a_token_everyone_may_read() -> None:
    assert load_settings().token is None


def test_secrets_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_SECRET_TOKEN", "sesame")
    assert "sesame" not in repr(load_settings())


@pytest.mark.parametrize("prefix", ["", "tickwright_"])
def test_the_file_has_the_names_with_or_without_the_prefix(prefix: str) -> None:
    write_file(f'{prefix}task_queue = "billing"\n{prefix}modules = ["a", "b"]\n{prefix}drain_timeout = "5s"')
    settings = load_settings()
    assert (settings.task_queue, settings.modules) == ("billing", ("a", "b"))
    assert settings.drain_timeout == timedelta(seconds=5)


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write_file('task_queue = "of-the-file"\nlog_level = "debug"')
    monkeypatch.setenv("TICKWRIGHT_TASK_QUEUE", "of-the-environment")
    settings = load_settings()
    assert (settings.task_queue, settings.log_level) == ("of-the-environment", "debug")


def test_a_bad_value_in_the_file_is_refused_at_its_place_there() -> None:
    write_file("drain_timeout = 30")
    assert refusal() == ['tickwright.toml: drain_timeout: 30 has no unit; write "30s" for seconds or "30m" for minutes']


def test_an_unknown_name_in_the_file_is_refused_with_its_near_miss() -> None:
    write_file('task_queu = "x"')
    assert refusal() == ["tickwright.toml: task_queu: there is no such setting; did you mean task_queue?"]


def test_a_table_in_the_file_is_an_unknown_name() -> None:
    write_file('[worker]\ntask_queue = "x"')
    assert refusal()[0].startswith("tickwright.toml: worker: there is no such setting")


def test_a_name_given_twice_in_the_file_is_refused() -> None:
    write_file('task_queue = "a"\ntickwright_task_queue = "b"')
    assert refusal() == ["tickwright.toml: task_queue is set twice, with and without tickwright_; remove one"]


def test_a_file_that_is_no_toml_is_refused_with_the_place() -> None:
    write_file("task_queue = \n")
    [problem] = refusal()
    assert problem.startswith("tickwright.toml: ")
    assert "line 1" in problem


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    Path("tickwright.toml").write_bytes(b'task_queue = "\xff"')
    [problem] = refusal()
    assert problem.startswith("tickwright.toml: ")


def test_all_problems_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write_file("max_cached_workflows = 0\nnope = 1")
    monkeypatch.setenv("TICKWRIGHT_LOG_LEVEL", "loud")
    monkeypatch.setenv("TICKWRIGHT_HTTP_ADDRES", "x")
    places = {problem.rpartition(": ")[0] for problem in refusal()}
    assert places == {
        "TICKWRIGHT_LOG_LEVEL",
        "TICKWRIGHT_HTTP_ADDRES",
        "tickwright.toml: max_cached_workflows",
        "tickwright.toml: nope",
    }


def test_the_keys_of_encryption_are_settings_of_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKWRIGHT_CODEC_KEYS_FILE", "/keys")
    load_settings()
    monkeypatch.setenv("TICKWRIGHT_CODEC_KEY_FILE", "/keys")
    assert refusal() == [
        "TICKWRIGHT_CODEC_KEY_FILE: there is no such setting; did you mean TICKWRIGHT_CODEC_KEYS_FILE?"
    ]
    monkeypatch.delenv("TICKWRIGHT_CODEC_KEY_FILE")
    write_file('codec_keys = "a:b"')
    [problem] = refusal()
    assert problem.startswith("tickwright.toml: codec_keys: set TICKWRIGHT_CODEC_KEYS in the environment")


def test_help_names_every_field_with_its_default() -> None:
    lines = {line.split()[0]: line for line in settings_help().splitlines()}
    assert set(lines) == {f"TICKWRIGHT_{name.upper()}" for name in WorkerSettings.model_fields} | set(CODEC_SETTINGS)
    assert lines["TICKWRIGHT_HTTP_ADDRESS"].endswith("(default: 127.0.0.1:9464)")
    assert lines["TICKWRIGHT_DRAIN_TIMEOUT"].endswith("(default: 30s)")
    assert lines["TICKWRIGHT_ALLOW_COMMANDS"].endswith("(default: false)")
    assert lines["TICKWRIGHT_SECRETS_DIR"].endswith("(default: none)")
    assert lines["TICKWRIGHT_MODULES"].endswith("(default: none)")
