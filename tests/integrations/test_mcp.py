"""The MCP server as an assistant meets it: a process of its own, and the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from hallumeter import audit
from hallumeter.cli.main import main
from hallumeter.errors import InputError
from hallumeter.integrations.mcp import mcp_server
from hallumeter.run.export import export_parquet

GOOD = {"id": "r1", "response": "The tower is 330 m high.", "evidence": "The tower is 330 m high."}
BAD = {"id": "r2", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in (GOOD, BAD)), encoding="utf-8")
    return folder


def conversation(root: Path, talk: Callable[[Client], Awaitable[Any]]) -> Any:
    """What a client found that started the program itself."""

    async def whole() -> Any:
        server = StdioServerParameters(command=sys.executable, args=["-m", "hallumeter", "mcp", str(root)])
        async with Client(stdio_client(server)) as client:
            return await talk(client)

    return asyncio.run(whole())


def called(root: Path, tool: str, **arguments: Any) -> Any:
    """What a tool of a server in this process answers."""

    async def whole() -> Any:
        async with Client(mcp_server(root)) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(whole())


def fault(root: Path, tool: str, **arguments: Any) -> str:
    """The one line with which a tool refuses."""
    result = called(root, tool, **arguments)
    assert result.is_error
    assert len(result.content) == 1
    text: str = result.content[0].text
    assert "\n" not in text
    return text


def test_an_assistant_finds_four_tools_and_checks_an_answer_over_the_standard_input(root: Path) -> None:
    async def talk(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        found = await client.call_tool(
            "check", {"answer": BAD["response"], "evidence": [BAD["evidence"]], "judge": "rules"}
        )
        audited = await client.call_tool("audit_file", {"path": "answers.jsonl", "judge": "rules"})
        return tools, found, audited

    tools, found, audited = conversation(root, talk)
    assert [tool.name for tool in tools] == ["check", "audit_file", "compare_runs", "explain_metric"]
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in tools)
    assert found.structured_content["status"] == "unsupported"
    assert found.structured_content["passed"] is False
    assert found.structured_content["marked"] == "The tower is »999 m« high."
    assert audited.structured_content["findings"][0]["record_id"] == "r2"
    assert sorted(path.name for path in root.iterdir()) == ["answers.jsonl"], "nothing is written"


def test_what_was_not_measured_is_null_and_never_a_pass(root: Path) -> None:
    found = called(root, "check", answer="I cannot say.", evidence=["The tower is 330 m high."], judge="rules")
    assert found.structured_content["passed"] is False
    (root / "empty.jsonl").write_text(json.dumps({"id": "r", "response": "", "evidence": "Some."}), encoding="utf-8")
    rates = called(root, "audit_file", path="empty.jsonl", judge="rules").structured_content["metrics"]
    mihr = next(row for row in rates if row["metric"] == "mihr")
    assert mihr["value"] is None
    assert mihr["undefined"]


def test_a_file_is_audited_with_groups_and_as_many_findings_as_asked(root: Path) -> None:
    rows = [{**BAD, "id": f"r{place}", "model": f"m{place % 2}"} for place in range(4)]
    (root / "models.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    found = called(root, "audit_file", path="models.jsonl", judge="rules", by=["model"], findings=2).structured_content
    assert len(found["findings"]) == 2
    assert {row["by"].get("model") for row in found["metrics"]} >= {"m0", "m1"}
    assert found["counts"]["records"] == 4


def test_runs_are_compared(root: Path) -> None:
    audit([GOOD], judge="rules", out=root / "before")
    audit([{**BAD, "id": "r1"}], judge="rules", out=root / "after")
    found = called(root, "compare_runs", baseline="before", candidate="after").structured_content
    assert found["transitions"]["cells"][0]["first"] == "SUPPORTED"
    assert found["outcome"] in {"regression", "inconclusive"}


def test_a_metric_is_explained(root: Path) -> None:
    assert "MiHR" in called(root, "explain_metric", metric="mihr").content[0].text
    assert "mahr" in called(root, "explain_metric").content[0].text
    assert "did you mean mihr" in fault(root, "explain_metric", metric="mihrr")


def test_nothing_outside_the_folder_is_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_text(json.dumps(BAD), encoding="utf-8")
    (root / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    for path in (
        "../secret.jsonl",
        str(tmp_path / "secret.jsonl"),
        "link.jsonl",
        "/etc/passwd",
        "a/../../secret.jsonl",
    ):
        assert "outside the folder" in fault(root, "audit_file", path=path)
    assert "no such file" in fault(root, "audit_file", path="absent.jsonl")
    assert "no path" in fault(root, "audit_file", path="a\0b")


def test_a_run_folder_with_a_link_to_elsewhere_is_not_read(root: Path, tmp_path: Path) -> None:
    audit([GOOD], judge="rules", out=root / "before")
    audit([GOOD], judge="rules", out=root / "after")
    (root / "after" / "records.jsonl").rename(tmp_path / "secret.jsonl")
    (root / "after" / "records.jsonl").symlink_to(tmp_path / "secret.jsonl")
    said = fault(root, "compare_runs", baseline="before", candidate="after")
    assert "after: records.jsonl in it leads outside" in said


def test_a_link_deep_in_a_run_in_shards_is_not_followed(root: Path, tmp_path: Path) -> None:
    audit([GOOD], judge="rules", out=tmp_path / "run")
    export_parquet(tmp_path / "run", root / "shards")
    assert called(root, "compare_runs", baseline="shards", candidate="shards").structured_content["outcome"]
    [claims] = (root / "shards" / "data" / "claims").iterdir()
    claims.rename(tmp_path / "secret.parquet")
    claims.symlink_to(tmp_path / "secret.parquet")
    said = fault(root, "compare_runs", baseline="shards", candidate="shards")
    assert f"data/claims/{claims.name} in it leads outside" in said


def test_judges_that_cost_money_or_run_code_cannot_be_asked_for(root: Path) -> None:
    for judge in ("openai:gpt-4o-mini", "python:os", "command:true"):
        result = called(root, "check", answer="A.", evidence=["B."], judge=judge)
        assert result.is_error


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        mcp_server(tmp_path / "absent")


def test_without_the_package_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "hallumeter.integrations.mcp", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["mcp", str(tmp_path)])
    assert ended.value.code == 2
    assert "pip install 'hallumeter[mcp]'" in capsys.readouterr().err
