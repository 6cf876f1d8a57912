"""A sync that may not see all that was meant deletes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.processes import run_command
from tests.servers import DevServer


@pytest.mark.parametrize("becomes", ["a link that leads nowhere", "a link to itself", "b.YAML"])
async def test_a_spec_that_cannot_be_read_any_more_keeps_its_schedules(
    tmp_path: Path, server: DevServer, client: Client, name: str, becomes: str
) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    head = f"version: 1\nproject: {name}\ndefaults: {{timezone: UTC, timeout: 5m}}\njobs:\n"
    for each in ("a", "b"):
        job = f"  {name}-{each}: {{schedule: '@daily', run: {{command: ['true']}}}}\n"
        (folder / f"{each}.yaml").write_text(head + job)
    assert (await run_command("schedules", "sync", folder, env=server.environ)).code == 0

    second = folder / "b.yaml"
    if becomes == "b.YAML":
        second.rename(folder / "b.YAML")
    else:
        second.unlink()
        second.symlink_to("b.yaml" if becomes == "a link to itself" else "nowhere")
    answer = await run_command("schedules", "sync", folder, env=server.environ)

    assert (answer.code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"{folder}/b."), answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert await client.get_schedule_handle(f"{name}-b").describe()


async def test_a_path_of_a_variable_that_is_not_set_applies_nothing_of_the_current_folder(
    tmp_path: Path, server: DevServer
) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\nproject: shop\njobs: {}\n")

    answer = await run_command("schedules", "sync", "", env=server.environ, cwd=tmp_path)

    assert answer.code == 2
    assert answer.stderr.startswith('PATH: is "", perhaps a variable that is not set')
