"""Which files a call reads, and what they must agree on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from schedules.source.load import SpecError, load_project
from tests.unit.spec_text import job_text, spec_text

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes spec files below an empty directory, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def writes(**files: str) -> None:
        for name, text in files.items():
            path = Path(name.replace("__", "/").replace("_dot_", "."))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return writes


def names(*paths: str, environment: str | None = None) -> list[str]:
    return [job.name for job in load_project(paths, environment).jobs]


def problems(*paths: str, environment: str | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_project(paths, environment)
    return str(caught.value).split("\n")


def test_a_directory_gives_all_its_spec_files_in_the_order_of_their_names(write: Write) -> None:
    write(
        specs__b_dot_yml=spec_text(job_text("b")),
        specs__a__z_dot_json='{"version": 1, "project": "shop", "jobs": {}}',
        specs__a__deep__c_dot_yaml=spec_text(job_text("c")),
        specs__README_dot_md="# not a spec",
    )

    assert names("specs") == ["c", "b"]


def test_hidden_files_and_directories_do_not_count(write: Write) -> None:
    write(
        specs__a_dot_yaml=spec_text(job_text("a")),
        specs___dot_b_dot_yaml="broken: [",
        specs___dot_git__c_dot_yaml="broken: [",
    )

    assert names("specs") == ["a"]


def test_several_paths_make_one_project(write: Write) -> None:
    write(one_dot_yaml=spec_text(job_text("b")), two__a_dot_yaml=spec_text(job_text("a")))

    assert names("one.yaml", "two") == ["b", "a"]


def test_a_file_that_two_paths_reach_is_read_once(write: Write) -> None:
    write(specs__a_dot_yaml=spec_text(job_text("a")))

    assert names("specs/a.yaml", "specs", "./specs") == ["a"]


def test_a_file_given_by_name_may_have_any_suffix(write: Write) -> None:
    write(jobs_dot_conf=spec_text(job_text("a")))

    assert names("jobs.conf") == ["a"]


def test_links_are_followed_and_a_circle_of_them_ends(write: Write, tmp_path: Path) -> None:
    write(data__a_dot_yaml=spec_text(job_text("a")), specs__keep="")
    (tmp_path / "specs" / "linked").symlink_to(tmp_path / "data")
    for name in ("back", "back-again", "and-again"):
        (tmp_path / "data" / name).symlink_to(tmp_path / "specs")

    assert names("specs") == ["a"]


@pytest.mark.usefixtures("write")
def test_a_path_that_is_not_there_is_told() -> None:
    assert problems("specs") == ["specs: there is no such file or directory; write the path of your specs"]


def test_a_directory_without_specs_is_told(write: Write) -> None:
    write(specs__README_dot_md="")

    assert problems("specs") == ["specs: holds no .yaml, .yml or .json file; write the path of your specs"]


def test_no_path_at_all_is_told() -> None:
    assert problems() == ["PATH: project: nothing says which project this is; write the path of your specs"]


@pytest.mark.usefixtures("write")
def test_a_pipe_is_told_and_not_waited_for() -> None:
    os.mkfifo("pipe.yaml")

    assert problems("pipe.yaml") == ["pipe.yaml: is neither a file nor a directory; write the path of your specs"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_told(write: Write) -> None:
    write(a_dot_yaml=spec_text())
    Path("a.yaml").chmod(0)

    assert problems("a.yaml") == ["a.yaml: cannot be read: Permission denied"]


def test_a_file_above_eight_megabytes_is_told_and_not_read(write: Write) -> None:
    write(a_dot_yaml=spec_text() + "#" * 8_000_000)

    assert problems("a.yaml") == ["a.yaml: is larger than 8 MB; split it into several files"]


def test_a_byte_order_mark_does_not_matter(write: Write) -> None:
    write(
        a_dot_yaml="\ufeff" + spec_text(job_text("a")), b_dot_json='\ufeff{"version": 1, "project": "shop", "jobs": {}}'
    )

    assert names("a.yaml", "b.json") == ["a"]


def test_carriage_returns_do_not_matter(write: Write) -> None:
    write(a_dot_yaml=spec_text(job_text("a")).replace("\n", "\r\n"))

    assert names("a.yaml") == ["a"]


def test_nothing_in_one_file_acts_on_another(write: Write) -> None:
    short = '  b: {schedule: "@daily", timeout: 5m, run: {command: [a]}}\n'
    write(a_dot_yaml=spec_text(job_text("a"), before="defaults: {timezone: UTC}\n"), b_dot_yaml=spec_text(short))

    assert problems("a.yaml", "b.yaml") == [
        (
            "b.yaml:4:3: jobs.b.timezone: is missing; "
            'write for example `timezone: "Europe/Berlin"` here or under `defaults`'
        )
    ]


def test_an_environment_that_one_file_defines_is_known_to_all(write: Write) -> None:
    write(
        a_dot_yaml=spec_text(job_text("a"), before="environments: {production: }\n"),
        b_dot_yaml=spec_text(job_text("b")),
    )

    project = load_project(["a.yaml", "b.yaml"], "production")

    assert (project.owner, [job.name for job in project.jobs]) == ("shop/production", ["a", "b"])


def test_the_environment_default_is_the_one_without_a_name(write: Write) -> None:
    write(a_dot_yaml=spec_text())

    assert load_project(["a.yaml"], "default") == load_project(["a.yaml"])


@pytest.mark.parametrize(
    ("environment", "advice"),
    [("prodution", "did you mean `production`?"), ("qa", "known environments: production, staging")],
)
def test_an_environment_that_no_file_defines_is_told(write: Write, environment: str, advice: str) -> None:
    write(a_dot_yaml=spec_text(before="environments: {staging: , production: }\n"))

    assert problems("a.yaml", environment=environment) == [
        f"--env: no file defines the environment `{environment}`; {advice}"
    ]


def test_an_environment_may_be_in_the_file_that_could_not_be_read(write: Write) -> None:
    write(a_dot_yaml=spec_text(), b_dot_yaml="[")

    assert [line.partition(": ")[0] for line in problems("a.yaml", "b.yaml", environment="qa")] == ["b.yaml:2:1"]


def test_problems_of_all_files_come_in_one_go_by_file_and_place(write: Write) -> None:
    write(
        b_dot_yaml=spec_text(job_text("x", ", jitter: 5") + job_text("y", ", paused: no")),
        a_dot_yaml=spec_text(job_text("z", ", deadline: 5"), before="rooms: {}\n"),
    )

    assert [line.partition(": ")[0] for line in problems("b.yaml", "nowhere", "a.yaml")] == [
        "b.yaml:4:84",
        "b.yaml:5:84",
        "nowhere",
        "a.yaml:3:1",
        "a.yaml:5:86",
    ]


def test_problems_of_one_file_come_in_the_order_of_its_lines(write: Write) -> None:
    write(a_dot_yaml=f"jobs:\n{job_text('a', ', jitter: 5')}project: 7\nrooms: {{}}\nversion: 2\n")

    assert [line.partition(": ")[0] for line in problems("a.yaml", environment="qa")] == [
        "--env",
        "a.yaml:2:84",
        "a.yaml:3:10",
        "a.yaml:4:1",
        "a.yaml:5:10",
    ]


def test_a_fault_in_the_defaults_is_told_once_however_many_jobs_have_it(write: Write) -> None:
    jobs = "".join(f'  job-{n}: {{schedule: "@daily", timezone: UTC, run: {{command: [a]}}}}\n' for n in range(50))
    write(a_dot_yaml=spec_text(jobs, before="defaults: {timeout: 5}\n"))

    assert problems("a.yaml") == [
        'a.yaml:3:21: defaults.timeout: 5 has no unit; write "5s" for seconds or "5m" for minutes'
    ]


def test_a_fault_brought_by_an_alias_is_told_where_it_is_written(write: Write) -> None:
    first = "  a: &a\n    schedule: '@daily'\n    timezone: UTC\n    timeout: 5\n    run: {command: [a]}\n"
    jobs = f"{first}  b:\n    <<: *a\n"
    write(a_dot_yaml=spec_text(jobs))

    assert problems("a.yaml") == [
        'a.yaml:7:14: jobs.a.timeout: 5 has no unit; write "5s" for seconds or "5m" for minutes',
        'a.yaml:7:14: jobs.b.timeout: 5 has no unit; write "5s" for seconds or "5m" for minutes',
    ]


def test_a_name_of_the_longest_kind_is_fine(write: Write) -> None:
    write(a_dot_yaml=spec_text(job_text("j" * 200), project="p" * 100, before=f"environments: {{{'e' * 100}: }}\n"))

    assert load_project(["a.yaml"], "e" * 100).owner == f"{'p' * 100}/{'e' * 100}"


def test_a_project_or_environment_name_has_at_most_a_hundred_characters(write: Write) -> None:
    write(a_dot_yaml=spec_text(project="p" * 101, before=f"environments: {{{'e' * 101}: }}\n"))

    assert problems("a.yaml") == [
        "a.yaml:2:10: project: a name of 101 characters is too long; write 100 at most",
        f"a.yaml:3:16: environments.{'e' * 101}: a name of 101 characters is too long; write 100 at most",
    ]
