"""Log traces with feedback into a local MLflow store and keep it: `python mlflow_store.py FOLDER`, mlflow installed."""

import os
import sys
from pathlib import Path

os.environ |= {"MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}

import mlflow
from mlflow.entities import AssessmentError, AssessmentSource, Feedback, SpanType
from questions import ANSWERS, EVIDENCE, QUESTION

SCORES = {"supported": 0.0, "refuted": 0.5, "empty": None, "greeting": None, "unparsable": None, "broken": 0.0}


def main(folder: Path) -> None:
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.set_experiment("rivers")
    source = AssessmentSource(source_type="LLM_JUDGE", source_id="scripted")
    for name, answer in ANSWERS.items():
        with mlflow.start_span(name, span_type=SpanType.CHAIN) as root:
            root.set_inputs({"question": QUESTION})
            with mlflow.start_span("retrieve", span_type=SpanType.RETRIEVER) as span:
                span.set_inputs({"query": QUESTION})
                span.set_outputs([{"page_content": EVIDENCE, "id": "atlas"}])
            root.set_outputs(answer)
        trace_id = root.trace_id
        if name == "unparsable":
            error = AssessmentError(error_code="PARSE_ERROR", error_message="the judge's reply was no JSON")
            feedback = Feedback(name="unsupported", error=error, source=source)
        elif SCORES[name] is None:
            error = AssessmentError("SKIPPED", "no claim")
            feedback = Feedback(name="unsupported", value=None, error=error, source=source)
        else:
            feedback = Feedback(name="unsupported", value=SCORES[name], rationale="so says the atlas", source=source)
        mlflow.log_assessment(trace_id, feedback)
        mlflow.log_feedback(trace_id=trace_id, name="is_polite", value=name != "broken", source=source)
        verdict = "good" if name == "supported" else "bad"
        mlflow.log_feedback(trace_id=trace_id, name="verdict", value=verdict, source=source)
        mlflow.log_expectation(trace_id=trace_id, name="expected_response", value="777 km; Paris")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
