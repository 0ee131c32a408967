"""A profiled cell in a real shell: its lines are timed, and it does, shows and leaves what a plain cell does."""

import builtins
import gc
import re
from types import FunctionType

import pytest

from torchmagic.records.costs import CostsRecord
from torchmagic.records.profile import ProfileRecord
from torchmagic.session.session import session

HEADER = "%%torchprofile --panel none"
# Shown in each way that IPython knows; the first seven depend on it.
BODIES = (
    "1 + 1",
    "x = 5",
    "x = 5\nx;",
    "'only a text'",
    "None",
    "for i in range(3):\n    i",
    "def f():\n    return 3\nf()",
    "print('printed')\n[print(i) for i in range(2)]",
    "import asyncio\nawait asyncio.sleep(0, 'slept')",
    "import asyncio\nfor i in range(2):\n    await asyncio.sleep(0)\n    print(i)\ni",
    "if (n := 10) > 5:\n    print(n)\nn",
    "from math import *\nfloor(2.5)",
    "from __future__ import annotations\ndef f(x: nonsense): ...\nf.__annotations__",
    "import sys\nsys._getframe().f_lineno, sorted(name for name in locals() if 'torchmagic' in name)",
    "x: int = 3\n__annotations__",
    "%env TORCHMAGIC_TEST=3\nout = !echo two\nout",
    "def broken():\n    return 1 / 0\n\nbroken()",
    "x = [1, 2]\nfor i in range(3):\n    print(x[i])",
    "(lambda: [][1])()",
    "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('two') from error",
    "return 3",
    "for i in range(3) print(i)",
    "break",
    "\n".join(f"{' ' * i}for x{i} in range(1):" for i in range(19)) + f"\n{' ' * 19}print(x18)",
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def loaded(shell):
    gc.freeze()  # what an earlier test has compiled would keep functions from getting ranges
    shell.run_line_magic("load_ext", "torchmagic")
    yield shell
    gc.unfreeze()


def names_of_ours():
    return [name for name in dir(builtins) if "torchmagic" in name]


def profiled(shell, body, header=HEADER):
    """Run a profiled cell; IPython's account of it, and the runs of its lines by number."""
    result = shell.run_cell(f"{header}\n{body}", store_history=True)
    assert names_of_ours() == []
    costs = session.last.of(CostsRecord)
    lines = {(each.place.function, each.place.line): each for record in costs for each in record.lines}
    return result, lines


def calls(lines):
    return {key: line.calls for key, line in lines.items()}


def shown(capsys):
    out = capsys.readouterr()
    return re.sub(r"(ipython-input-\d+)-\w+", r"\1", ANSI.sub("", out.out)), ANSI.sub("", out.err)


def test_the_lines_of_the_cell_and_of_functions_from_earlier_cells_are_counted(loaded):
    loaded.run_cell("def double(x):\n    y = x * 2\n    return y")
    result, lines = profiled(loaded, "total = 0\nfor i in range(3):\n    total += double(i)\ntotal")
    assert result.result == 6
    assert calls(lines) == {
        ("<module>", 2): 1,
        ("<module>", 3): 1,
        ("<module>", 4): 3,
        ("<module>", 5): 1,
        ("double", 2): 3,
    }
    assert lines["<module>", 4].place.source == "total += double(i)"
    assert lines["<module>", 3].total >= lines["<module>", 4].total >= lines["double", 2].total


def test_functions_and_classes_of_the_cell_itself_are_timed(loaded):
    body = "class A:\n    def m(self):\n        x = 1\n        return x\ndef f(a):\n    return a.m() + 1\nf(A())"
    result, lines = profiled(loaded, body)
    assert result.result == 2
    assert calls(lines) == {("m", 4): 1, ("f", 7): 1, ("<module>", 8): 1}


def test_functions_of_a_file_that_the_cell_imports_are_timed(loaded, tmp_path, monkeypatch):
    (tmp_path / "imported_by_a_cell.py").write_text("def f(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    _, lines = profiled(loaded, "from imported_by_a_cell import f\nx = f(1)")
    assert calls(lines)["f", 2] == 1


def test_no_function_keeps_anything(loaded):
    loaded.run_cell(
        "def make(k):\n    def inner(x):\n        y = x + k\n        return y\n    return inner\nold = make(1)"
    )
    codes = loaded.user_ns["make"].__code__, loaded.user_ns["old"].__code__
    profiled(loaded, "new = make(2)\ndef late():\n    z = 1\n    return z\nlate(), old(1), new(1)")
    names = loaded.user_ns
    assert (names["make"].__code__, names["old"].__code__) == codes
    assert names["make"].__code__ is codes[0]
    assert names["new"].__code__ is names["old"].__code__ is codes[1]
    functions = [each for each in gc.get_objects() if type(each) is FunctionType]
    cells = [each for each in functions if "<ipython-input" in each.__code__.co_filename]
    assert {"make", "inner", "late"} <= {each.__name__ for each in cells}
    assert not any(hasattr(each, "__enter__") for function in cells for each in function.__code__.co_consts)


@pytest.mark.parametrize(
    ("body", "interactivity"),
    [(body, "last_expr") for body in BODIES]
    + [(body, mode) for body in BODIES[:7] for mode in ("all", "last", "last_expr_or_assign", "none")],
)
def test_a_profiled_cell_shows_what_a_plain_one_shows(body, interactivity, loaded, capsys):
    loaded.ast_node_interactivity = interactivity
    plain = loaded.run_cell(f"# {HEADER}\n{body}", store_history=False)
    expected = shown(capsys)
    result = loaded.run_cell(f"{HEADER}\n{body}", store_history=False)
    assert shown(capsys) == expected
    assert type(result.error_in_exec) is type(plain.error_in_exec)
    assert repr(result.result) == repr(plain.result)
    assert names_of_ours() == []


def test_a_cell_without_a_header_is_left_alone(loaded):
    tree = loaded.compile.ast_parse("x = 1\nget_ipython().find_line_magic('_torchmagic_profile')\n")
    before = [type(each) for each in tree.body]
    assert [type(each) for each in loaded.transform_ast(tree).body] == before


def test_a_cell_run_within_the_cell_keeps_its_names(loaded):
    body = "for i in range(2):\n    get_ipython().run_cell('y = 1')\n    get_ipython().run_cell('')\nz = y + i"
    result, lines = profiled(loaded, body)
    result.raise_error()
    assert loaded.user_ns["z"] == 2
    assert calls(lines) == {("<module>", 2): 1, ("<module>", 3): 2, ("<module>", 4): 2, ("<module>", 5): 1}


def test_both_headers_in_either_order_time_the_lines(loaded):
    for first, second in (("torchdebug --panel none", "torchprofile"), ("torchprofile", "torchdebug --panel none")):
        _, lines = profiled(loaded, f"%%{second}\nx = 1\nx + 1", header=f"%%{first}")
        assert calls(lines) == {("<module>", 3): 1, ("<module>", 4): 1}


def test_functions_keep_their_code_where_the_cell_compiles(loaded):
    loaded.run_cell("def f(x):\n    y = x * 2\n    return y + 1")
    body = "import torch\nfast = torch.compile(f, backend='eager', fullgraph=True)\nfast(torch.ones(2)).tolist()"
    result, lines = profiled(loaded, body)
    assert result.result == [3, 3]
    assert {function for function, _ in lines} == {"<module>"}
    assert any("torch.compile" in note for note in session.last.of(ProfileRecord)[0].notes)
    loaded.run_cell(
        "import gc\ntorch.compiler.reset()\ndel f, fast\n_ = gc.unfreeze(), gc.collect()"
    )  # torch tidies up


def test_unloading_takes_the_rewriting_out(loaded):
    before = len(loaded.ast_transformers)
    loaded.run_line_magic("reload_ext", "torchmagic")
    assert len(loaded.ast_transformers) == before == 1
    loaded.run_line_magic("unload_ext", "torchmagic")
    assert loaded.ast_transformers == []
