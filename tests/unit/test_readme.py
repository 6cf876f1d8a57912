"""What the README and docs/ show is what there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from prometheus_client import generate_latest

import activities.idempotency.__main__
import schedules.__main__
import schedules.commands.monitor
import schedules.commands.sync
import schedules.console.terminal
import tickwright.command
import worker.__main__
import worker.codec_server
import worker.dev.run
from activities.observe import RunEnded, StepFinished, StepStarted
from schedules.commands.explain import UI_URL
from schedules.lint.findings import findings
from schedules.lint.load import load_checked, load_compiled
from schedules.monitor.export import Exporter, Seen
from schedules.server.codec_keys import SETTINGS as CODEC_SETTINGS
from schedules.source.user_modules import find_handlers, import_modules
from tests import readme
from tests.prose import too_long
from worker.metrics.metrics import WorkerMetrics
from worker.settings import SECRET_PREFIX, WorkerSettings

if TYPE_CHECKING:
    import argparse

ENTRIES = {
    "activities.idempotency": activities.idempotency.__main__,
    "schedules": schedules.__main__,
    "schedules.monitor": schedules.commands.monitor,
    "schedules.sync": schedules.commands.sync,
    "tickwright": tickwright.command,
    "worker": worker.__main__,
    "worker.codec_server": worker.codec_server,
    "worker.dev": worker.dev.run,
}
NOW = datetime(2027, 1, 11, 12, tzinfo=UTC)
UNCHECKED = {".", "cp", "crontab", "echo", "journalctl", "export", "mkdir", "perl", "pip", "rm", "tcld"}
OF_A_COMMAND = {"JOB", "STEP", "SCHEDULED_AT", "ATTEMPT", "IDEMPOTENCY_KEY"}
TABLES = {"tickwright_effects"}
OF_COMPOSE = {"BUILD", "IMAGE", "SECRETS", "SPECS", "USER"}
OF_EXPLAIN = {UI_URL.removeprefix("TICKWRIGHT_")}
COMMANDS = [command.line for block in readme.blocks(readme.text(), "console") for command in readme.commands(block)]
COPIES = {line.split()[3]: line.split()[2] for line in COMMANDS if line.startswith("cp -r ")}


def test_the_generated_parts_are_those_of_the_code() -> None:
    assert readme.text() == readme.renewed(readme.text()), "run `make docs`"
    assert "`schedule` |" in readme.section("Spec reference")
    assert "TICKWRIGHT_TASK_QUEUE" in readme.section("Worker settings")


@pytest.mark.parametrize(("page", "target"), readme.links(), ids=lambda given: getattr(given, "name", given))
def test_every_link_leads_somewhere(page: Path, target: str) -> None:
    path, _, anchor = target.partition("#")
    if path.startswith("https://"):
        return
    led_to = (page.parent / path).resolve() if path else page
    assert led_to.exists()
    assert led_to.is_relative_to(readme.ROOT)
    assert not anchor or anchor in readme.anchors(led_to)


def test_every_page_is_read_from_the_readme() -> None:
    led_to = {
        (page.parent / target.partition("#")[0]).resolve() for page, target in readme.links() if page == readme.PAGES[0]
    }
    assert set(readme.PAGES[1:]) <= led_to


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: page.name)
def test_every_sentence_can_be_read_once(page: Path) -> None:
    assert list(too_long(page.read_text(encoding="utf-8"))) == []


def parse(module: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> argparse.Namespace:
    """What the real parser of a command makes of the arguments; SystemExit where it does not like them."""
    entry, parsed = ENTRIES[module], list[Any]()
    for place in (entry, schedules.__main__, schedules.console.terminal):  # The worker imports it late.
        monkeypatch.setattr(place, "run", lambda parser, given: parsed.append(parser.parse_args(given)), raising=False)
    entry.main(arguments)
    namespace: argparse.Namespace = parsed[0]
    return namespace


def check_python(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert words[0] == "-m"
    options = parse(words[1], words[2:], monkeypatch)
    assert callable(options.execute)


def check_temporal(words: list[str]) -> None:
    """Every flag is one that the help of the sub-command, or of all commands, names."""
    verbs = words[: next(i for i, word in enumerate(words) if word.startswith("-"))]
    program = Path(sys.executable).with_name("temporal")
    told = "".join(
        subprocess.run([program, *ask], capture_output=True, text=True, check=True).stdout
        for ask in ([*verbs, "--help"], ["options"])
    )
    assert " ".join(verbs) in told
    for flag in (word for word in words if word.startswith("--")):
        assert re.search(rf"{flag}[ ,]", told)


def check_compose(words: list[str]) -> None:
    text = (readme.ROOT / "docker-compose.yml").read_text()
    services = yaml.safe_load(text)["services"]
    if words[0] == "build":
        assert words[-1] == "." or f"COPY {words[-1].replace('-', '_')}.py" in readme.text()
        return
    assert words[0] == "compose"
    assert words[1] in {"up", "run"}
    assert all(word in services for word in words[2:] if not word.startswith("-"))


def check_kubectl(words: list[str]) -> None:
    """Folders are ones that kustomize builds, and what is named stands in the manifests."""
    manifests = "".join(path.read_text() for path in (readme.ROOT / "deploy").rglob("*.yaml"))
    for word in words:
        if word.startswith("deploy/"):
            assert (readme.ROOT / COPIES.get(word, word) / "kustomization.yaml").exists()
        elif found := re.search(r"tickwright-\w+", word):
            assert f"ame: {found[0]}" in manifests


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_one_that_there_is(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(line)
    while re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    match words[0]:
        case "python":
            check_python(words[1:], monkeypatch)
        case "tickwright":
            assert callable(parse("tickwright", words[1:], monkeypatch).execute)
        case "temporal":
            check_temporal(words[1:])
        case "kubectl":
            check_kubectl(words[1:])
        case "docker":
            check_compose(words[1:])
        case "make":
            assert re.search(rf"^{words[1]}:", (readme.ROOT / "Makefile").read_text(), re.MULTILINE)
        case other:
            assert other in UNCHECKED


def test_an_environment_that_a_page_activates_has_our_command() -> None:
    activated = set(re.findall(r"^\$ \. (\.venv[\w-]*)/bin/activate$", readme.text(), re.MULTILINE))
    assert activated
    for folder in activated:
        made = subprocess.run(
            ["make", "--dry-run", "--always-make", f"{folder}/installed"],
            cwd=readme.ROOT, check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert f"{folder}/bin/python -m pip install" in made.stdout
        assert "--editable ." in made.stdout


@pytest.mark.parametrize("option", ["--dry-run", "--check", "--no-prune", "--adopt"])
def test_the_table_of_options_names_options(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"| `{option}` |" in readme.section("Options of sync")
    parse("schedules.sync", [option, "--max-delete", "3", "--output", "json", "jobs"], monkeypatch)


@pytest.mark.parametrize("block", readme.blocks(readme.text(), "yaml"), ids=lambda block: block.text[:30])
def test_lint_finds_nothing_in_a_spec(block: readme.Block, tmp_path: Path) -> None:
    """No error and no warning; the tutorial corrects one duration."""
    handlers = find_handlers(
        import_modules(["examples.handlers", "examples.payments.payroll", "activities.idempotency.pruning"])
    )
    (tmp_path / "spec.yaml").write_text(block.text.replace("{every: 10}", "{every: 10s}"))

    project, times = load_compiled([str(tmp_path)], None, handlers, NOW)

    found = findings(project, times, NOW)
    assert [str(each) for each in found if each.severity != "info"] == []


def test_the_specs_that_compose_applies_are_right() -> None:
    assert load_checked([str(readme.ROOT / "deploy" / "specs")], None).jobs


@pytest.mark.parametrize("block", readme.blocks(readme.text(), "python"), ids=lambda block: block.text[:60])
def test_every_piece_of_python_stands_in_an_example(block: readme.Block) -> None:
    first, _, code = block.text.partition("\n")

    assert code in (readme.ROOT / first.removeprefix("# ")).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bTICKWRIGHT_[A-Z_]+", readme.text()))))
def test_every_variable_is_known(name: str) -> None:
    known = {field.upper() for field in WorkerSettings.model_fields} | OF_A_COMMAND | OF_COMPOSE | OF_EXPLAIN

    assert name.startswith(SECRET_PREFIX) or name.removeprefix("TICKWRIGHT_") in known or name in CODEC_SETTINGS


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tickwright_\w+)`", readme.text())) - TABLES))
def test_every_metric_is_served(name: str) -> None:
    metrics = WorkerMetrics()
    metrics(StepStarted("job", "run", "http", 1))
    metrics(StepFinished("job", "run", "http", 1, "succeeded", 0.1))
    metrics.count(RunEnded("job", "succeeded", 0.1, 0.1))
    served = generate_latest(metrics.registry) + generate_latest(Exporter.registry(Seen()))

    assert f"# TYPE {name} " in served.decode()


def test_what_the_image_installs_is_what_was_tested() -> None:
    pins = [
        set(re.findall(r"^[\w.-]+==[^ ;\\]+", (readme.ROOT / f"requirements{kind}.lock").read_text(), re.MULTILINE))
        for kind in ("", "-run", "-runtime", "-build")
    ]

    assert all(pins)
    assert pins[0] >= pins[1] >= pins[2]
    assert pins[0] >= pins[3]


@pytest.mark.parametrize("lock", sorted(readme.ROOT.glob("requirements*.lock")), ids=lambda lock: lock.name)
def test_a_lock_file_takes_packages_from_whatever_index_is_set_up(lock: Path) -> None:
    assert "://" not in lock.read_text()
