"""The Kubernetes manifests as kubectl builds them; `python -m tests.manifests` checks them against the schemas of Kubernetes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # the package has no types
import yaml

FOLDER = Path(__file__).resolve().parents[1] / "deploy" / "kubernetes"
EXAMPLE = "example"
COMPLETE = "complete"
"""The example with every line that a `#` keeps out of it, autoscaled, with files of yours."""
ROOTS = ("jobs", "worker", "autoscaled", "sync", "monitor", "board", EXAMPLE, COMPLETE)
VERSIONS = ("1.31", kubernetes_validate.latest_version())
"""The oldest on which all that they use is stable, and the newest that there is a schema for."""
KUBECTL = Path(sys.executable).with_name("kubectl")


@cache
def built(root: str) -> list[dict[str, Any]]:
    """What `kubectl apply -k` would send. Raises CalledProcessError for what kubectl cannot build."""
    with TemporaryDirectory() as made:
        folder = completed(Path(made)) if root == COMPLETE else FOLDER / root
        done = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


def completed(made: Path) -> Path:
    """A copy of the example, as one makes it who needs everything; the files that it names are there."""
    shutil.copytree(FOLDER, made, dirs_exist_ok=True)
    folder = made / EXAMPLE
    text = re.sub(r"^( *)#- ", r"\1- ", (folder / "kustomization.yaml").read_text(), flags=re.MULTILINE)
    (folder / "kustomization.yaml").write_text(text.replace("- ../worker #", "- ../autoscaled #"))
    for name in re.findall(r"secret/[\w.-]+", text):
        (folder / name).touch()
    return folder


def problems(root: str, version: str) -> list[str]:
    """What the schemas say against it."""
    found = []
    for resource in built(root):
        try:
            kubernetes_validate.validate(resource, version, strict=True)
        except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
            found.append(f"{root}: {resource['kind']} {resource['metadata']['name']}: {error.message}")
    return found


if __name__ == "__main__":
    told = [problem for root in ROOTS for version in VERSIONS for problem in problems(root, version)]
    sys.exit("\n".join(told) or 0)
