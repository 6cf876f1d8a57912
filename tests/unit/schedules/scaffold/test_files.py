"""What `init` writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from schedules.scaffold.files import ONE_OF, Deploy, project_files, project_name, written
from tests.manifests import KUBECTL


@pytest.mark.parametrize(
    ("folder", "name"), [("shop", "shop"), ("Shop Jobs (old)", "shop-jobs-old"), ("__", "jobs"), ("Läden", "l-den")]
)
def test_a_folder_gives_its_name_to_the_project(folder: str, name: str) -> None:
    assert project_name(folder) == name


@pytest.mark.parametrize("deploy", list(ONE_OF))
def test_nothing_is_left_to_fill_in(deploy: Deploy) -> None:
    files = project_files("shop", "1.2.3", deploy)

    assert not [path for path, text in files.items() if "@PROJECT@" in text or "@VERSION@" in text]
    assert "project: shop #" in files["jobs/jobs.yaml"]
    assert 'pip install "tickwright==1.2.3"' in files[".github/workflows/jobs.yaml"]


def test_a_file_that_is_there_keeps_all_others_from_being_written(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")

    assert written(tmp_path, {"a/c": "1", "b": "2"}) == ["b"]
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b").read_text() == "mine"


def checked(*words: str | Path) -> None:
    program, *arguments = words
    done = subprocess.run(
        [Path(sys.executable).with_name(str(program)), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_files_for_compose_and_ci_are_right(tmp_path: Path) -> None:
    written(tmp_path, project_files("shop", "1.2.3", "compose"))

    checked("check-jsonschema", "--builtin-schema", "vendor.compose-spec", tmp_path / "compose.yaml")
    checked("check-jsonschema", "--builtin-schema", "vendor.github-workflows", tmp_path / ".github/workflows/jobs.yaml")
    checked("hadolint", tmp_path / "Dockerfile")


def test_the_overlay_names_the_image_and_is_one_that_kubectl_builds(tmp_path: Path) -> None:
    written(tmp_path, project_files("shop", "1.2.3", "kubernetes"))

    done = subprocess.run(
        [KUBECTL, "kustomize", tmp_path / "kubernetes/overlay"], capture_output=True, text=True, check=True
    )

    [worker] = [made for made in yaml.safe_load_all(done.stdout) if made["kind"] == "Deployment"]
    [container] = worker["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/shop:1"
    assert {"name": "TICKWRIGHT_BUILD_ID", "value": "registry.example.com/shop:1"} in container["env"]
