"""Every way in which a sync may see fewer jobs than were meant: what would delete their schedules is an error, or is told."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schedules.source import document, load
from schedules.source.files import MOST_ENTRIES
from schedules.source.load import SpecError, load_project
from tests.unit.spec_text import job_text, spec_text

A, B = spec_text(job_text("a")), spec_text(job_text("b"))


@pytest.fixture(autouse=True)
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds one good spec, below the current one."""
    monkeypatch.chdir(tmp_path)
    folder = Path("specs")
    folder.mkdir()
    (folder / "a.yaml").write_text(A)
    return folder


def problems(*paths: str, environment: str | None = None) -> str:
    with pytest.raises(SpecError) as caught:
        load_project(paths, environment)
    return str(caught.value)


def dangling(path: Path) -> None:
    path.symlink_to("nowhere.yaml")


def to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def to_each_other(path: Path) -> None:
    path.symlink_to("other.yaml")
    path.with_name("other.yaml").symlink_to(path.name)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def a_folder(path: Path) -> None:
    """What a container's mount makes of a file that is not there."""
    path.mkdir()


UNUSABLE: list[tuple[Callable[[Path], None], str]] = [
    (dangling, "specs/b.yaml: is a link that leads nowhere (No such file or directory); mend it, or remove it"),
    (
        to_itself,
        "specs/b.yaml: is a link that leads nowhere (Too many levels of symbolic links); mend it, or remove it",
    ),
    (to_each_other, "specs/other.yaml: is a link that leads nowhere (Too many levels of symbolic links); mend it"),
    (os.mkfifo, "specs/b.yaml: is no file that can be read as a spec (a pipe, a socket or a device); remove it"),
    (bound_socket, "specs/b.yaml: is no file that can be read as a spec (a pipe, a socket or a device); remove it"),
    (a_folder, "specs/b.yaml: is an empty folder; if specs belong here, mount the volume"),
]


@pytest.mark.parametrize(("make", "said"), UNUSABLE, ids=lambda value: getattr(value, "__name__", ""))
def test_what_has_the_name_of_a_spec_and_cannot_be_read_is_an_error(
    specs: Path, make: Callable[[Path], None], said: str
) -> None:
    make(specs / "b.yaml")

    assert said in problems("specs")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("b.YAML", "b.yaml"),
        ("b.Yml", "b.yml"),
        ("b.JSON", "b.json"),
        ("b.ymal", "b.yml"),
        ("b.yaml ", "b.yaml"),
        ("b.yaml~", "b.yaml"),
        ("b.yaml~HEAD", "b.yaml"),
        ("#b.yaml#", "b.yaml"),
        ("b.yaml.tmp", "b.yaml"),
        ("b.yml.orig", "b.yml"),
        ("b.yaml.txt", "b.yaml"),
        ("b.json5", "b.json"),
    ],
)
def test_what_a_person_would_take_for_a_spec_is_an_error(specs: Path, name: str, meant: str) -> None:
    (specs / name).write_text(B)

    said = f"specs/{name}: looks like a spec file and is not read, by its name; call it {meant}, or put it elsewhere"
    assert problems("specs") == said


@pytest.mark.parametrize("name", ["a.yaml~", "a.yaml.orig", "a.yaml~HEAD", "#a.yaml#", "a.yaml.1", "a.jsonc"])
def test_a_copy_beside_its_original_is_left_out(specs: Path, name: str) -> None:
    (specs / name).write_text(A)

    assert load_project(["specs"]).left_out == (f"specs/{name}",)


@pytest.mark.parametrize(
    "name", ["README.md", "b.yaml.disabled", "jobs.yaml.j2", "rows.jsonl", "yaml", "jobs.py", "a.toml"]
)
def test_what_is_meant_to_be_something_else_is_listed_as_left_out(specs: Path, name: str) -> None:
    (specs / name).write_text("anything")

    assert load_project(["specs"]).left_out == (f"specs/{name}",)


def test_what_is_hidden_is_meant_to_be_so(specs: Path) -> None:
    (specs / ".b.yaml").write_text("[")
    (specs / ".#a.yaml").symlink_to("somebody@host:1")

    assert load_project(["specs"]).left_out == ()


@pytest.mark.parametrize("name", ["team-b", "LINK.md"])
def test_a_link_that_leads_nowhere_might_be_a_folder_of_specs(specs: Path, name: str) -> None:
    dangling(specs / name)

    assert problems("specs") == (
        f"specs/{name}: is a link that leads nowhere (No such file or directory); mend it, or remove it"
    )


@pytest.mark.parametrize("hidden", [[], ["..data"], ["lost+found"]])
def test_an_empty_folder_might_be_a_mount_without_its_volume_or_a_submodule(specs: Path, hidden: list[str]) -> None:
    for name in hidden:
        (specs / "team-b" / name).mkdir(parents=True)
    (specs / "team-b").mkdir(exist_ok=True)

    assert problems("specs") == (
        "specs/team-b: is an empty folder; if specs belong here, mount the volume or check out the submodule, else remove "
        "the folder"
    )


def test_a_folder_that_is_meant_to_be_without_specs_is_none_of_these(specs: Path) -> None:
    (specs / "team-b").mkdir()
    (specs / "team-b" / ".gitkeep").touch()

    assert [job.name for job in load_project(["specs"]).jobs] == ["a"]


