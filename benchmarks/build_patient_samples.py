"""Make the bundled patients: five Synthea records, without the types of resources that nothing reads.

    python benchmarks/build_patient_samples.py FOLDER

FOLDER holds R4/SYNTHEA/*.json of smart-on-fhir/generated-sample-data. The same files come out every time.
"""

import json
import sys
from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "src" / "hallumeter" / "samples" / "patients"
PATIENTS = (
    "Chrissy_Weimann_f924096c-b40b-423d-8e60-c27a25dc8d24.json",
    "Patria_Schimmel_d2f8f862-3856-490d-b56f-98e0ed984b1e.json",
    "Seymour_Kessler_c6c5d55f-9b1d-47e1-a3c8-904ddf2deb58.json",
    "Tom_Goodwin_e20de9eb-6f2d-4871-a43f-bbede53293ed.json",
    "Tommy_Friesen_dc0e6a8c-6c31-4d75-966f-ac682f486756.json",
)
KEPT = {"Patient", "Condition", "MedicationRequest", "Observation", "Procedure"}


def write_samples(source: Path) -> None:
    """Write each patient's record, one line, with the resources that are read."""
    SAMPLE.mkdir(exist_ok=True)
    for name in PATIENTS:
        bundle = json.loads((source / name).read_text(encoding="utf-8"))
        bundle["entry"] = [entry for entry in bundle["entry"] if entry["resource"]["resourceType"] in KEPT]
        text = json.dumps(bundle, ensure_ascii=False, separators=(",", ":"))
        (SAMPLE / name).write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(text.encode()) // 1000} KB, {len(bundle['entry'])} resources")


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]))
