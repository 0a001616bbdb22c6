"""A stop hook for coding agents: sends an agent back if its summary says what the files that it cites do not.

It reads the event on standard input: an object with `last_assistant_message`, `cwd` and `stop_hook_active`.
"""

import json
import subprocess
import sys

event = json.load(sys.stdin)
answer = event.get("last_assistant_message") or ""
if answer and not event.get("stop_hook_active"):  # sent back once is enough: an agent must be able to end
    command = [sys.executable, "-m", "hallumeter", "check", "--cited", event.get("cwd") or ".", "-"]
    checked = subprocess.run(command, input=answer, capture_output=True, encoding="utf-8", check=False)
    if checked.returncode == 1:
        reason = "The files that you cite do not support all that you say. Correct your summary:\n\n" + checked.stdout
        print(json.dumps({"decision": "block", "reason": reason}))
