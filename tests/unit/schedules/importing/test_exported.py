"""Schedules that Temporal has, as jobs of one project."""

from __future__ import annotations

from schedules.commands.export import without_shared_ids
from schedules.importing.formats.temporal import Exported


def exported(name: str, **direct: str) -> Exported:
    return Exported(name, {"run": {"workflow": {"type": "W", "direct": direct}}})


def test_of_two_schedules_with_one_workflow_id_the_second_is_left_out() -> None:
    found = without_shared_ids(
        [exported("a", id="users"), exported("b", id="users"), exported("c"), exported("d", id="c")]
    )

    assert [each.id for each in found if each.job is not None] == ["a", "c"]
    assert "as those of a" in found[1].lost[0]
    assert "as those of c" in found[3].lost[0]
