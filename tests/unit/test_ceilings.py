"""What `make check` says of a folder, a file or a function that has grown too large."""

from __future__ import annotations

from pathlib import Path

from tests.ceilings import EXCEPTIONS, FILES, FUNCTION_LINES, LINES, breaches


def test_each_ceiling_is_noticed_one_above_it(tmp_path: Path) -> None:
    folder = tmp_path / "p" / "full"
    folder.mkdir(parents=True)
    for number in range(FILES + 1):
        (folder / f"m{number}.py").write_text("")
    long = "def long() -> None:\n" + "    pass\n" * FUNCTION_LINES
    (tmp_path / "p" / "file.py").write_text(long + "\n" * (LINES - FUNCTION_LINES))

    assert dict(breaches(tmp_path, ("p",))) == {
        "p/full": f"{FILES + 1} files; at most {FILES}",
        "p/file.py": f"{LINES + 1} lines; at most {LINES}",
        "p/file.py:long": f"{FUNCTION_LINES + 1} lines; at most {FUNCTION_LINES}",
    }


def test_what_is_within_its_ceiling_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    for number in range(FILES):
        (tmp_path / "p" / f"m{number}.py").write_text("def short() -> None:\n" + "    pass\n" * (FUNCTION_LINES - 1))
    assert dict(breaches(tmp_path, ("p",))) == {}


def test_every_exception_has_a_reason() -> None:
    assert all(EXCEPTIONS.values())
