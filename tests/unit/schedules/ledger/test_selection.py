"""Which jobs the options of a command that reads mean."""

from __future__ import annotations

import argparse

import pytest

from schedules.commands.options.selection import selected, selection_options
from schedules.errors import SettingsError


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    selection_options(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--label", "team=a"], "--label: labels are in the spec files; write their PATH, too"),
        (["--env", "prod"], "--env: environments are in the spec files; write their PATH, too"),
        (["--env", ""], "--env: environments are in the spec files; write their PATH, too"),
        (["--owner", "billing/prod", "--env", "prod"], "or leave it out, because --owner names the environment"),
    ],
)
def test_what_only_spec_files_tell_needs_their_path(words: list[str], said: str) -> None:
    with pytest.raises(SettingsError) as told:
        selected(options(*words))
    assert said in str(told.value)


def test_without_paths_an_owner_and_a_glob_are_enough() -> None:
    meant = selected(options("--owner", "billing/production", "--job", "billing-*"))
    assert (meant.owner, meant.glob, meant.jobs) == ("billing/production", "billing-*", None)
