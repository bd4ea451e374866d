# SPDX-License-Identifier: BSD-3-Clause
"""The mechanical changes that tools/mutants tries: where in a C++ source each is possible, and what it makes of it.

The source is read as text, formatted by clang-format: a space on both sides tells an operator from a template's
bracket or a pointer's star. What does not compile is refused later.
"""
import hashlib
import re
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    file: str
    line: int
    kind: str
    start: int  # of the changed text, in characters of the file
    end: int
    text: str  # what stands there instead
    before: str  # the lines concerned, as they are and as they become, without indentation
    after: str
    nth: int = 0  # of several that read alike

    def key(self):
        return hashlib.sha256(f"{self.file}\n{self.before}\n{self.after}\n{self.nth}".encode()).hexdigest()[:16]


def blank(match):
    """A literal or comment as long as it was: strings become S, comments and the preprocessor's lines spaces."""
    text = match.group(0)
    filler = "S" if text[0] in "\"'" or text.startswith('R"') else " "
    return "".join(c if c == "\n" else filler for c in text)


MASKED = re.compile(
    r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)*\''
    r"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
# Texts of errors and messages, and declarations that hold no arithmetic.
SKIPPED = re.compile(r"(?:(?<=\bthrow)|\b(?:fail|warnings\.push_back|fmt::print|notice_?|complain|warn|note)(?=\()|\.reserve\()"
                     r"[^;]*(?=;)|\bstatic_assert\b[^;]*;"
                     r"|^\s*(?:using|template|namespace|friend)\b[^\n]*"
                     r"|\bstd::(?:array|bitset)<[^\n]*?>|= default;|operator\S+(?=\()", re.M)

PRECEDENCE = {"*": 5, "/": 5, "%": 5, "+": 4, "-": 4, "<<": 3.5, ">>": 3.5, "<": 3, "<=": 3, ">": 3, ">=": 3,
              "==": 2, "!=": 2, "&&": 1, "||": 0}
OPERATOR = re.compile(r"(?<=[\w)\]}]) (<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>])(?=[ \n])")
STOPS = re.compile(r"[,;?{]|(?<!:):(?!:)|(?<![=!<>])=(?!=)|\b(?:return|case|throw)\b")
ENDED = re.compile(OPERATOR.pattern.replace("(?=[ \\n])", "[ \\n]$"))  # up to where a search is limited
KEYWORD = re.compile(r"\b(?:return|case|throw)$")
OTHERS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="], "+": ["-"], "-": ["+"],
          "*": ["/"], "/": ["*"], "%": ["/"], "&&": ["||"], "||": ["&&"]}
NAMES = [("min", "max"), ("min_element", "max_element"), ("lower_bound", "upper_bound"), ("any_of", "all_of"),
         ("any_of", "none_of"), ("ceil", "floor"), ("front", "back"), ("true", "false"),
         ("infinity", "lowest")]
NOTHING = "static_cast<void>(0);"
# Calls whose absence no result shows: messages, capacity, waiting, what ends a process anyway.
UNNOTICED = re.compile(r"^(?:if|for|while|switch|return|catch|sizeof|static_cast|else)$|\b(?:reserve|shrink_to_fit|lock|unlock|"
                       r"flush|fflush|close|munmap|sleep_for|print_\w+|notice\w*|warn\w*|complain\w*|yield)$|\bwarnings\b")
KIND_OF = {"<": "boundary", "<=": "boundary", ">": "boundary", ">=": "boundary"}


def right_end(code, at, own):
    """End of the right operand of an operator of precedence `own` whose operand begins at `at`."""
    depth = 0
    while at < len(code):
        c = code[at]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                return at
            depth -= 1
        elif depth == 0:
            if STOPS.match(code, at):
                return at
            found = OPERATOR.match(code, at)
            if found and PRECEDENCE[found.group(1)] <= own:
                return at
        at += 1
    return at


def left_start(code, at, own):
    """Start of the left operand at `at`, a space: up to the next operator of a precedence below `own`."""
    depth = 0
    start = at
    while at > 0:
        at -= 1
        c = code[at]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                return start
            depth -= 1
        elif depth == 0:
            sign = ENDED.search(code, max(0, at - 4), at + 1)
            if sign:
                if PRECEDENCE[sign.group(1)] < own:
                    return start
                at = sign.start()
                continue
            if c in ",;?" or (c == ":" and ":" not in (code[at - 1], code[at + 1])):
                return start
            if c == "=" and code[at + 1].isspace():
                return start
            if c in "new" and KEYWORD.search(code, max(0, at - 7), at + 1):
                return start
        if not c.isspace():
            start = at
    return start


def operand(text):
    return f"({text})" if re.search(r"\s", text) else text


