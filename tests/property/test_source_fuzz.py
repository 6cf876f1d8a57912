"""Whatever a file holds: a project comes out, or problems with places; never anything else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedules.lint.load import load_checked
from schedules.source.load import Project, SpecError

GOOD = [path.read_bytes() for path in sorted((Path(__file__).parents[1] / "specs" / "good").iterdir())]
LINES = sorted({line for text in GOOD for line in text.splitlines()})
PROBLEM = re.compile(r"\S+\.(yaml|json):\d+:\d+: .+; .+|--env: .+; .+", re.DOTALL)
JARGON = re.compile(
    r"pydantic|errors\.|Input should|validat|<class|Traceback|is not allowed here|mapping_type|NoneType"
)
BREAK = re.compile("[\n\r\x85\u2028\u2029]")  # what libyaml counts as the end of a line
PIECES = [
    b"*", b"&a ", b"*a", b"<<: ", b"!!", b"!!int ", b"- ", b"? ", b": ", b"{", b"}", b"[", b"]", b"'", b'"', b"\t",
    b"\n", b"|",
    b">", b"#", b"%", b"@", b"~", b"null", b"true", b"yes", b"-1", b"1e9", b".nan", b"0x1F", b"'", b"\\", b"\x00",
    b"\xff",
    b"\xef\xbb\xbf", "\u2028".encode(), b"---\n", b"...\n", b"default",
    b"{{", b"[[[[[[[[", b"run", b"name", b"json_body",
]  # fmt: skip
FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good spec with a few bytes cut out, put in, or taken from elsewhere in it."""
    data = draw(st.sampled_from(GOOD))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.integers(0, 12))
        other = draw(st.integers(0, len(data)))
        data = data[:start] + draw(st.sampled_from([*PIECES, b"", data[other : other + 12]])) + data[end:]
    return data


@st.composite
def shuffled(draw: st.DrawFn) -> bytes:
    """Lines of good specs in any order, so that keys come to stand where they do not belong."""
    lines = draw(st.lists(st.sampled_from(LINES), max_size=25))
    return b"version: 1\nproject: a\njobs:\n" + b"\n".join(lines)


def check(path: Path, data: bytes, environment: str | None) -> None:
    path.write_bytes(data)
    try:
        assert isinstance(load_checked([str(path)], environment), Project)
    except SpecError as error:
        assert error.problems  # noqa: PT017 - either end is right, a bad message is not
        for problem in error.problems:
            assert PROBLEM.match(str(problem)) or ".schedule" in problem.path, str(problem)
            assert not JARGON.search(problem.message), str(problem)
            assert problem.place.line <= len(BREAK.findall(data.decode("utf-8", "replace"))) + 2


@FEW
@given(data=st.binary(max_size=200), suffix=st.sampled_from([".yaml", ".json"]))
def test_any_bytes(tmp_path: Path, data: bytes, suffix: str) -> None:
    check(tmp_path / f"a{suffix}", data, None)


@FEW
@given(data=st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_text(tmp_path: Path, data: bytes) -> None:
    check(tmp_path / "a.yaml", data, None)


@FEW
@given(data=mutated(), environment=st.sampled_from([None, "production", "development"]))
def test_any_change_to_a_good_spec(tmp_path: Path, data: bytes, environment: str | None) -> None:
    check(tmp_path / "a.yaml", data, environment)


@FEW
@given(data=shuffled())
def test_any_order_of_lines(tmp_path: Path, data: bytes) -> None:
    check(tmp_path / "a.yaml", data, None)


@pytest.mark.parametrize("module", ["schedules.source.load", "schedules.spec.json_schema", "schedules.spec.reference"])
def test_loading_specs_starts_without_temporal_and_without_an_event_loop(module: str) -> None:
    code = f"import {module}, sys; sys.exit(str({{'temporalio', 'asyncio', 'aiohttp'}} & sys.modules.keys() or ''))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.strip()) in {(0, ""), (1, "")}
