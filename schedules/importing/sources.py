"""Reads the sources of an import: which format each has, within bounds of size, and the loader that goes with it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Literal, get_args

from schedules.importing.formats.airflow import load_airflow
from schedules.importing.formats.app_engine import load_app_engine
from schedules.importing.formats.apscheduler import load_apscheduler
from schedules.importing.formats.argo import load_cron_workflows
from schedules.importing.formats.celery import load_celery
from schedules.importing.formats.celery_dump import load_celery_dump
from schedules.importing.formats.cronjob import load_cronjobs
from schedules.importing.formats.crontab import NOT_UTF_8, load_crontab
from schedules.importing.formats.eventbridge import load_eventbridge
from schedules.importing.formats.github import load_github
from schedules.importing.formats.nomad import load_nomad
from schedules.importing.formats.ruby import load_ruby
from schedules.importing.formats.systemd import load_timers
from schedules.importing.old_job import Dropped, Loaded
from schedules.importing.problem import SourceError
from schedules.source.document import is_stream

Format = Literal[
    "crontab",
    "cron.d",
    "cronjob",
    "systemd",
    "celery",
    "eventbridge",
    "airflow",
    "apscheduler",
    "github",
    "argo",
    "nomad",
    "sidekiq-cron",
    "solid-queue",
    "app-engine",
]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
LARGEST: Final = 5_000_000
"""Bytes of one source."""
MOST_FILES: Final = 1_000
_BY_LINES: Final = frozenset[Format]({"crontab", "cron.d"})
"""The formats whose lines stand alone: one that is not UTF-8 is left out, and the others are read."""
_CRON_D_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "cronjob": (".yaml", ".yml", ".json"),
    "systemd": (".timer", ".service"),
    "celery": (".py", ".json"),
    "eventbridge": (".json", ".yaml", ".yml", ".template"),
    "airflow": (".py",),
    "apscheduler": (".py",),
    "github": (".yaml", ".yml"),
    "argo": (".yaml", ".yml", ".json"),
    "nomad": (".json",),
    "sidekiq-cron": (".yaml", ".yml"),
    "solid-queue": (".yaml", ".yml"),
    "app-engine": (".yaml", ".yml"),
}
_CONTENTS: Final[tuple[tuple[Format, re.Pattern[str]], ...]] = (
    ("argo", re.compile(r"""["']?kind["']?\s*:\s*["']?CronWorkflow""")),
    ("cronjob", re.compile(r"""["']?kind["']?\s*:\s*["']?CronJob""")),
    ("celery", re.compile(r'"django_celery_beat\.')),
    ("eventbridge", re.compile(r"AWS::(?:Scheduler|Events)::|aws_scheduler_schedule|aws_cloudwatch_event_rule")),
    ("nomad", re.compile(r'"TaskGroups"\s*:')),
)


def load_sources(sources: Sequence[str], given: Format | None, zone: str) -> Loaded:
    """The jobs of all sources, in their order. Raises SourceError for a source that cannot be read, or whose format is not certain."""
    texts: dict[str, str] = {}
    dropped: list[Dropped] = []
    for source in sources:
        found, skipped = _files(source, given)
        texts |= found
        dropped += skipped
    formats = {name: given or _detected(name, text) for name, text in texts.items()}
    for name, text in texts.items():
        if formats[name] not in _BY_LINES:
            _check_encoding(name, text)
    timers = {name: text for name, text in texts.items() if formats[name] == "systemd"}
    loaded = [load_timers(timers, zone)] if timers else []
    loaded += [_LOADERS[formats[name]](text, name, zone) for name, text in texts.items() if formats[name] != "systemd"]
    jobs = [job for each in loaded for job in each.jobs]
    dropped += (line for each in loaded for line in each.dropped)
    if not jobs and not dropped:
        raise SourceError(f"{', '.join(sources)}: no job in it; is it what you meant to import?")
    return Loaded(jobs, dropped)


def _load_celery(text: str, name: str, zone: str) -> Loaded:
    return load_celery_dump(text, name, zone) if text.lstrip().startswith("[") else load_celery(text, name, zone)


_LOADERS: Final[Mapping[Format, Callable[[str, str, str], Loaded]]] = {
    "crontab": partial(load_crontab, users=False),
    "cron.d": partial(load_crontab, users=True),
    "cronjob": load_cronjobs,
    "systemd": lambda text, name, zone: load_timers({name: text}, zone),
    "celery": _load_celery,
    "eventbridge": lambda text, name, _zone: load_eventbridge(text, name),
    "airflow": load_airflow,
    "apscheduler": load_apscheduler,
    "github": lambda text, name, _zone: load_github(text, name),
    "argo": load_cron_workflows,
    "nomad": lambda text, name, _zone: load_nomad(text, name),
    "sidekiq-cron": partial(load_ruby, enqueue="perform_async"),
    "solid-queue": partial(load_ruby, enqueue="perform_later"),
    "app-engine": lambda text, name, _zone: load_app_engine(text, name),
}


def _files(source: str, given: Format | None) -> tuple[dict[str, str], list[Dropped]]:
    """The texts of a source by name, and the files of a folder that its format does not read."""
    if source == "-":
        return {"-": _text("-", sys.stdin.buffer.read(LARGEST + 1))}, []
    path = Path(source)
    if not path.is_dir():
        return {source: _read(path)}, []
    entries = sorted(each for each in path.iterdir() if each.is_file())
    if len(entries) > MOST_FILES:
        raise SourceError(
            f"{source}: {len(entries):,} files; give a folder of at most {MOST_FILES:,}, or the files themselves"
        )
    kept, dropped = dict[str, str](), list[Dropped]()
    for each in entries:
        if given == "cron.d" and not _CRON_D_NAME.fullmatch(each.name):
            dropped.append(
                Dropped(
                    str(each),
                    0,
                    "cron does not read a file of such a name (letters, digits, _ and - alone): left out",
                    no_job=True,
                )
            )
        elif given is not None and given in _ENDINGS and each.suffix not in _ENDINGS[given]:
            dropped.append(Dropped(str(each), 0, f"not named like a source of {given}: left out", no_job=True))
        else:
            kept[str(each)] = _read(each)
    if not kept:
        raise SourceError(f"{source}: no file in it that can be imported")
    return kept, dropped


def _read(path: Path) -> str:
    try:
        if not (path.is_file() or is_stream(str(path))):
            raise SourceError(f"{path}: {'not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as file:
            return _text(str(path), file.read(LARGEST + 1))
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from None


def _text(name: str, data: bytes) -> str:
    if len(data) > LARGEST:
        raise SourceError(f"{name}: larger than {LARGEST // 1_000_000} MB; give the part that holds the schedules")
    if (place := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise SourceError(f"{name}:{line}: a zero byte: this is not a text file")
    return data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")


def _check_encoding(name: str, text: str) -> None:
    """Raises SourceError where the text came from bytes that are not UTF-8."""
    if match := NOT_UTF_8.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise SourceError(f"{name}:{line}: not UTF-8; convert it first (`iconv -t UTF-8`)")


def _detected(name: str, text: str) -> Format:
    """The format, where name and content leave no doubt. Raises SourceError."""
    path = Path(name)
    if found := _named_format(path) or (_python_format(text) if path.suffix == ".py" else None):
        return found
    for kind, pattern in _CONTENTS:
        if pattern.search(text):
            return kind
    raise SourceError(f"{name}: its format is not certain; give --from with one of {', '.join(FORMATS)}")


def _named_format(path: Path) -> Format | None:
    """By names that nothing else has."""
    folder = path.parent
    names: tuple[tuple[bool, Format], ...] = (
        (path.suffix in {".timer", ".service"}, "systemd"),
        (path.suffix == ".crontab", "crontab"),
        (folder.name == "cron.d" or str(path) == "/etc/crontab", "cron.d"),
        ((folder.parent.name, folder.name) == (".github", "workflows"), "github"),
        (path.name == "recurring.yml", "solid-queue"),
    )
    return next((kind for fits, kind in names if fits), None)


def _python_format(text: str) -> Format | None:
    """By what the file imports; a settings file without such a line is known by its beat_schedule."""
    kinds: tuple[Format, ...] = ("airflow", "apscheduler", "celery")
    for kind in kinds:
        if re.search(rf"^\s*(?:from|import)\s+{kind}\b", text, re.MULTILINE):
            return kind
    return "celery" if re.search(r"beat_?schedule", text, re.IGNORECASE) else None
