"""Where secrets come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from activities.errors import HandlerError
from activities.steps.secrets import SecretStore, refuse_secrets

if TYPE_CHECKING:
    from pathlib import Path


def refusal(store: SecretStore, name: str = "TOKEN") -> str:
    """The message of the permanent error."""
    with pytest.raises(HandlerError) as failure:
        store.resolve(name)
    assert failure.value.permanent
    return failure.value.message


def test_environment_comes_before_files(tmp_path: Path) -> None:
    (tmp_path / "TOKEN").write_text("from file")
    assert SecretStore({"TICKWRIGHT_SECRET_TOKEN": "from env"}, tmp_path).resolve("TOKEN") == "from env"
    assert SecretStore({}, tmp_path).resolve("TOKEN") == "from file"


@pytest.mark.parametrize(
    ("content", "value"),
    [(b"x\n", "x"), (b"x\r\n", "x"), (b"x\n\n", "x\n"), (b" x ", " x "), (b"x\r", "x\r"), (b"a\nb\n", "a\nb")],
)
def test_one_newline_at_the_end_of_a_file_is_stripped(tmp_path: Path, content: bytes, value: str) -> None:
    (tmp_path / "TOKEN").write_bytes(content)
    assert SecretStore({}, tmp_path).resolve("TOKEN") == value


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    store = SecretStore({}, tmp_path)
    (tmp_path / "TOKEN").write_text("old")
    assert store.resolve("TOKEN") == "old"
    (tmp_path / "TOKEN").write_text("new")
    assert store.resolve("TOKEN") == "new"


def test_unknown_secret_names_the_places_looked_at(tmp_path: Path) -> None:
    message = refusal(SecretStore({"TICKWRIGHT_SECRET_OTHER": "sesame"}, tmp_path))
    assert "the variable TICKWRIGHT_SECRET_TOKEN" in message
    assert f"the file {tmp_path / 'TOKEN'}" in message
    assert "sesame" not in message
    assert "file" not in refusal(SecretStore({}))


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"x" * 70_000])
def test_empty_binary_and_huge_files_are_refused_without_their_content(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "TOKEN").write_bytes(content)
    message = refusal(SecretStore({}, tmp_path))
    assert str(tmp_path) in message
    assert "xxx" not in message


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "TOKEN").mkdir()
    assert "cannot be read" in refusal(SecretStore({}, tmp_path))


def test_secrets_in_workflow_arguments_are_refused() -> None:
    found = refuse_secrets([{"a": "x ${secret:TOKEN}"}, "${{secret:FINE}}"])
    assert [problem.path for problem in found] == [(0, "a")]
    assert "`${secret:TOKEN}`" in found[0].message


def test_all_secrets_are_known_for_redaction_and_renewed_with_their_files(tmp_path: Path) -> None:
    (tmp_path / "DB").write_text("first-of-the-file\n")
    (tmp_path / "..data").mkdir()
    (tmp_path / "BROKEN").write_bytes(b"\xff" * 20)
    store = SecretStore(
        {"TICKWRIGHT_SECRET_A": "of-environment", "PATH": "no-secret"}, tmp_path, others=["api-key-4711"]
    )
    known = ("first-of-the-file", "of-environment", "api-key-4711")
    assert [value for value in known if value in store.forms()] == list(known)
    assert "no-secret" not in store.forms()
    assert store.forms() is store.forms()
    (tmp_path / "DB").write_text("the second one of the file\n")
    assert "the second one of the file" in store.forms()
    assert "first-of-the-file" not in store.forms()


def test_secrets_with_ordinary_values_are_named_without_their_values(tmp_path: Path) -> None:
    (tmp_path / "PIN").write_text("47\n")
    (tmp_path / "TOKEN").write_text("8c1f0e7b2a\n")
    values = {"DB_USER": "app", "STAGE": "Production", "KEY": "8c1f0e7b2b", "EMPTY": ""}
    environ = {f"TICKWRIGHT_SECRET_{name}": value for name, value in values.items()}
    assert SecretStore({**environ, "HOST": "x"}, tmp_path).ordinary() == ["DB_USER", "PIN", "STAGE"]
    assert SecretStore({}).ordinary() == []
