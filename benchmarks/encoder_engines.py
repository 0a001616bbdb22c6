"""How much faster is the embedded judge with onnxruntime than with numpy, and do the two say the same?

    python benchmarks/encoder_engines.py [--rounds 3]

Each engine judges the 66 answers of the sample in one process, several times in turn; the quickest counts.
"""

import argparse
import time

from embedded_judge_speed import tasks
from hallumeter.claims.judges.embedded import network
from hallumeter.claims.judges.embedded.encoder import Engine, numpy_engine, onnx_engine
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.records.claim import Verdict
from hallumeter.records.judging import JudgeTask


def judged(engine: Engine, work: list[JudgeTask]) -> tuple[float, list[Verdict]]:
    """Seconds of the processor, and the verdicts."""
    vars(network)["engine"] = lambda: engine
    judge = EmbeddedJudge()
    began = time.process_time()
    said = [verdict for task in work for verdict in judge.judge(task)]
    return time.process_time() - began, [each for each in said if isinstance(each, Verdict)]


def main() -> None:
    """Print the times, and how far the verdicts are apart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    work = tasks(1)
    judged(numpy_engine(), work)  # words are looked up once
    rounds = [(judged(onnx_engine(), work), judged(numpy_engine(), work)) for _ in range(parser.parse_args().rounds)]
    quickest = [min(seconds for seconds, _ in each) for each in zip(*rounds, strict=True)]
    pairs = list(zip(rounds[0][0][1], rounds[0][1][1], strict=True))
    apart = max(abs((one.unsupported_probability or 0) - (other.unsupported_probability or 0)) for one, other in pairs)
    print(f"{len(work)} answers, {len(pairs)} claims")
    for name, seconds in zip(("onnxruntime", "numpy"), quickest, strict=True):
        print(f"{name}: {1000 * seconds / len(pairs):.1f} ms a claim")
    print(f"onnxruntime is {quickest[1] / quickest[0]:.1f} times as fast")
    print(
        f"labels that differ: {sum(one.label != other.label for one, other in pairs)}; probabilities {apart:.3f} apart"
    )


if __name__ == "__main__":
    main()
