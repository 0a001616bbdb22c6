"""Tests of adapters run where their tools are installed, as `make test-integrations` does; else they are left out."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DO_NOT_TRACK": "true",
    "HAYSTACK_TELEMETRY_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "WANDB_ERROR_REPORTING": "false",
    "WEAVE_DISABLED": "true",
}
"""The tools' own words for staying quiet; the socket guard of all tests would refuse them anyway."""

TOOLS = (
    *("mlflow", "inspect_ai", "deepeval", "phoenix.evals", "langfuse", "langsmith", "weave", "pydantic_evals"),
    *("ragas", "haystack", "langchain_classic", "llama_index.core"),
)


def is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


MISSING = [name for name in TOOLS if not is_installed(name)]
WITH_TOOLS = ["test_adapters.py", "test_evaluations.py", "test_opentelemetry.py", "test_services.py"]
# make test-integrations sets the variable: there a tool that is missing is a failure.
collect_ignore = WITH_TOOLS if MISSING and "HALLUMETER_INTEGRATIONS" not in os.environ else []


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tools keep something in the current folder."""
    monkeypatch.chdir(tmp_path)
