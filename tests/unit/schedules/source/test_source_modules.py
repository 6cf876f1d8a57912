"""Jobs written in Python: `package.module:attribute` as a path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedules.errors import Location
from schedules.source.load import SpecError, load_project
from tests.unit.spec_text import job_text, spec_text

JOBS = """\
from datetime import timedelta

from schedules.project import JobSet
from schedules.spec import CommandSpec, CronEntry, JobSpec, RunSpec


def report(name: str) -> JobSpec:
    return JobSpec(
        name=name,
        schedule=(CronEntry(cron="@daily"),),
        timezone="UTC",
        timeout=timedelta(minutes=5),
        run=RunSpec(command=CommandSpec(argv=("./report.sh", name))),
    )


JOBS = [report(f"report-{region}") for region in ("eu", "us")]
ALL: JobSet = JobSet("shop", JOBS, environments=["production"])
TWICE = [report("same"), "a string", report("same")]
NUMBER = 42
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Writes `region_jobs.py` into an empty current directory; forgets it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(text: str) -> None:
        (tmp_path / "region_jobs.py").write_text(text, encoding="utf-8")

    yield write
    sys.modules.pop("region_jobs", None)


Module = Callable[[str], None]


def problems(*paths: str, environment: str | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_project(paths, environment)
    return str(caught.value).split("\n")


def test_a_job_set_is_a_whole_project(module: Module) -> None:
    module(JOBS)

    project = load_project(["region_jobs:ALL"], "production")

    assert project.owner == "shop/production"
    assert [job.name for job in project.jobs] == ["report-eu", "report-us"]
    assert project.sources["report-us"] == Location("region_jobs.py", 18, 1)


def test_a_list_joins_the_project_of_another_path(module: Module) -> None:
    module(JOBS)
    Path("a.yaml").write_text(spec_text(job_text("a")), encoding="utf-8")

    project = load_project(["region_jobs:JOBS", "a.yaml"])

    assert (project.owner, [job.name for job in project.jobs]) == ("shop/default", ["report-eu", "report-us", "a"])


def test_a_list_alone_has_no_project(module: Module) -> None:
    module(JOBS)

    assert problems("region_jobs:JOBS") == [
        (
            "region_jobs.py: project: nothing says which project this is; add a PATH with a spec file, "
            "or make the list a JobSet"
        )
    ]


def test_the_same_job_in_a_module_and_a_file_is_told_with_both_places(module: Module) -> None:
    module(JOBS)
    Path("a.yaml").write_text(spec_text(job_text("report-eu")), encoding="utf-8")

    assert problems("region_jobs:JOBS", "a.yaml") == [
        "a.yaml:4:3: jobs.report-eu: stands in region_jobs.py:17:1 already; give one of the two jobs another name"
    ]


def test_an_environment_that_the_set_does_not_name_is_told(module: Module) -> None:
    module(JOBS)

    assert problems("region_jobs:ALL", environment="qa") == [
        "--env: no file defines the environment `qa`; known environments: production"
    ]


def test_what_is_no_job_and_what_stands_twice_is_told(module: Module) -> None:
    module(JOBS)
    Path("a.yaml").write_text(spec_text(job_text("a")), encoding="utf-8")

    assert problems("a.yaml", "region_jobs:TWICE") == [
        'region_jobs.py:19:1: TWICE[1]: is "a string", not a JobSpec; write JobSpec(name=…, schedule=…, …)',
        "region_jobs.py:19:1: jobs.same: stands 2 times in `TWICE`; give each job a name of its own",
    ]


def test_an_attribute_of_another_kind_is_told(module: Module) -> None:
    module(JOBS)

    assert problems("region_jobs:NUMBER") == [
        "region_jobs.py:20:1: NUMBER: is int; write a list of JobSpec, or a JobSet with project and jobs"
    ]


def test_a_misspelt_attribute_is_told_with_the_one_meant(module: Module) -> None:
    module(JOBS)

    assert problems("region_jobs:JOBZ") == ["region_jobs.py:1:1: region_jobs has no `JOBZ`; did you mean `JOBS`?"]


def test_a_module_that_is_not_there_is_told(module: Module) -> None:
    module(JOBS)

    assert problems("no_such_module_here:JOBS") == [
        (
            "no_such_module_here:JOBS: cannot be imported: ModuleNotFoundError: No module named 'no_such_module_here'; "
            "write the path of a module that imports"
        )
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "import json\n\njson.loads('[')\n",
            "3:1: cannot be imported: JSONDecodeError: Expecting value: line 1 column 2 (char 1)",
        ),
        (
            "def f():\n    return 1 / 0\n\n\nJOBS = f()\n",
            "2:1: cannot be imported: ZeroDivisionError: division by zero",
        ),
        ("JOBS = [\n", "1:8: cannot be imported: SyntaxError: '[' was never closed"),
        ("raise SystemExit(3)\n", "1:1: cannot be imported: SystemExit: 3"),
        (
            "import no_such_module_here\n",
            "1:1: cannot be imported: ModuleNotFoundError: No module named 'no_such_module_here'",
        ),
        ("raise ValueError('one\\ntwo')\n", "1:1: cannot be imported: ValueError: one"),
    ],
)
def test_what_a_module_raises_is_told_at_its_own_line(module: Module, text: str, told: str) -> None:
    module(text)

    assert problems("region_jobs:JOBS") == [f"region_jobs.py:{told}; write the path of a module that imports"]