def of_operators(code, text):
    for found in OPERATOR.finditer(code):
        sign = found.group(1)
        if sign not in OTHERS:
            continue
        at, after = found.start(), found.end() + 1
        for other in OTHERS[sign]:
            yield KIND_OF.get(sign, "operator"), at + 1, found.end(), other
        own = PRECEDENCE[sign]
        start, end = left_start(code, at, own), right_end(code, after, own)
        left, right = text[start:at], text[after:end].strip()
        if not left.strip() or not right or "S" * 2 in code[start:end]:
            continue
        if sign in "+-*/%&&||":
            yield "dropped term", start, end, left
        if sign in ("+", "*", "&&", "||"):
            yield "dropped term", left_start(code, at, own + 0.1), end, right
        if sign in "-/%" and not code[:start].endswith("abs("):
            yield "swapped", start, end, f"{operand(right)} {sign} {operand(left)}"


def of_words(code, text):
    for one, other in NAMES:
        for old, new in ((one, other), (other, one)):
            for found in re.finditer(rf"\b{old}\b(?=[<(]|(?<=e)[;,)])", code):
                yield "min and max" if old in ("min", "max") else "word", found.start(), found.end(), new
    for found in re.finditer(r"(?<![\w=])!(?=[\w(])", code):
        yield "dropped negation", found.start(), found.end(), ""
    for found in re.finditer(r"(?:(?<=[(\[,])|(?<=[=?:<>+*/] )|(?<=return ))-(?=[\w(])", code):
        yield "dropped negation", found.start(), found.end(), ""
    for found in re.finditer(r"(\w+)\((\w[\w.\->]*), (\w[\w.\->]*)(?=\))", code):
        callee, one, other = found.groups()
        if callee not in ("min", "max") and "SS" not in one + other:
            yield "swapped", found.start(2), found.end(), f"{other}, {one}"


def of_constants(code, text):
    for found in re.finditer(r"(?<![\w.'])(?<!\de-)(\d+)(?![\w.'])", code):
        value = int(found.group(1))
        yield "off by one", found.start(), found.end(), str(value + 1)
        if value > 0:
            yield "off by one", found.start(), found.end(), str(value - 1)
    for found in re.finditer(r"(?<![\w.'])(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?![\w.'])", code):
        value = float(found.group(0))
        yield "constant", found.start(), found.end(), repr(value * 1.05 if value else 1.0)


def closing(code, at):
    """Place after the bracket that closes the one at `at`."""
    depth = 0
    for found in re.compile(r"[()\[\]{}]").finditer(code, at):
        depth += 1 if found.group(0) in "([{" else -1
        if depth == 0:
            return found.end()
    return len(code)


def of_statements(code, text):
    assignment = r"^[ \t]+(\w[\w.\->]*(?:\[[^\];\n]*\])? (?:[-+*/|&]?)= [^;{}]*;|(?:\+\+|--)\w[\w.\->]*;)[ \t]*$"
    for found in re.finditer(assignment, code, re.M):
        yield "stale value", found.start(1), found.end(1), NOTHING
    for found in re.finditer(r"(?<=\) )(\w[\w.\->]* (?:[-+*/|&]?)= [^;{}()]*;|(?:\+\+|--)\w[\w.\->]*;)", code):
        yield "stale value", found.start(1), found.end(1), NOTHING
    for found in re.finditer(r"(?<=[;{}):e])(?:\n[ \t]+| )(?=(?:\(void\))?(\w[\w:.>\-\[\]]*)\()", code):
        call, end = found.group(1), closing(code, code.index("(", found.end(1)))
        if code[end:end + 1] == ";" and not UNNOTICED.search(call) and not code.endswith("case", 0, found.start()):
            yield "dropped call", found.end(), end + 1, NOTHING
    for found in re.finditer(r"(?<=[;{}])\n[ \t]+(?=if (?:constexpr )?(\())", code):
        end = closing(code, found.start(1))
        guard = re.compile(r"\s+(?:return|continue|break|throw)\b[^;{}]*;|\s+\{\s+(?:return|continue|break|throw)\b[^;{}]*;\s+\}(?! else)").match(code, end)
        if guard and not re.compile(r"\s+else\b").match(code, guard.end()):
            yield "dropped guard", found.end(), guard.end(), NOTHING


def mutants_of(file):
    text = Path(file).read_text()
    code = SKIPPED.sub(lambda m: re.sub(r"\S", " ", m.group(0)), MASKED.sub(blank, text))
    seen = {}
    found = []
    for way in (of_operators, of_words, of_constants, of_statements):
        for kind, start, end, new in way(code, text):
            first = text.rfind("\n", 0, start) + 1
            last = text.find("\n", end - 1)
            before = " ".join(text[first:last].split())
            after = " ".join((text[first:start] + new + text[end:last]).split())
            if before == after:
                continue
            nth = seen[before, after] = seen.get((before, after), -1) + 1
            line = text.count("\n", 0, start) + 1
            found.append(Mutant(file, line, kind, start, end, new, before, after, nth))
    return found
