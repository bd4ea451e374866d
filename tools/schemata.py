# SPDX-License-Identifier: BSD-3-Clause
"""Many mutants in one text: a function whose body {B} has mutants 17 and 18 becomes
{ if (mutants::on(17)) {B17} else if (mutants::on(18)) {B18} else {B} }, and an initialiser outside of functions
(mutants::reached(19) ? (new) : (old)), without constexpr. tools/mutants.hpp has what these call.
"""
import re
from pathlib import Path
from typing import NamedTuple

from mutations import MASKED, blank

CLASS = re.compile(r"\b(?:class|struct|union|enum|namespace)\b[^;{}()]*$")
FUNCTION = re.compile(r"(?:\)|\}|\]|\b(?:const|noexcept|override|final|mutable)|-> [\w:<>,*& ]+) $")


class Region(NamedTuple):
    first: int  # line of the rewritten text
    last: int
    mutants: tuple
    kind: str  # body: a mutant's own text; function: all of one with mutants; value: an initialiser


def brackets(code):
    """Places of the brackets that belong together, outer first."""
    pairs, waiting = [], []
    for found in re.finditer(r"[()\[\]{}]", code):
        if found.group(0) in "([{":
            waiting.append(found.start())
        elif waiting:
            pairs.append((waiting.pop(), found.start()))
    return sorted(pairs)


def is_function(code, at):
    before = code[max(0, at - 300):at]
    return code[at] == "{" and FUNCTION.search(before) and not CLASS.search(before)


def initialiser(code, start, end, around):
    """Range of the expression outside of functions with this range: an element of a list, or what follows =."""
    opened, closed = around[-1] if around else (0, len(code))
    if not around or CLASS.search(code[max(0, opened - 300):opened]):
        sign = re.compile(r"[^;{}]*? = ").match(code, max(code.rfind(c, 0, start) for c in ";{}") + 1, start)
        return (sign.end(), code.find(";", end)) if sign else None
    depth, first, at = 0, opened + 1, opened
    while at < closed:
        at += 1
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if at == closed or (depth == 0 and code[at] == ","):
            if at >= end:
                break
            first = at + 1
    named = re.compile(r"\s*\.\w+ = ").match(code, first, start)
    return named.end() if named else first, at


def is_declaration(code):
    """No statement ends between a constexpr and an initialiser."""
    depth = 0
    for c in code:
        depth += (c in "([{") - (c in ")]}")
        if depth < 0 or (depth == 0 and c == ";"):
            return False
    return True


def rewritten(file, numbered):
    """The text with all of these mutants, (number, mutant), its regions, and the numbers that have no place in it."""
    text = Path(file).read_text()
    code = MASKED.sub(blank, text)
    pairs, parts, homeless = brackets(code), {}, []
    for number, m in numbered:
        around = [p for p in pairs if p[0] < m.start and p[1] >= m.end]
        body = next((p for p in around if is_function(code, p[0])), None)
        part = (body[0] + 1, body[1]) if body else initialiser(code, m.start, m.end, around)
        if part:
            parts.setdefault((*part, bool(body)), []).append((number, m))
        else:
            homeless.append(number)
    out, regions, line, done = [], [], 1, 0

    def write(piece):
        nonlocal line
        out.append(piece)
        line += piece.count("\n")

    for (start, end, is_body), mutants in sorted(parts.items()):
        numbers = [number for number, _ in mutants]
        if start < done:
            homeless += numbers
            continue
        word = -1 if is_body else code.rfind("constexpr", done, start)
        if word >= 0 and is_declaration(code[word:start]):
            write(text[done:word])
            first = line
            write("const" + text[word + len("constexpr"):start])
        else:
            write(text[done:start])
            first = line
        changed = [(n, text[start:m.start] + m.text + text[m.end:end]) for n, m in mutants]
        if is_body:
            for n, body in changed:
                write("\n")
                regions.append(Region(line, line + body.count("\n"), (n,), "body"))
                write(f"if (mutants::on({n})) {{{body}}} else")
            write(f"\n{{{text[start:end]}}}")
        else:
            choices = "".join(f"mutants::reached({n}) ? ({new}) : " for n, new in changed)
            write(f"({choices}({text[start:end]}))")
        regions.append(Region(first, line, tuple(numbers), "function" if is_body else "value"))
        done = end
    write(text[done:])
    return "".join(out), regions, homeless


def blamed(regions, output):
    """Number -> (error, whether it lies in the mutant's own text), by a compiler's output and each file's regions."""
    places = []  # of errors, of their notes, and of what led there
    for row in output.splitlines():
        found = re.match(r"([^:\s]+):(\d+):(?:\d+:)?(.*? error: (.*))?", row)
        if found and (found.group(1) in regions or found.group(3)):
            places.append((found.group(1), int(found.group(2)), found.group(4)))
    errors = [i for i, place in enumerate(places) if place[2]]
    numbers = {}
    for before, at, after in zip([-1, *errors], errors, [*errors[1:], len(places)]):
        hits = []
        for file, line, _ in [places[at], *places[at + 1:after], *places[at - 1:before:-1]]:
            hits = hits or [region for region in regions.get(file, ()) if region.first <= line <= region.last]
        # A constant that is none any more may be missed elsewhere.
        hits = hits or [region for region in regions.get(places[at][0], ()) if region.kind == "value"]
        own = any(region.kind == "body" for region in hits)
        for region in hits:
            if own == (region.kind == "body"):
                numbers.update((number, (places[at][2], own)) for number in region.mutants)
    return numbers
