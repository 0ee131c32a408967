"""Code with ranges does what it did, every line of it is counted, and nothing stays."""

import ast
import inspect
import linecache
import pickle
import re
import sys
import textwrap
import threading
import traceback
from types import SimpleNamespace

import pytest
import torch

from torchmagic.profiling.lines import Lines
from torchmagic.profiling.ranged_functions import MOST_LINES

PROGRAMS = {
    "loops": """
        def main():
            seen = []
            for i in range(9):
                if i == 2:
                    continue
                if i == 5:
                    break
                while True:
                    i += 1
                    if i % 2:
                        break
                else:
                    seen.append("never")
                seen.append(i)
            else:
                seen.append("not broken")
            for _ in ():
                pass
            else:
                seen.append("else")
            return seen
    """,
    "return out of blocks": """
        def find(rows, wanted, log):
            for row in rows:
                for each in row:
                    try:
                        if each == wanted:
                            return each
                    finally:
                        log.append("finally")
            return None

        def main():
            rows, log = [[1, 2], [3]], []
            return find(rows, 3, log), find(rows, 9, log), log
    """,
    "try and finally": """
        def main():
            log = []
            for i in range(4):
                try:
                    log.append(12 // (i - 1))
                    if i == 2:
                        continue
                except ZeroDivisionError as error:
                    log.append(str(error))
                else:
                    log.append("fine")
                finally:
                    log.append("done")
            try:
                try:
                    raise ExceptionGroup("all", [ValueError(1), TypeError(2)])
                except* ValueError as group:
                    log.append(group.exceptions[0].args)
            except BaseException as rest:
                log.append(repr(rest))
            return log
    """,
    "context managers": """
        import contextlib

        @contextlib.contextmanager
        def told(log, name):
            log.append(name)
            try:
                yield name
            finally:
                log.append("-" + name)

        def main():
            log = []
            with told(log, "a") as a, told(log, a + "b"):
                log.append("in")
                with contextlib.suppress(KeyError):
                    {}["x"]
            return log
    """,
    "closures": """
        def counter(start):
            total = start
            def add(n=1):
                nonlocal total
                total += n
                return total
            def twice():
                return add() + add()
            return add, twice

        def main():
            add, twice = counter(3)
            return add(), twice(), add(5), [f() for f in [lambda x=x: x * total for x in range(3)]]

        total = 7
    """,
    "globals and locals": """
        number = 1

        def bump():
            global number
            number += 1
            inside = number
            return sorted(locals().items()), inside

        def main():
            here = 3
            names = sorted(locals())
            exec("there = here + 1")
            return bump(), names, eval("here + 1"), sorted(vars()), number
    """,
    "classes": """
        import functools

        class A:
            __slots__ = ("__secret", "log")
            made = []

            def __init__(self):
                self.__secret = 4
                self.log = []
                A.made.append(type(self).__name__)

            @property
            def secret(self):
                value = self.__secret
                return value + 1

            @secret.setter
            def secret(self, value):
                self.__secret = value

            @staticmethod
            def double(x):
                y = x * 2
                return y

            @classmethod
            def named(cls):
                name = cls.__name__
                return name + "!"

            def __call__(self, x):
                return self.double(x) + __class__.double(1)

        class B(A):
            __slots__ = ()

            def __call__(self, x):
                before = super().__call__(x)
                return before + super(B, self).double(x)

            @functools.cached_property
            def never(self):
                raise AttributeError("never")

        def main():
            b = B()
            b.secret = 10
            class Inside(B):
                def __call__(self, x):
                    return "inside", super().__call__(x)
            return b(3), b.secret, B.named(), b._A__secret, A.made, Inside()(1), Inside.__qualname__
    """,
    "decorators": """
        import functools

        def logged(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                result = function(*args, **kwargs)
                return result, function.__name__
            return wrapper

        @logged
        def add(a, /, b=2, *, c=3):
            '''Add.'''
            return a + b + c

        @functools.lru_cache
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        def main():
            return add(1), add(1, c=0), add.__doc__, fib(15), fib.cache_info()
    """,
    "recursion": """
        def depth(n):
            if n == 0:
                return 0
            below = depth(n - 1)
            return below + 1

        def main():
            return depth(100)
    """,
    "match": """
        from dataclasses import dataclass, field

        @dataclass(order=True)
        class Point:
            x: int
            y: int = 0
            tags: list = field(default_factory=list)

            def __post_init__(self):
                self.tags.append(self.x)

        def name(thing):
            match thing:
                case Point(x=0, y=0):
                    return "origin"
                case Point(x, y) if x == y:
                    result = f"diagonal {x}"
                case [first, *rest]:
                    result = first, rest
                case {"a": a, **more}:
                    result = a, more
                case str() | bytes():
                    result = "text"
                case _:
                    return None
            return result

        def main():
            things = [Point(0), Point(2, 2), [1, 2, 3], {"a": 1, "b": 2}, "s", 4]
            return [name(each) for each in things], sorted([Point(2), Point(1, 5)])
    """,
    "expressions": """
        def main():
            numbers = [n * n for n in range(5) if n % 2]
            if (most := max(numbers)) > 3:
                numbers += [most]
            total: float = 0.0
            unset: int
            a, *b = numbers; c = b[:]
            del c[0]
            assert a, "no"
            import math as m
            from os.path import join
            return numbers, total, a, b, c, m.pi, join("x", "y"), {k: v for k, v in zip("ab", (0.0, -0.0))}, sum(
                n for n in numbers
            )
    """,
    "generators": """
        def numbers(n):
            got = []
            for i in range(n):
                doubled = i * 2
                try:
                    sent = yield doubled
                finally:
                    got.append(i)
                if sent:
                    got.append(sent)
            return got

        def through():
            result = yield from numbers(3)
            yield result

        def main():
            g = numbers(3)
            first = [next(g), g.send("x")]
            g.close()
            return first, list(through())
    """,
    "coroutines": """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        async def one(n, log):
            log.append(n)
            await asyncio.sleep(0)
            square = n * n
            async with asyncio.Lock():
                log.append(square)
            return square

        async def agen(n):
            for i in range(n):
                twice = i * 2
                yield twice

        async def all_of_them():
            log = []
            results = await asyncio.gather(*(one(n, log) for n in range(3)))
            doubled = [each async for each in agen(3)]
            async for each in agen(2):
                doubled.append(each)
            return results, log, doubled

        def main():
            with ThreadPoolExecutor(1) as pool:  # a loop may be running in this thread
                return pool.submit(asyncio.run, all_of_them()).result()
    """,
    "an error": """
        class Odd(Exception):
            pass

        def inner(x):
            y = x + 1
            return (y *
                    2 / (x -
                         x))

        def outer(x):
            for i in range(2):
                with open("/dev/null") as f:
                    try:
                        value = inner(x) + inner(x)
                    except ZeroDivisionError as error:
                        raise Odd("one") from error

        def main():
            result = [outer(n) for n in (1, 2)]
            return result
    """,
    "errors within errors": """
        def main():
            try:
                {}["x"]
            except KeyError:
                try:
                    undefined_name
                finally:
                    int("many")
    """,
    "raise again": """
        import sys

        def main():
            for i in range(3):
                try:
                    [][i]
                except IndexError:
                    if i == 1:
                        assert sys.exc_info()[0] is IndexError
                        raise
    """,
    "deeply nested": "def main():\n    found = []\n"
    + "".join(f"{' ' * (4 + 4 * i)}for x{i} in range(1):\n" for i in range(17))
    + f"{' ' * 72}found.append(x16)\n    return found\n",
}


