# SPDX-License-Identifier: BSD-3-Clause
"""Which test notices which mutant: make mutants MATRIX=1 SAMPLE=2000.

Each mutant meets all unit tests that reach it, but those of suites named Long, which stay for what they promise. The pairs
are in build-mutants/matrix.tsv; the tests that a greedy cover of all mutants does without are those to read, in
build-mutants/not-needed.tsv.
"""
import re
from pathlib import Path

MATRIX = Path("build-mutants/matrix.tsv")
LEFT = Path("build-mutants/not-needed.tsv")
MOST_NAMES = 800  # of one argument


def is_long(test):
    return "Long" in test.name.partition(".")[0].split("/")[-1][:4]


def all_failing(run_filter, tests):
    """The names of all of these that fail; None where one hangs, as many would, each for as long as the limit is.
    `run_filter(names, seconds)` runs them: exit status (None past the limit), output."""
    left, failed = {test.name: test for test in tests if not is_long(test)}, set()
    while left:
        names = list(left)[:MOST_NAMES]
        status, output = run_filter(names, 10 + 3 * sum(left[name].seconds for name in names))
        if status is None:
            return None
        failed.update(re.findall(r"^\[  FAILED  \] ([^ ,]+).* ms\)$", output, re.M))
        ended = re.findall(r"^\[ (?:      OK|  FAILED ) \] ([^ ,]+).* ms\)$", output, re.M)
        begun = re.findall(r"^\[ RUN      \] (.*)", output, re.M)
        if status not in (0, 1) and begun:  # the last one ended the process
            failed.add(begun[-1])
            names = [*ended, begun[-1]]
        for name in names:
            left.pop(name, None)
    return failed


def append(mutant, names):
    """Adds what notices this mutant."""
    with MATRIX.open("a") as file:
        file.writelines(f"{mutant.key()}\t{name}\n" for name in sorted(names))


def write_reading_list(tests):
    """Of these tests, name -> seconds, those that a greedy cover does without, with how many mutants each notices."""
    kills = {}
    for line in MATRIX.read_text().splitlines() if MATRIX.exists() else []:
        key, name = line.split("\t")
        kills.setdefault(name, set()).add(key)
    open_kills, cover = set().union(*kills.values()), set()
    while open_kills:
        best = max(sorted(kills), key=lambda name: (len(kills[name] & open_kills), -tests.get(name, 0)))
        cover.add(best)
        open_kills -= kills[best]
    left = [name for name in sorted(tests) if name not in cover]
    LEFT.write_text("".join(f"{len(kills.get(name, ()))}\t{name}\n" for name in left))
    return f"{len(left)} of {len(tests)} tests are not needed for these mutants: {LEFT}"
