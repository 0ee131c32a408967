"""This file tests that a program which ``run`` runs is the one that Python runs; these need no torch."""

import signal
import textwrap

import pytest

RUN = ("-m", "torchmagic", "run")
UNSEEN = "did not import torch: there was nothing to watch\n"
WORLD = """\
import sys
print(sorted(globals()), __name__, __file__, __package__, __spec__ and __spec__.name, __builtins__)
print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals(), "torch" in sys.modules)
print([name for name in sys.modules if name.startswith("torchmagic.") and name.count(".") == 1])
"""


def own(text):
    """Return what a program wrote itself."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("torchmagic:"))


@pytest.mark.parametrize("arguments", [("--lr", "3", "--", "-x", "--level"), ()])
def test_a_script_sees_the_world_that_python_shows_it(arguments, python, tmp_path):
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "g.py").write_text(WORLD.rpartition("print([")[0])
    plain = python("sub/g.py", *arguments, cwd=tmp_path)
    watched = python(*RUN, "--level", "basic", "sub/g.py", *arguments, cwd=tmp_path)
    assert watched.stdout == plain.stdout
    assert watched.stderr == f"torchmagic: g.py {UNSEEN}"
    assert plain.returncode == watched.returncode == 0


def test_a_module_and_a_package_as_well(python, tmp_path):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(WORLD.rpartition("print([")[0])
    (package / "part.py").write_text(WORLD.rpartition("print([")[0])
    for name in ("pack", "pack.part"):
        plain = python("-m", name, "a", "--quiet", cwd=tmp_path)
        watched = python(*RUN, "-m", name, "a", "--quiet", cwd=tmp_path)
        assert watched.stdout == plain.stdout, name
        assert watched.returncode == 0


def test_what_imports_no_torch_loads_next_to_nothing_of_ours(python, tmp_path):
    (tmp_path / "g.py").write_text(WORLD)
    rooms = python(*RUN, "g.py", cwd=tmp_path).stdout.splitlines()[-1]
    assert rooms == "['torchmagic.commands', 'torchmagic.probes', 'torchmagic.debuggers']"


ENDS = {
    "status": "import sys; sys.exit(7)",
    "none": "import sys; sys.exit()",
    "text": "import sys; sys.exit('a word')",
    "raised": "def f():\n    raise ValueError('planted')\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    f()",
    "interrupted": "import atexit; atexit.register(print, 'atexit'); raise KeyboardInterrupt",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "syntax": "x = 1\ndef f(:\n",
    "hook": "import sys; sys.excepthook = lambda *error: print('my hook', error[0].__name__); 1 / 0",
    "forked": "import os, sys\nif not os.fork():\n    sys.exit(4)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "pickled": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('early')",
    "last": "import atexit, sys\natexit.register(lambda: print(sys.last_type.__name__, sys.last_value))\n1 / 0",
}


def test_a_program_ends_as_without_us(begin, tmp_path):
    started = {}
    for name, source in ENDS.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        words = (f"{name}.py",)
        started[name] = begin(*words, cwd=tmp_path), begin(*RUN, *words, cwd=tmp_path)
    found = {}
    for name, pair in started.items():
        plain, watched = ((process.communicate(timeout=300), process.returncode) for process in pair)
        assert (watched[0][0], watched[1]) == (plain[0][0], plain[1]), name
        assert own(watched[0][1]) == plain[0][1], name
        found[name] = watched[1]
    assert found["interrupted"] == -signal.SIGINT
    assert found["terminated"] == -signal.SIGTERM
    assert (found["status"], found["raised"], found["text"]) == (7, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.py"], "torchmagic: nowhere.py does not exist; run -m MODULE runs a module by its name"),
        (["."], "torchmagic: . is a folder, and a script is wanted; run -m MODULE runs a module by its name"),
        (["-m", "no_such.thing"], "torchmagic: there is no module no_such.thing to run"),
        (["--sarif", "no/where.sarif", "a.py"], "torchmagic: cannot write no/where.sarif: its folder does not exist"),
        (["--fail-on", "eror", "a.py"], "did you mean 'error'?"),
        (["--ignore", "ded-relu", "a.py"], "torchmagic: there is no rule 'ded-relu'; did you mean 'dead-relu'?"),
        (["--level", "expart", "a.py"], "invalid choice: 'expart'"),
        ([], "the following arguments are required: script"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_before_anything_runs(arguments, says, tmp_path, monkeypatch, capsys):
    from torchmagic.__main__ import main  # noqa: PLC0415 - the process of the tests is its process

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("print('it ran')")
    monkeypatch.setattr("sys.argv", ["torchmagic"])
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path[1:]])
    try:
        status = main(["run", *arguments])
    except SystemExit as error:
        status = error.code
    told = capsys.readouterr()
    assert status == 2
    assert says in told.err
    assert "it ran" not in told.out
    assert "Traceback" not in told.err