def source_of(name):
    return textwrap.dedent(PROGRAMS[name]).lstrip("\n")


# Programs that are to end in an error; all others that do would compare one failure with another.
FAILING = {"an error", "errors within errors", "raise again"}


def outcome(call):
    """Return what a call gives; of an error the traceback, below the line that calls."""
    try:
        return call()
    except Exception:  # noqa: BLE001 - whatever it raises
        return traceback.format_exc().partition("\n")[2].partition("return call()\n")[2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_with_ranges_does_what_it_did(name, load, timed, functions_of):
    expected = outcome(load(source_of(name))["main"])
    assert isinstance(expected, str) is (name in FAILING)
    names = load(source_of(name))
    functions = functions_of(names["FILE"])
    timed.lines.begin(names)
    found = outcome(names["main"])
    assert timed.counts(names["FILE"])
    assert timed.ranges.standing == []
    timed.lines.end()
    assert without_file(found) == without_file(expected)
    assert all(function.__code__ is code for function, code in functions)
    assert not any(holds_range(code) for _, code in functions_of(names["FILE"]))


def without_file(value):
    return re.sub(r"/tmp/ipykernel_0/\d+\.py", "FILE", repr(value))  # noqa: S108 - a name, no file


def holds_range(code):
    inside = [each for each in code.co_consts if inspect.iscode(each)]
    return any(hasattr(each, "__enter__") for each in code.co_consts) or any(map(holds_range, inside))


TRAIN = """\
def step(x):
    '''Double it.'''
    if x > 1:
        x = x - 1
        total = 0
        for i in range(3): total += i
    return x


def train(n):
    for i in range(n):
        step(i); step(0)
    return [
        step(n),
    ]
"""


def test_every_run_of_a_line_is_counted(load, timed):
    names = load(TRAIN)
    timed.lines.begin(names)
    names["train"](4)
    assert timed.counts(names["FILE"]) == {3: 9, 4: 3, 5: 3, 6: 3, 11: 1, 12: 8, 13: 1}
    places = {place.line: place for place in timed.lines.places if place.file == names["FILE"]}
    assert (places[12].source, places[12].function) == ("step(i); step(0)", "train")
    assert not places.keys() & {1, 2, 7, 8, 9, 10, 14, 15}


def test_times_are_those_of_the_profiler(load, timed):
    names = load("def work(x):\n    y = x @ x\n    return y + 1\n")
    timed.lines.begin(names)
    with torch.profiler.profile() as profiler:
        timed.ranges.record()
        names["work"](torch.ones(4, 4))
        timed.ranges.pause()
    events = profiler.profiler.kineto_results.events()
    ranges = [each for each in events if each.name().startswith("tm:l:")]
    places = [timed.lines.places[int(each.name().removeprefix("tm:l:"))].line for each in ranges]
    inside = [[e.name() for e in events if r.start_ns() <= e.start_ns() < r.end_ns() and e is not r] for r in ranges]
    assert places == [2, 3]
    assert ["aten::mm" in each for each in inside] == [True, False]
    assert ["aten::add" in each for each in inside] == [False, True]


def test_functions_made_meanwhile_get_back_what_they_would_have_had(load, timed):
    names = load("def make(k):\n    def inner(x):\n        y = x + k\n        return y\n    return inner\n")
    before = names["make"](1)
    timed.lines.begin(names)
    meanwhile = names["make"](2)
    assert meanwhile.__code__ is before.__code__  # both have ranges
    assert holds_range(before.__code__)
    timed.lines.end()
    later = names["make"](3)
    assert before.__code__ is meanwhile.__code__ is later.__code__
    assert not holds_range(later.__code__)
    assert [f(10) for f in (before, meanwhile, later)] == [11, 12, 13]


def test_a_function_that_outlives_the_end_in_a_frame_does_no_harm(load, timed):
    names = load("def work(go, done):\n    for _ in range(2):\n        done.append(go.wait(60))\n")
    go, done = threading.Event(), []
    timed.lines.begin(names)
    thread = threading.Thread(target=names["work"], args=(go, done))
    thread.start()
    timed.lines.end()
    timed.ranges.shut()
    go.set()
    thread.join(60)
    assert done == [True, True]


def test_begin_and_end_may_be_called_twice(load, timed):
    names = load(TRAIN)
    code = names["step"].__code__
    timed.lines.begin(names)
    ranged = names["step"].__code__
    timed.lines.begin(names)
    assert names["step"].__code__ is ranged is not code
    timed.lines.end()
    timed.lines.end()
    assert names["step"].__code__ is code
    timed.lines.begin(names)
    assert names["step"].__code__ is ranged


def test_source_and_pickles_of_functions_stay(load, timed):
    names = load(TRAIN)
    timed.lines.begin(names)
    assert inspect.getsource(names["step"]) == TRAIN.partition("\n\n\n")[0] + "\n"
    assert inspect.signature(names["train"]).parameters.keys() == {"n"}
    module = sys.modules["lines_of_a_test"] = type(sys)("lines_of_a_test")
    try:
        module.step = names["step"]
        names["step"].__module__ = "lines_of_a_test"
        assert pickle.loads(pickle.dumps(names["step"])) is names["step"]  # noqa: S301 - its own
    finally:
        del sys.modules["lines_of_a_test"]


@pytest.mark.parametrize(
    "changed", ["def f(x):\n    return x + 2\n", "\ndef f(x):\n    return x + 1\n", "def f(x:\n", "", "def f(x): ..."]
)
def test_a_function_whose_source_has_changed_is_left_alone(changed, load, timed):
    names = load("def f(x):\n    return x + 1\n")
    code = names["f"].__code__
    linecache.cache[names["FILE"]] = (len(changed), None, changed.splitlines(keepends=True), names["FILE"])
    timed.lines.begin(names)
    assert names["f"].__code__ is code
    assert names["f"](1) == 2


def test_functions_of_local_files_have_ranges_and_those_of_libraries_have_none(tmp_path, monkeypatch, timed):
    (tmp_path / "site-packages").mkdir()
    for folder, name in ((tmp_path, "local_lines"), (tmp_path / "site-packages", "library_lines")):
        (folder / f"{name}.py").write_text("from __future__ import annotations\ndef f(x: int):\n    return x + 1\n")
        monkeypatch.syspath_prepend(folder)
    import library_lines  # noqa: PLC0415 - they are made here
    import local_lines  # noqa: PLC0415

    relu, before = torch.nn.functional.relu.__code__, library_lines.f.__code__
    timed.lines.begin({"local": local_lines, "library": library_lines})
    local_lines.f(1)
    assert timed.counts(local_lines.__file__) == {3: 1}
    assert library_lines.f.__code__ is before
    assert torch.nn.functional.relu.__code__ is relu


def test_functions_are_left_alone_while_a_tracer_is_on(load, timed):
    names = load(TRAIN)
    code, before = names["step"].__code__, sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        timed.lines.begin(names)
    finally:
        sys.settrace(before)
    assert names["step"].__code__ is code
    assert "tracer" in timed.lines.notes[0]


def test_without_ranges_nothing_is_counted(load, timed):
    names = load(TRAIN)
    names["train"](3)
    assert timed.counts(names["FILE"]) == {}


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_what_traces_a_function_finds_what_it_does(load, timed):
    names = load("def f(x):\n    x = x * 2\n    return x + 1\n")
    timed.lines.begin(names)
    traced, graph = torch.jit.trace(names["f"], torch.ones(2)), torch.fx.symbolic_trace(names["f"])
    timed.lines.end()
    assert torch.equal(traced(torch.ones(2)), torch.full((2,), 3.0))
    assert torch.equal(graph(torch.ones(2)), torch.full((2,), 3.0))


def test_lines_that_nobody_times_cost_no_name(load):
    lines = Lines()
    names = load(TRAIN)
    lines.begin(names)
    assert names["train"](3) == [2]
    lines.end()
    assert names.keys() == {"__name__", "__builtins__", "FILE", "step", "train"}


def test_functions_are_left_alone_while_a_front_end_has_set_breakpoints(load, timed, monkeypatch):
    debugger = SimpleNamespace(breakpoints={})
    monkeypatch.setitem(sys.modules, "pydevd", SimpleNamespace(get_global_debugger=lambda: debugger))
    names = load(TRAIN)
    code = names["step"].__code__
    debugger.breakpoints["cell"] = {3: "a breakpoint"}
    timed.lines.begin(names)
    assert names["step"].__code__ is code
    assert "breakpoints" in timed.lines.notes[0]
    attached = Lines()
    debugger.breakpoints.clear()
    attached.begin(names)
    assert names["step"].__code__ is not code
    attached.end()


def test_more_source_than_can_be_compiled_in_time_is_left_out_and_said(load, timed):
    small, large = load(TRAIN), load("def f(x):\n    return x + 1\n" + "\n" * MOST_LINES)
    timed.lines.begin({})
    large["f"](small["step"](2))
    assert timed.counts(large["FILE"]) == {}
    assert ["left out: " in note for note in timed.lines.notes] == [True]


def test_a_function_that_imports_in_its_own_cell_is_recognised(load, timed):
    """IPython compiles the statements of a cell one by one, and the compiler treats imported names in its own way."""
    names = load("pass")
    lines = ["import math\n", "def f(x):\n", "    y = math.floor(x)\n", "    return y\n"]
    linecache.cache[names["FILE"]] = (1, None, lines, names["FILE"])
    for number, part in ((1, lines[:1]), (2, lines[1:])):
        tree = ast.increment_lineno(ast.parse("".join(part)), number - 1)
        exec(compile(tree, names["FILE"], "exec", dont_inherit=True), names)  # noqa: S102 - as IPython does
    timed.lines.begin(names)
    assert names["f"](2.5) == 2
    assert timed.counts(names["FILE"]) == {3: 1}
