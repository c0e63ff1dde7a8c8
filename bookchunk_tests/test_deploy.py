"""The configurations in ``deploy/`` name what is there; ``system/test_deploy.py`` runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._core.launcher import RunLauncher
from dagster._serdes import ConfigurableClassData

from bookchunk_assets.cli.instance import CONFIG

DEPLOY = Path(__file__).parent.parent / "deploy"


@pytest.fixture(params=["postgres", "celery"])
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / request.param / "dagster.yaml").read_text("utf-8")))


def test_the_launcher_tells_whether_a_worker_lives(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKCHUNK_BROKER", "redis://127.0.0.1:1/0")
    named = config["run_launcher"]
    data = ConfigurableClassData(named["module"], named["class"], yaml.safe_dump(named["config"]))
    launcher = data.rehydrate(as_type=RunLauncher)
    assert launcher.supports_check_run_worker_health
    assert type(launcher).check_run_worker_health.__module__.startswith("bookchunk_assets.")


def test_the_rest_is_as_on_one_machine(config: dict[str, Any]) -> None:
    alone = yaml.safe_load(CONFIG)
    assert set(config) - set(alone) == {"storage"}
    rest = set(alone) - {"event_log_storage", "run_storage"}  # of SQLite
    assert {key for key in rest if config[key] != alone[key]} <= {
        "run_launcher",
        "run_monitoring",
        "concurrency",
    }
    assert config["storage"]["postgres"]["postgres_url"] == {"env": "BOOKCHUNK_POSTGRES"}, "no secret in a file"
