"""Good specs with a fault in their structure or their text: one kind of error, soon and in words; no key is passed over.

`FUZZ_SPECS` says how many; `make fuzz` tries 100,000. A failure names the seed that repeats it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedules.errors import SpecError
from schedules.lint.load import load_checked
from schedules.source.document import read_document
from schedules.spec.project import Project

SPECS = int(os.environ.get("FUZZ_SPECS", "400"))
BATCH = 500
"""Documents that one process reads."""
LONGEST_SECONDS, MOST_BYTES = 10, 300 * 2**20
NOW = datetime(2027, 3, 1, tzinfo=UTC)
GOOD = [path for path in sorted((Path(__file__).parents[1] / "specs" / "good").iterdir()) if path.suffix != ".txt"]
JARGON = re.compile(r"pydantic|errors\.|Input should|validat|<class|Traceback|mapping_type|NoneType|Error\(|\w+Error:")
VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**30, "", " ", "x", "2", "a b", [], {}, [None], [[]], {"a": 1}, {"": ""}, "{", "}}{", "${secret:}",
    "${secret:A}", "{job", "{steps.a.output}", "\u2028", "\ufeff", "é" * 300, "x" * 5_000, "{" * 5_000, "1d" * 50, "9" * 50 + "d", "* * * * *",
    "@daily", "Etc/GMT+2", "http://[", "https://x/{job}", "2027-02-30T00:00", "0001-01-01T00:00:00Z", "😀",
]  # fmt: skip
PIECES = [
    "*", "&a ", "*a", "<<: ", "!!", "!!int ", "- ", "? ", ": ", "{", "}", "[", "]", "'", '"', "\t", "\n", "|", ">", "#", "%", "@", "~", "null",
    ".nan", "0x1F", "\\", "\x00", "\u2028", "---\n", "...\n", "{{", "[" * 200, "${secret:}", "<<<<<<< HEAD\n", "x-a: ", "name", "default",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a document but of the document itself."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


def renamed(data: Any, path: tuple[Any, ...], dice: random.Random) -> None:
    """A key, or a neighbour of an item of a list, that nobody has heard of."""
    holder, key = at(data, path[:-1]), path[-1]
    if isinstance(holder, list):
        holder[key] = dice.choice(VALUES)
        return
    name = str(key)
    place = dice.randrange(len(name) + 1)
    new = dice.choice([f"{name[:place]}{dice.choice('xq-_ .')}{name[place:]}", name.upper(), name[:-1], f"{name}s"])
    value = holder.pop(key)
    holder[new] = value


def replaced(data: Any, path: tuple[Any, ...], dice: random.Random) -> None:
    at(data, path[:-1])[path[-1]] = dice.choice(VALUES)


def removed(data: Any, path: tuple[Any, ...], dice: random.Random) -> None:
    del at(data, path[:-1])[path[-1]]


def moved(data: Any, path: tuple[Any, ...], dice: random.Random) -> None:
    other = dice.choice(list(places(data)))
    at(data, path[:-1])[path[-1]] = json.loads(json.dumps(at(data, other)))


CHANGES: list[Callable[[Any, tuple[Any, ...], random.Random], None]] = [renamed, replaced, removed, moved]


def loaded(path: Path) -> Project | None:
    """The project, or None for problems, each of them in words."""
    begin = time.process_time()
    try:
        found = load_checked([str(path)], None, now=NOW)
    except SpecError as error:
        found = None
        assert error.problems  # noqa: PT017  either end is right, a bad message is not
        for problem in error.problems:
            text = str(problem).removeprefix(str(path))
            assert re.match(r"(:\d+:\d+)?: .+", text, re.DOTALL), text
            assert not JARGON.search(problem.message), text
            assert len(text) < 20_000, len(text)
    assert time.process_time() - begin < LONGEST_SECONDS
    return found


def meaning(project: Project | None) -> Any:
    """All that a file says."""
    if project is None:
        return None
    calendars = [dict(each.specs) for each in project.calendars]
    return project.name, project.jobs, calendars, [dict(each.specs) for each in project.channels]


def check_structures(folder: Path, seeds: range) -> None:
    """Raises AssertionError with the seed of the first document of changed structure that is taken in the wrong way."""
    path = folder / "a.json"
    originals = [read_document(str(each)).data for each in GOOD]
    meanings: dict[int, Any] = {}
    for seed in seeds:
        dice = random.Random(seed)
        number = dice.randrange(len(GOOD))
        if number not in meanings:
            path.write_text(json.dumps(originals[number]))
            meanings[number] = meaning(loaded(path))
        data = json.loads(json.dumps(originals[number]))
        change, place = dice.choice(CHANGES), dice.choice(list(places(data)))
        change(data, place, dice)
        path.write_text(json.dumps(data))
        try:
            found = meaning(loaded(path))
            if change is renamed and place[0] != "environments" and data != originals[number]:
                assert found is None or found != meanings[number], "a key was passed over"
        except BaseException as error:
            raise AssertionError(
                f"seed {seed}: {change.__name__} of {place} in {GOOD[number].name}: {error}"
            ) from error


def check_texts(folder: Path, seeds: range) -> None:
    """Raises AssertionError with the seed of the first changed text that ends in anything but a project or an error in words."""
    texts = [each.read_text() for each in GOOD]
    for seed in seeds:
        dice = random.Random(~seed)
        number = dice.randrange(len(GOOD))
        text = texts[number]
        for _ in range(dice.randint(1, 3)):
            start, other = dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)
            end = min(len(text), start + dice.randint(0, 12))
            text = text[:start] + dice.choice([*PIECES, "", text[other : other + 12]]) + text[end:]
        path = folder / f"a{GOOD[number].suffix}"
        path.write_text(text, newline="")
        try:
            loaded(path)
        except BaseException as error:
            raise AssertionError(f"seed {~seed} in {GOOD[number].name}: {error}") from error


def bytes_used(check: Callable[[Path, range], None], folder: Path, seeds: range) -> int:
    """The most memory of a process that does nothing else, in bytes; `ru_maxrss` has that of the process that began it, too."""
    check(folder, seeds)
    [peak] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(peak) * 1024


@pytest.mark.parametrize("check", [check_structures, check_texts])
def test_a_changed_spec_is_taken_in_another_way_or_refused_in_words(
    tmp_path: Path, check: Callable[[Path, range], None]
) -> None:
    """In processes of their own, whose memory holds nothing of other tests."""
    each = SPECS // 2
    batches = [range(begin, min(begin + BATCH, each)) for begin in range(0, each, BATCH)]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as processes:
        for batch in batches:
            used = processes.submit(bytes_used, check, tmp_path, batch).result()
            assert used < MOST_BYTES, (batch, used)


HEAD = "version: 1\nproject: p\n"
STEPS = "    steps:\n" + "".join(f"      - {{name: s{n}, command: [a]}}\n" for n in range(2_000))
MERGED = "x-a: &a {" + ", ".join(f"k{n}: 1" for n in range(1_000)) + "}\n"
ALIASES = "x-0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"x-{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 8)}]\n" for n in range(9)
)


def one_job(argument: str = "a", schedule: str = '"@daily"', more: str = "") -> str:
    return HEAD + (
        f'jobs:\n  a: {{schedule: {schedule}, timezone: Europe/Berlin, timeout: 1s, run: {{command: ["{argument}"]}}{more}}}\n'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (one_job("{job}" * 128_000), "is a text of 640,000 characters; write 131,071 at most"),
        (one_job("{job}" * 26_000), None),
        (one_job("{" * 1_000_000), "is a text of 1,000,000 characters"),
        (one_job("{" * 131_071), "a single `{` has no partner"),
        (one_job("{a" * 65_000), "a single `{` has no partner"),
        (one_job("{" + " " * 131_000 + "}"), "has 131,000 characters within its braces; write at most 1,000"),
        (one_job("${secret:}" * 13_000), "is not a name of a secret"),
        (one_job("{x}" * 40_000), "is not a template here"),
        (one_job("x" * 7_000_000), "is a text of 7,000,000 characters"),
        (one_job('", "'.join(["x" * 100_000] * 11)), "bytes of input; write at most 1,000,000"),
        (one_job(schedule="{every: 1s}"), None),
        (one_job(more="".join(f", k{n}: 1" for n in range(50_000))), "unknown key"),
        (
            HEAD + f"jobs:\n  a:\n    schedule: '@daily'\n    timezone: UTC\n    timeout: 5m\n{STEPS}",
            "has 2,000 items; write 500 at most",
        ),
        (f"{HEAD}{MERGED}jobs: {{{', '.join(f'j{n}: {{<<: *a}}' for n in range(900))}}}\n", "300 problems and more"),
        (f"{HEAD}{ALIASES}jobs: {{}}\n", "holds more than 1,000,000 values"),
        (f"{HEAD}? {'k' * 2_000}\n: 1\njobs: {{}}\n", "is a key of 2,000 characters"),
    ],
    ids=range(16),
)
def test_hostile_text_is_told_soon(tmp_path: Path, text: str, said: str | None) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    begin = time.process_time()
    if said is None:
        load_checked([str(path)], None, now=NOW)
    else:
        with pytest.raises(SpecError, match=re.escape(said)):
            load_checked([str(path)], None, now=NOW)
    assert time.process_time() - begin < LONGEST_SECONDS


def test_the_good_specs_are_what_is_changed() -> None:
    assert len(GOOD) > 5
    assert yaml.safe_load(GOOD[0].read_text())
