"""The files of a new project, from the templates beside this one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Deploy = Literal["compose", "kubernetes"]
ROOT = Path(__file__).parent
TEMPLATES = ROOT / "templates"
WORKER_MANIFESTS = (ROOT.parents[1] / "deploy" / "kubernetes" / "worker", ROOT / "kubernetes" / "worker")
"""Those of a clone, and those of an installed package."""
ALWAYS = {
    "jobs/jobs.yaml": "jobs.yaml",
    "tests/test_jobs.py": "test_jobs.py.txt",
    "tickwright.toml": "tickwright.toml",
    ".github/workflows/jobs.yaml": "workflow.yaml",
    ".gitignore": "gitignore.txt",
    "Dockerfile": "Dockerfile",
    ".dockerignore": "dockerignore.txt",
}
ONE_OF: dict[Deploy, dict[str, str]] = {
    "compose": {"compose.yaml": "compose.yaml"},
    "kubernetes": {"kubernetes/overlay/kustomization.yaml": "kustomization.yaml"},
}


def project_files(project: str, version: str, deploy: Deploy) -> dict[str, str]:
    """Text by path. `version` is the one of Tickwright that CI and image install."""
    templates = {**ALWAYS, **ONE_OF[deploy]}
    files = {path: (TEMPLATES / name).read_text(encoding="utf-8") for path, name in templates.items()}
    filled = {path: text.replace("@PROJECT@", project).replace("@VERSION@", version) for path, text in files.items()}
    return {**filled, **(_worker_manifests() if deploy == "kubernetes" else {})}


def project_name(folder: str) -> str:
    """The name of a folder as one of a project."""
    return re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-") or "jobs"


def written(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Writes the files, and gives those that were there already, in which case none is written. Raises OSError."""
    if taken := [path for path in files if (folder / path).exists()]:
        return taken
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return []


def _worker_manifests() -> dict[str, str]:
    folder = next(folder for folder in WORKER_MANIFESTS if folder.is_dir())
    return {f"kubernetes/worker/{file.name}": file.read_text(encoding="utf-8") for file in sorted(folder.iterdir())}
