"""Sources of an import with faults in their structure or text: each is a report, or an error in words; never a traceback.

IMPORT_EXAMPLES says how many of each format are tried.
"""

from __future__ import annotations

import json
import os
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from schedules.importing.problem import SourceError
from tests.importing import SAMPLES, of_text
from tests.property.test_mutated_specs import PIECES, VALUES, at, places
from tests.unit.schedules.importing.test_more_formats import ARGO, GITHUB, NOMAD

if TYPE_CHECKING:
    from pathlib import Path

    from schedules.importing.sources import Format

EXAMPLES = int(os.environ.get("IMPORT_EXAMPLES", "10"))
RUBY = 'a: {cron: "0 4 * * *", class: Hard, queue: low, args: [1, x], status: disabled}\nb: {cron: every 5 minutes, class: B}\n'
APP_ENGINE = 'cron:\n- {url: /x, schedule: "1st monday of sep,oct 17:00", timezone: Europe/Berlin, retry_parameters: {job_retry_limit: 3}}\n'
SOURCES: list[tuple[Format, str, str]] = [
    ("cronjob", "a.yaml", (SAMPLES / "cronjobs.yaml").read_text(encoding="utf-8")),
    ("eventbridge", "a.json", (SAMPLES / "eventbridge.json").read_text(encoding="utf-8")),
    ("celery", "a.json", (SAMPLES / "periodic_tasks.json").read_text(encoding="utf-8")),
    ("github", "a.yaml", GITHUB),
    ("argo", "a.yaml", ARGO),
    ("nomad", "a.json", NOMAD),
    ("sidekiq-cron", "a.yaml", RUBY),
    ("app-engine", "a.yaml", APP_ENGINE),
]


def changed(text: str, name: str, dice: random.Random) -> str:
    """The same with one or two values replaced or taken out, or a piece of other text in it."""
    if dice.random() < 0.3:
        start = dice.randrange(len(text))
        return text[:start] + dice.choice(PIECES) + text[start + dice.randint(0, 6) :]
    documents: list[Any] = [json.loads(text)] if name.endswith("json") else list(yaml.safe_load_all(text))
    for _ in range(dice.randint(1, 2)):
        path = dice.choice([each for each in places(documents) if len(each) > 1] or [(0,)])
        at(documents, path[:-1])[path[-1]] = dice.choice(VALUES)
    return json.dumps(documents[0]) if name.endswith("json") else yaml.safe_dump_all(documents)


@pytest.mark.parametrize(("kind", "name", "text"), SOURCES, ids=[kind for kind, _, _ in SOURCES])
def test_a_changed_source_is_a_report_or_an_error_in_words(kind: Format, name: str, text: str, tmp_path: Path) -> None:
    for seed in range(EXAMPLES):
        source = changed(text, name, random.Random(seed))
        try:
            with suppress(SourceError):
                of_text(source, tmp_path, name, kind)
        except BaseException as error:
            raise AssertionError(f"seed {seed} of {kind}: {error!r}") from error