def test_what_an_installed_library_raises_is_told_at_the_line_that_called_it(module: Module, tmp_path: Path) -> None:
    installed = tmp_path / "venv" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "broken_library.py").write_text("def f():\n\n\n    return 1 / 0\n", encoding="utf-8")
    module(f"import sys\n\nsys.path.append({str(installed)!r})\nimport broken_library\n\nbroken_library.f()\n")

    assert problems("region_jobs:JOBS") == [
        (
            "region_jobs.py:6:1: cannot be imported: ZeroDivisionError: division by zero; "
            "write the path of a module that imports"
        )
    ]


def test_a_fault_in_a_job_spec_is_told_in_the_same_words_as_in_a_file(module: Module) -> None:
    module(JOBS.replace('"UTC"', '"Europe/Berln"').replace("timedelta(minutes=5)", "30"))

    assert problems("region_jobs:JOBS") == [
        'region_jobs.py:8:1: JobSpec.timezone: "Europe/Berln" is not a time zone; did you mean `Europe/Berlin`?',
        'region_jobs.py:8:1: JobSpec.timeout: 30 has no unit; write "30s" for seconds or "30m" for minutes',
    ]


def test_a_fault_in_a_part_of_a_job_is_told_alike(module: Module) -> None:
    module(JOBS.replace("@daily", "60 * * * *"))

    assert problems("region_jobs:JOBS") == [
        "region_jobs.py:10:1: CronEntry.cron: minute: 60 is out of range; allowed: 0-59; did you mean 0?"
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{1, 2}", "Object of type set is not JSON serializable"),
        ("float('inf')", "Out of range float values are not JSON compliant"),
    ],
)
def test_what_json_cannot_carry_is_told(module: Module, value: str, reason: str) -> None:
    module(
        "from schedules.project import JobSet\nfrom schedules.spec import JobSpec\n\n"
        f"RUN = {{'python': {{'handler': 'a', 'params': {{'a': {value}}}}}}}\n"
        "JOBS = [JobSpec(name='a', schedule='@daily', timezone='UTC', timeout='5m', run=RUN)]\n"
        "ALL = JobSet('shop', JOBS)\n"
    )

    (problem,) = problems("region_jobs:ALL")
    assert problem.startswith(f"region_jobs.py:6:1: jobs.a.run: {reason}")
    assert problem.endswith("; write text, numbers, true, false, null, lists and mappings only")


STEPS = """\
from datetime import timedelta

from schedules.project import JobSet
from schedules.spec import CommandSpec, CompensateSpec, CronEntry, JobSpec, PythonSpec, StepSpec

UNDO = CompensateSpec(command=CommandSpec(argv=("./undo.sh",)), timeout=timedelta(minutes=1))
STEPS = (
    StepSpec(name="export", command=CommandSpec(argv=("./export.sh",)), timeout=timedelta(hours=1), compensate=UNDO),
    StepSpec(name="post", python=PythonSpec(handler="post", params=PARAMS), needs=NEEDS),
)
JOBS = [JobSpec(name="a", schedule=(CronEntry(cron="@daily"),), timezone="UTC", timeout="5m", steps=STEPS)]
ALL = JobSet("shop", JOBS)
"""


def test_steps_may_be_written_in_python(module: Module) -> None:
    module(f"NEEDS = ('export',)\nPARAMS = {{'a': 1}}\n{STEPS}")

    (job,) = load_project(["region_jobs:ALL"]).jobs

    assert [(step.name, step.needs, step.compensate is not None) for step in job.steps] == [
        ("export", None, True),
        ("post", ("export",), False),
    ]


def test_faults_of_steps_written_in_python_are_told(module: Module) -> None:
    module(f"NEEDS = ('exprot', 'post')\nPARAMS = {{'a': {{1}}}}\n{STEPS}")

    unknown, itself, no_json = sorted(problems("region_jobs:ALL"), reverse=True, key=lambda text: "needs" in text)

    at = "region_jobs.py:14:1: jobs.a.steps"
    assert unknown == f"{at}[1].needs[0]: there is no step `exprot`; did you mean `export`?"
    assert itself == f"{at}[1].needs[1]: a step cannot wait for itself; remove it"
    assert no_json.startswith(f"{at}: Object of type set is not JSON serializable")


def test_a_file_whose_name_looks_like_a_module_is_a_file(module: Module) -> None:
    module(JOBS)
    Path("region_jobs:ALL").write_text(spec_text(job_text("a")), encoding="utf-8")

    assert [job.name for job in load_project(["region_jobs:ALL"]).jobs] == ["a"]


def test_bad_names_in_a_job_set_are_told(module: Module) -> None:
    module(JOBS + "BAD = JobSet('my shop', JOBS, environments=['on call', 'default'])\n")

    name = "write letters, digits, `.`, `_` and `-`, with a letter or a digit first"
    assert problems("region_jobs:BAD") == [
        f'region_jobs.py:21:1: BAD.project: "my shop" is not a name; {name}',
        f'region_jobs.py:21:1: BAD.environments[0]: "on call" is not a name; {name}',
        (
            "region_jobs.py:21:1: BAD.environments[1]: `default` is what applies without --env; "
            "put its values under `defaults` and into the jobs"
        ),
    ]
