"""Source with ranges around its statements prints, returns and raises what it did, whatever it is made of."""

import ast
import contextlib
import io
import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.profiling.instrument import range_flow, range_functions, suspends

NAMES = "abc"
EXPRESSIONS = (
    *("a", "b + 1", "a * c", "a // b", "[a, b][c]", "f(b)", "(lambda x: x + a)(b)", "sum(x for x in range(b % 5))"),
    *("(c := a + 1)", "{'k': a}['k' if b else 'x']", "a if b > c else c", "len(str(a)) % 3"),
)
TESTS = ("a > b", "c % 2", "a == b", "f(c) > 2", "not b")
SIMPLE = (
    *("{name} = {value}", "{name} += {value}", "print({value})", "assert {test}, 'no'", "a, b = b, a", "del {name}"),
    *("{name}: int = {value}", "pass", "raise ValueError({value})", "{value}", "import math; {name} = math.floor(2.5)"),
)


class Recorder:
    """A range that notes which lines are under way."""

    def __init__(self):
        self.under_way = []
        self.deepest = 0
        self.lines = set()

    def at(self, line):
        return Entry(self, line)


class Entry:
    def __init__(self, recorder, line):
        self.recorder, self.line = recorder, line

    def __enter__(self):
        self.recorder.under_way.append(self.line)
        self.recorder.lines.add(self.line)
        self.recorder.deepest = max(self.recorder.deepest, len(self.recorder.under_way))

    def __exit__(self, *_):
        assert self.recorder.under_way.pop() == self.line


