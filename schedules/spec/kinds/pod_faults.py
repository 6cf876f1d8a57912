"""What is wrong with a pod template, as far as it shows without a cluster; the rest a dry run before the sync says. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from activities.errors import Problem
from schedules.spec.kinds.container import said_in_shells
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]
_KEYS = ("apiVersion", "kind", "metadata", "spec")
_LISTS = ("initContainers", "containers")


def pod_faults(template: Mapping[str, Any], namespace: str) -> Iterator[Problem]:
    """Each with its path within the template."""
    kind, spec = template.get("kind", "Pod"), template.get("spec")
    if kind not in {"Pod", "PodTemplate"}:
        advice = "write the pod template in it, which has `metadata` and `spec` with `containers`"
        yield Problem(("kind",), f"is {shown(kind)}, and no Pod; {advice}")
        return
    for key in template:
        if key not in _KEYS:
            yield Problem((key,), "is no key of a pod template; write `metadata` and `spec`")
    if not isinstance(spec, dict) or not spec.get("containers"):
        yield Problem(("spec",), "has no `containers`; write at least one, with `name` and `image`")
        return
    if spec.get("restartPolicy", "Never") != "Never":
        advice = "remove it: the `retry` of the step starts it again"
        yield Problem(("spec", "restartPolicy"), f"is {shown(spec['restartPolicy'])}; {advice}")
    meta = template.get("metadata")
    if isinstance(meta, dict) and meta.get("namespace", namespace) != namespace:
        yield Problem(("metadata", "namespace"), f"is not the `namespace` of the step, {shown(namespace)}; remove it")
    for key in _LISTS:
        yield from _container_faults(spec.get(key) or [], ("spec", key))


def _container_faults(containers: Any, path: Path) -> Iterator[Problem]:
    if not isinstance(containers, list) or not all(isinstance(each, dict) for each in containers):
        yield Problem(
            path, "is no list of containers; write for example [{name: main, image: registry.internal/report:1.4}]"
        )
        return
    for name, count in Counter(str(each.get("name")) for each in containers).items():
        if count > 1:
            yield Problem(path, f"has {count} containers of the name {shown(name)}; give each its own")
    for number, container in enumerate(containers):
        for key in ("name", "image"):
            if not isinstance(container.get(key), str) or not container[key]:
                yield Problem((*path, number), f"has no `{key}`; write it")
        for key in ("command", "args"):
            if not isinstance(container.get(key) or [], list):
                yield Problem((*path, number, key), "is no list; write one item for each word")
                break
        else:
            for problem in said_in_shells(container):
                yield Problem((*path, number, *problem.path), problem.message)
