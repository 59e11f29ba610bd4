"""Measure calls of the managed client compared with the same question to a plain store.

    Benchmarks/compare managed --json R.json                a site of 1,000 packs, and two packs of 500 assets
    Benchmarks/compare managed --packs 50 --runs 3          fewer packs and rounds

`packstore-managed` publishes packs to sites in a folder, fetches them, and makes each call in batches, which take turns. The
sites are folders, so no network takes part: the figures are the time that an app waits on its own machine. A page shows the
median of the batches, for one call.
"""

import json
import subprocess

from measuring import PACKAGE, UserError, progress

OPTIONS = {
    "packs": (1000, "packs of the site whose manifest is read"), "assets": (500, "assets of the packs in each call"),
    "runs": (15, "batches of each call"),
    "program": (PACKAGE / ".build/compare/release/packstore-managed", "the program that makes the calls"),
}
NEEDS_PACKSTORE = False


def measure(run):
    arguments = run.arguments
    if not arguments.program.exists():
        raise UserError(f"missing program '{arguments.program}': build it with 'make bench-managed'")
    progress(f"calls compared with plain stores, {arguments.runs} rounds")
    folder = run.work / "calls"
    folder.mkdir()
    counts = [f"--packs={arguments.packs}", f"--assets={arguments.assets}", f"--rounds={arguments.runs}"]
    answer = subprocess.run([arguments.program, "--folder", folder, *counts], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise UserError(f"packstore-managed failed: {answer.stderr.strip()}")
    return json.loads(answer.stdout)
