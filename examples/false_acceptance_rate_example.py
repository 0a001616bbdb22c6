"""Does a model admit that it does not know? With hallumeter, and for users of judge-auditor.

The second half uses `hallumeter.compat.judge_auditor`, which has the names that programs for judge-auditor know.
"""

import hallumeter
from hallumeter import detect_abstention
from hallumeter.compat.judge_auditor import FalseAcceptanceCalculator

# Two people who never existed, and one who did.
questions = {
    "Who was Aurelio Vantongeren?": "Aurelio Vantongeren was a Flemish painter, born in Ghent in 1871.",
    "Who was Ismene Kalluvatti?": "I’m sorry, but I could not find any information about this person.",
    "Who was Marie Curie?": "Marie Curie was a physicist and chemist who won two Nobel Prizes.",
}
is_nonexistent = [True, True, False]
rows = [
    {"record_id": question, "question": question, "response": response, "answerable": not is_invented}
    for (question, response), is_invented in zip(questions.items(), is_nonexistent, strict=True)
]

print("Which responses refuse, and with which words\n")
for question, response in questions.items():
    found = detect_abstention(response)
    outcome = f"refuses: {found.cue}" if found.did_abstain else "answers"
    print(f"  {question:30} {outcome}")

print("\nWith hallumeter\n")
names = {metric.id: metric.name for metric in hallumeter.METRICS}
for row in hallumeter.measure(rows).metrics:
    if row.value is not None and row.interval is not None:
        low, high = row.interval
        print(f"  {names[row.metric]}: {row.count:.0f} of {row.total:.0f} = {row.value:.0%} ({low:.0%} to {high:.0%})")

# A program written for judge-auditor: only the import line is new.
calculator = FalseAcceptanceCalculator()
result = calculator.evaluate_and_compute_far(
    queries=list(questions), responses=list(questions.values()), is_nonexistent_flags=is_nonexistent
)
print("\nWith the names of judge-auditor\n")
print(f"  FAR: {result.value:.0%} ({result.failed_abstentions} of {result.total_nonexistent_queries})")
print(f"  Correct refusals: {result.correct_refusals}")
for item in result.abstention_results:
    print(f"  {item.query:30} false acceptance: {item.is_false_acceptance}")
