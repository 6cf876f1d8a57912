"""A bare environment with this package as people install it: the wheel made from the sdist, and what it says that it needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from tests.processes import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


def bare_environment(folder: Path, *extras: str) -> Path:
    """Makes it in the folder, without any network; gives its `bin`."""
    wheel = _wheel(folder / "dist")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "--disable-pip-version-check",
        "install",
        "--quiet",
    ]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True)
    [packages] = (folder / "env" / "lib").glob("python3*/site-packages")
    [installed] = packages.glob("tickwright-*.dist-info")
    for needed in _needed(PathDistribution(installed), set(extras), {"tickwright"}):
        _link(needed, packages)
    return python.parent


def _wheel(folder: Path) -> Path:
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    [source] = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / source.name.removesuffix(".tar.gz")
    subprocess.run([*build, "-t", "wheel"], cwd=unpacked, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def _needed(package: Distribution, extras: set[str], seen: set[str]) -> Iterator[Distribution]:
    """What the package requires here, and what that requires."""
    for line in package.requires or ():
        needed = Requirement(line)
        name = re.sub(r"[-_.]+", "-", needed.name).lower()
        if name in seen or not any(
            needed.marker is None or needed.marker.evaluate({"extra": extra}) for extra in ["", *extras]
        ):
            continue
        seen.add(name)
        found = distribution(needed.name)
        yield found
        yield from _needed(found, needed.extras, seen)


def _link(package: Distribution, packages: Path) -> None:
    """Puts the package's files where pip would put them."""
    for file in package.files or ():
        source, target = Path(str(package.locate_file(file))), packages / str(file)
        if "__pycache__" in file.parts or not source.exists():
            continue
        target = Path(os.path.normpath(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.symlink_to(source.resolve())