def test_a_folder_that_cannot_be_listed_is_an_error(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (specs / "team-b").mkdir()

    def refuses(folder: Path) -> list[str]:
        if folder.name == "team-b":
            raise PermissionError(13, "Permission denied")
        return listdir(folder)

    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", refuses)

    assert problems("specs") == "specs/team-b: cannot be read: Permission denied"


def test_folders_nested_a_thousand_deep_are_walked(specs: Path) -> None:
    deep = specs
    for _ in range(1_100):
        deep /= "d"
        deep.mkdir()
    (deep / "b.yaml").write_text(B)
    try:
        assert [job.name for job in load_project(["specs"]).jobs] == ["a", "b"]
    finally:
        while deep != specs:  # shutil would recurse
            for file in deep.iterdir():
                file.unlink()
            deep.rmdir()
            deep = deep.parent


def test_a_folder_that_nobody_means_is_said_early(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", lambda folder: [f"{number}.txt" for number in range(MOST_ENTRIES + 1)])

    assert problems("specs") == "specs: makes more than 100,000 files; write the folder of your specs alone"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "specs/b.yaml:1:1: holds no spec"),
        ("# to be written\n", "specs/b.yaml:1:1: holds no spec"),
        ("---\n", "specs/b.yaml:2:1: is not a spec"),
        ("../shared/b.yaml", "specs/b.yaml:1:1: is not a spec"),  # git's link, checked out where there are none
        ("version: 1\nproject: shop\njobs:\n", "specs/b.yaml:3:1: jobs: must be a mapping, not nothing"),
        ("version: 1\nproject: shop\n", "specs/b.yaml:1:1: jobs: is missing"),
        ("version: 1\nproject: shop\njobs: {b: }\n", "specs/b.yaml:3:8: jobs.b: must be a mapping, not nothing"),
        (f"{B}---\n{A}", "specs/b.yaml:6:1: holds a second document"),
        (f"{B}...\n{A}", "specs/b.yaml:6:1: "),
        (f"{B}\0{A}", "specs/b.yaml:5:1: a control character cannot stand in a spec file"),
        (f"<<<<<<< HEAD\n{B}=======\n{A}>>>>>>> other\n", "specs/b.yaml:1:1: holds a conflict of a merge (`<<<<<<<`)"),
        (
            f'{B}  c:\n    description: "\n<<<<<<< HEAD\n=======\n>>>>>>> other\n"\n',
            "specs/b.yaml:7:1: holds a conflict of a merge (`<<<<<<<`); finish the merge",
        ),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", "specs/b.yaml:1:1: is not a spec"),
    ],
)
def test_a_spec_file_that_says_less_than_a_spec_is_an_error(specs: Path, text: str, said: str) -> None:
    (specs / "b.yaml").write_text(text)

    assert problems("specs").startswith(said)


def test_no_jobs_at_all_can_be_meant() -> None:
    Path("none.yaml").write_text("version: 1\nproject: shop\njobs: {}\n")

    assert load_project(["none.yaml"]).jobs == ()


def test_a_path_of_a_variable_that_is_not_set_is_an_error() -> None:
    said = 'PATH: is "", perhaps a variable that is not set; write the path of your specs'

    assert problems("") == said
    assert problems("specs", "") == said


def test_an_environment_of_a_variable_that_is_not_set_is_an_error() -> None:
    assert problems("specs", environment="") == "--env: no file defines the environment ``; there are no environments"


@pytest.mark.parametrize("path", ["specs/*.yml", "teams/[ab].yaml", "job?.yaml"])
def test_a_pattern_that_matched_nothing_is_an_error(path: str) -> None:
    said = "there is no such file or directory; write the path of your specs, or of their folder, without a pattern"

    assert problems("specs", path) == f"{path}: {said}"


@pytest.mark.parametrize("path", ["a" * 5_000, "a" * 5_000 + ":jobs", "specs/a.yaml/b.yaml"])
def test_a_path_that_cannot_be_is_an_error(path: str) -> None:
    assert problems(path).startswith(f"{path}: ")


@pytest.mark.parametrize("made", ["to_itself", "to_each_other"])
def test_a_path_that_is_a_circle_of_links_is_an_error(made: str, specs: Path) -> None:
    getattr(sys.modules[__name__], made)(specs / "b.yaml")

    assert problems("specs/b.yaml") == "specs/b.yaml: cannot be read: Too many levels of symbolic links"


def test_a_volume_that_is_replaced_while_it_is_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Kubernetes renews a ConfigMap: `b` moves from one file to the other, and is in neither for who reads across that."""
    volume = Path("volume")
    for version, texts in {"..1": (A, A + job_text("b")), "..2": (A.replace("a:", "b:"), A)}.items():
        (volume / version).mkdir(parents=True)
        for name, text in zip(("one.yaml", "two.yaml"), texts, strict=True):
            (volume / version / name).write_text(
                text.replace("jobs:\n  a", f"jobs:\n  {name[:3]}") if version == "..1" else text
            )
    (volume / "..data").symlink_to("..1")
    for name in ("one.yaml", "two.yaml"):
        (volume / name).symlink_to(f"..data/{name}")
    read = document.read_document
    reads: list[str] = []

    def read_and_replace(file: str) -> object:
        found = read(file)
        if not reads:
            (volume / "..new").symlink_to("..2")
            (volume / "..new").rename(volume / "..data")
        reads.append(file)
        return found

    monkeypatch.setattr(load, "read_document", read_and_replace)

    assert sorted(job.name for job in load_project(["volume"]).jobs) == ["a", "b"]
    assert len(reads) == 4


def test_files_that_never_rest_are_an_error(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = document.read_document
    writes = iter(range(1, 100))

    def read_and_write(file: str) -> object:
        found = read(file)
        (specs / "a.yaml").write_text(A + "\n" * next(writes))
        return found

    monkeypatch.setattr(load, "read_document", read_and_write)

    assert problems("specs") == "specs: was changed while it was read; try again when it is at rest"