@st.composite
def statements(draw, depth=0, *, loop=False, function=False):  # noqa: C901, PLR0912 - a branch a statement
    """Draw a block of a few statements."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["simple"] * 4
        if depth < 4:
            kinds += ["if", "for", "while", "try", "with", "def", "match", "class"]
        if loop:
            kinds += ["break", "continue"]
        if function:
            kinds += ["return", "return"]
        kind = draw(st.sampled_from(kinds))
        name, value = draw(st.sampled_from(NAMES)), draw(st.sampled_from(EXPRESSIONS))
        test = draw(st.sampled_from(TESTS))

        def block(*, loop=loop, function=function):
            body = draw(statements(depth + 1, loop=loop, function=function))
            return [f"    {line}" for line in body]

        if kind == "simple":
            lines.append(draw(st.sampled_from(SIMPLE)).format(name=name, value=value, test=test))
        elif kind in ("break", "continue"):
            lines.append(kind)
        elif kind == "return":
            lines.append(f"return {value}")
        elif kind == "if":
            lines += [f"if {test}:", *block(), "elif a:", *block(), "else:", *block()]
        elif kind == "for":
            lines += [f"for {name} in range({draw(st.integers(0, 3))}):", *block(loop=True), "else:", *block()]
        elif kind == "while":
            steps = f"steps_{depth}"  # a loop inside another one counts by itself, or neither would end
            lines += [f"{steps} = 0", f"while {steps} < 3 and ({test}):", f"    {steps} += 1", *block(loop=True)]
        elif kind == "try":
            handled = draw(st.sampled_from(("ValueError", "Exception", "(NameError, ZeroDivisionError)")))
            # what leaves a finally block by itself only earns a SyntaxWarning in newer Pythons
            last = ["finally:", "    print('finally')", *block(loop=False, function=False)]
            lines += ["try:", *block(), f"except {handled} as error:", "    print(type(error))", *block(), *last]
        elif kind == "with":
            lines += ["with contextlib.suppress(KeyError, IndexError):", *block()]
        elif kind == "match":
            lines += [f"match {value}:", "    case 1 | 2:", *_in(block()), f"    case x if {test}:", *_in(block())]
        elif kind == "class":
            lines += [
                "class A:",
                "    kept = a",
                "    def m(self, b, c=1, a=2):",
                *_in(block(loop=False, function=True)),
            ]
            lines.append("print(A().m(1), A.kept)")
        else:
            lines += [f"def g(a, b={value}, c=3):", "    steps = 0", *block(loop=False, function=True)]
            lines.append(f"{name} = g({value})")
    return lines


def _in(lines):
    return [f"    {line}" for line in lines]


def run(tree, recorder):
    """Run a program; what it printed, left and raised."""
    names = {"f": lambda x: x + 2, "contextlib": contextlib, "a": 1, "b": 2, "c": 3, "RANGE": recorder.at}
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(tree, "<program>", "exec"), names)  # noqa: S102 - a drawn program
        except Exception as raised:  # noqa: BLE001 - whatever it raises
            lines = [(each.lineno, each.colno, each.name) for each in traceback.extract_tb(raised.__traceback__)[1:]]
            error = repr(raised), lines, repr(raised.__context__)
    left = {name: value for name, value in names.items() if isinstance(value, int)}
    return out.getvalue(), error, left


def called(line, _function):
    return ast.Call(ast.Name("RANGE", ast.Load()), [ast.Constant(line)], [])


@settings(max_examples=100, deadline=None)
@given(statements(), statements(function=True))
def test_programs_do_what_they_did(top, body):
    source = "\n".join(["def main(a, b, c):", "    steps = 0", *_in(body), "print(main(a, b, c))", "steps = 0", *top])
    plain = run(ast.parse(source), Recorder())
    tree, recorder = ast.parse(source), Recorder()
    range_functions(tree, called)
    tree.body = range_flow(tree.body, called, after=None)
    assert run(tree, recorder) == plain
    assert recorder.under_way == []
    assert recorder.lines


def lines_with_range(source):
    """Return the lines that get a range, in order."""
    lines = []
    tree = ast.parse(source)
    range_functions(tree, lambda line, _: lines.append(line) or ast.Constant(line))
    return lines


def in_function(body):
    return "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("'''Its docstring.'''\ny = 1", [3]),
        ("global y\npass\ny = 2\nreturn y", [4]),
        ("if x:\n    y = 1\nelif y:\n    y = 2\nelse:\n    y = 3", [2, 3, 4, 5, 7]),
        ("for y in x: print(y)", [2]),
        ("a = 1; b = 2", [2, 2]),
        ("y = (1,\n     2)", [2]),
        ("def g():\n    return x + 1", [3]),
        ("class A:\n    y = 1\n    def m(self):\n        self.y = 2", [5]),
        ("raise ValueError(x)", []),
        ("return x", []),
        ("return x.y", [2]),
        ("y: int\nz: int = 3", [3]),
        ("for y in x:\n    z = y\n    yield z\n    w = z", [3, 5]),
        ("y = (yield x)\nif y:\n    z = 1", [3, 4]),
        ("try:\n    y = 1\nexcept ValueError:\n    y = 2\nelse:\n    y = 3\nfinally:\n    y = 4", [2, 3, 5, 7, 9]),
        ("match x:\n    case 1:\n        y = 1\n    case _:\n        y = 2", [2, 4, 6]),
        ("while x:\n    break", [2]),
        ("with x as y:\n    z = lambda: (yield)", [2, 3]),
    ],
)
def test_which_lines_get_a_range(body, expected):
    assert lines_with_range(in_function(body)) == expected


def test_a_coroutine_is_never_suspended_within_a_range():
    source = (
        "async def f(x):\n    y = x + 1\n    await y\n    async with x:\n        z = 1\n    w = [a async for a in x]\n"
    )
    assert lines_with_range(source) == [2, 5]


@pytest.mark.parametrize("code", ["[x for x in y]", "lambda: (yield)", "(x for x in y)", "def f(): yield", "f(x)"])
def test_what_runs_through_suspends_nothing(code):
    assert not suspends(ast.parse(code).body[0])


@pytest.mark.parametrize("code", ["await x", "(yield)", "x = yield from y", "[x async for x in y]", "f(a=await b)"])
def test_what_waits_suspends(code):
    body = ast.parse(f"async def f():\n    {code}" if "yield" not in code else f"def f():\n    {code}").body[0].body
    assert suspends(body[0])


def test_only_so_many_ranges_lie_within_each_other():
    source = (
        "def f():\n" + "".join(f"{' ' * (4 + 4 * i)}for x{i} in range(1):\n" for i in range(6)) + f"{' ' * 28}y = 1\n"
    )
    tree = ast.parse(source)
    range_functions(tree, called, deepest=3)
    tree.body += ast.parse("f()").body
    recorder = Recorder()
    run(tree, recorder)
    assert (recorder.deepest, recorder.lines) == (3, {2, 3, 4})
