"""What deploy/ gives to Prometheus, Alertmanager and Grafana."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from activities.observe import RunEnded
from schedules.lint.load import load_checked
from schedules.monitor.alert_rules import rule_file
from schedules.monitor.export import Exporter, Seen
from schedules.text.yaml import yaml_text
from tests.prometheus import AMTOOL, needs_amtool, needs_promtool, promtool
from worker.metrics.metrics import WorkerMetrics

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana/dashboards/tickwright.json").read_text())
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


@needs_promtool
def test_prometheus_takes_its_configuration_and_the_rules_of_the_specs(tmp_path: Path) -> None:
    text = (DEPLOY / "prometheus/prometheus.yml").read_text()
    (tmp_path / "rules.yml").write_text(yaml_text(rule_file(load_checked([str(DEPLOY / "specs")], None))))
    (tmp_path / "prometheus.yml").write_text(text.replace("/etc/prometheus/rules/*.yml", str(tmp_path / "rules.yml")))

    assert "SUCCESS" in promtool("check", "config", tmp_path / "prometheus.yml")


def test_every_scrape_of_ours_keeps_the_label_job() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    ours = [each for each in config["scrape_configs"] if each["job_name"].startswith("tickwright")]

    assert [each["honor_labels"] for each in ours] == [True, True]


@needs_amtool
def test_alertmanager_takes_its_configuration() -> None:
    done = subprocess.run([str(AMTOOL), "check-config", DEPLOY / "alertmanager/alertmanager.yml"], check=False)
    assert done.returncode == 0


def test_files_that_services_mount_are_there() -> None:
    mounted = [
        volume.split(":")[0]
        for service in compose()["services"].values()
        for volume in service.get("volumes", [])
        if volume.startswith("./")
    ]
    assert len(mounted) == 4
    assert all((ROOT / each).exists() for each in mounted)


def test_the_dashboard_shows_metrics_that_there_are() -> None:
    metrics = WorkerMetrics()
    metrics.count(RunEnded("job", "succeeded", 0.1, 0.1))
    served = (generate_latest(metrics.registry) + generate_latest(Exporter.registry(Seen()))).decode()
    names = {name for each in EXPRESSIONS for name in re.findall(r"tickwright_\w+", each)}

    assert len(names) > 15
    assert not [name for name in names if f"# TYPE {name.removesuffix('_bucket')} " not in served]


@needs_promtool
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_prometheus_reads_the_expressions_of_the_dashboard(expression: str, tmp_path: Path) -> None:
    plain = expression.replace("$__rate_interval", "5m").replace("$owner", ".*").replace("$job", ".*")
    rules = {"groups": [{"name": "g", "rules": [{"record": "r", "expr": plain}]}]}
    (tmp_path / "rules.yml").write_text(yaml_text(rules))

    assert "SUCCESS" in promtool("check", "rules", tmp_path / "rules.yml")


def test_panels_do_not_lie_on_one_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        taken |= cells
