"""Which tool wrote a file: told by what it holds, or by its user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hallumeter.errors import InputError, SettingsError

from .deepeval import is_deepeval, read_deepeval
from .documents import Document, read_document
from .evalplus import is_evalplus, read_evalplus
from .helm import is_helm, read_helm
from .inspect_log import is_inspect, read_inspect
from .langfuse import is_langfuse, read_langfuse
from .lettucedetect import is_lettucedetect, read_lettucedetect
from .lm_eval import is_lm_eval, read_lm_eval
from .mlflow import is_mlflow, read_mlflow
from .phoenix import is_phoenix, read_phoenix
from .promptfoo import is_promptfoo, read_promptfoo
from .ragas import is_ragas, read_ragas
from .ragtruth import is_ragtruth, read_ragtruth
from .record import ForeignRecord, Reading
from .refchecker import is_refchecker, read_refchecker
from .trulens import is_trulens, read_trulens


class Tool(NamedTuple):
    """A tool whose files can be read."""

    title: str
    recognises: Callable[[Document], bool]
    read: Callable[[Sequence[Document], Reading], Iterator[ForeignRecord]]


TOOLS = {
    "ragas": Tool("Ragas", is_ragas, read_ragas),
    "deepeval": Tool("DeepEval", is_deepeval, read_deepeval),
    "trulens": Tool("TruLens", is_trulens, read_trulens),
    "promptfoo": Tool("promptfoo", is_promptfoo, read_promptfoo),
    "inspect": Tool("Inspect", is_inspect, read_inspect),
    "lettucedetect": Tool("LettuceDetect", is_lettucedetect, read_lettucedetect),
    "ragtruth": Tool("RAGTruth", is_ragtruth, read_ragtruth),
    "refchecker": Tool("RefChecker", is_refchecker, read_refchecker),
    "helm": Tool("HELM", is_helm, read_helm),
    "mlflow": Tool("MLflow", is_mlflow, read_mlflow),
    "langfuse": Tool("Langfuse", is_langfuse, read_langfuse),
    "phoenix": Tool("Phoenix", is_phoenix, read_phoenix),
    "lm-eval": Tool("lm-evaluation-harness", is_lm_eval, read_lm_eval),
    "evalplus": Tool("EvalPlus", is_evalplus, read_evalplus),
}
"""By the name that `--format` takes."""


class ForeignFiles(NamedTuple):
    """Files of one tool."""

    name: str
    tool: Tool
    documents: tuple[Document, ...]


def read_foreign(paths: Sequence[Path], tool: str | None = None) -> ForeignFiles:
    """Read some files of one tool, the one named or the one whose marks they bear.

    Raises:
        InputError: A file is damaged, of no tool that is known, or of another tool than the first.
        SettingsError: No tool has that name.
    """
    if tool is not None and tool not in TOOLS:
        raise SettingsError(f"no tool is called {tool!r}; --format takes one of {', '.join(TOOLS)}")
    documents = tuple(read_document(path) for path in paths)
    names = [tool or _tool_of(document) for document in documents]
    if len(set(names)) > 1:
        other = next(number for number, name in enumerate(names) if name != names[0])
        raise InputError(
            f"{documents[0].name} is of {TOOLS[names[0]].title} and {documents[other].name} of"
            f" {TOOLS[names[other]].title}; ingest them one by one"
        )
    return ForeignFiles(names[0], TOOLS[names[0]], documents)


def _tool_of(document: Document) -> str:
    found = [name for name, tool in TOOLS.items() if tool.recognises(document)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{document.name}: looks like a file of {' and of '.join(found)}; choose one with --format")
    if {"record_id", "claim_id", "label"} <= document.first.keys():
        raise InputError(f"{document.name}: these are verdicts of our own form; type: hallumeter measure")
    fault = f" (line {document.faults[0].line}: {document.faults[0].message})" if document.faults else ""
    fields = ", ".join(sorted(map(str, document.first))[:8]) or f"no object{fault}"
    titles = ", ".join(tool.title for tool in TOOLS.values())
    raise InputError(
        f"{document.name}: not known as a result of {titles}; it holds {fields}; if it is of one of them, say so with"
        " --format NAME"
    )
