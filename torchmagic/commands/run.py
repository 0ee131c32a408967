"""This file is ``python -m torchmagic run``: a program that knows nothing of torchmagic, watched from end to end."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchmagic.commands.exit_codes import OK
from torchmagic.commands.interrupted import Interrupted
from torchmagic.commands.program import Program, module, script
from torchmagic.commands.undisturbed import undisturbed
from torchmagic.commands.words import add_fail_on, complain, sentence
from torchmagic.probes.arrival import Arrival

if TYPE_CHECKING:
    from torchmagic.debuggers.watching import Watch

# Options that name a file, and the form that each makes.
FORMS = {"sarif": "sarif", "junit": "junit", "report": "html", "json": "json"}
# Programs, and modules, that start others.
LAUNCHERS = frozenset({"torchrun", "accelerate", "torch.distributed.run", "torch.distributed.launch"})
LEVELS = ("basic", "intermediate", "advanced", "expert")


def add(commands: Any) -> None:
    """Add the command."""
    told = "run a script and watch it; its output, arguments and exit status stay its own"
    run = commands.add_parser(
        "run", help=told, description=f"{sentence(told)}. Findings go to stderr.", allow_abbrev=False
    )
    run.add_argument("--level", choices=LEVELS, default="advanced", help="how closely to watch (advanced)")
    run.add_argument("--ignore", default="", metavar="RULES", help="say nothing of these rules, with commas between")
    run.add_argument("--name", default="", metavar="LABEL", help="label of the run; the script's name without it")
    run.add_argument("--no-save", action="store_true", help="leave the run out of the store in .torchmagic")
    run.add_argument("--quiet", action="store_true", help="say nothing where nothing was found")
    add_fail_on(run)
    for option, what in (
        ("sarif", "findings as SARIF 2.1.0, for code scanners"),
        ("junit", "findings as JUnit XML, for CI"),
        ("report", "the run as one HTML page"),
        ("json", "the whole run, for report, compare and torchmagic.load"),
    ):
        run.add_argument(f"--{option}", type=Path, metavar="FILE", help=f"write {what}")
    run.add_argument("-m", dest="is_module", action="store_true", help="the script is a module's name, as of python -m")
    run.add_argument("script", help="the script, or the module")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments; all that follows it is its own")
    run.set_defaults(deed=_run)


def _run(chosen: argparse.Namespace) -> int:
    try:
        _check_places(chosen)
        _check_program(chosen)
        settings = _settings(chosen)
        program = (module if chosen.is_module else script)(chosen.script, chosen.arguments)
    except (ValueError, OSError) as error:
        return complain(error)
    return _watch(program, settings, chosen)


def _check_places(chosen: argparse.Namespace) -> None:
    """Say before hours of training, and not behind them, that a file cannot be written."""
    for path in _files(chosen).values():
        place = path.expanduser().absolute()
        if not place.parent.is_dir():
            raise ValueError(f"cannot write {path}: its folder does not exist; make it first")
        if place.is_dir():
            raise ValueError(f"cannot write {path}: it is a folder; name a file in it")


def _check_program(chosen: argparse.Namespace) -> None:
    """Say that a launcher has nothing to watch: its ranks are processes of their own."""
    if chosen.script in LAUNCHERS or (not chosen.is_module and Path(chosen.script).name in LAUNCHERS):
        raise ValueError(
            f"{chosen.script} starts ranks and trains nothing itself; let it start the watched program: "
            "torchrun --nproc-per-node 2 -m torchmagic run train.py"
        )


def _files(chosen: argparse.Namespace) -> dict[str, Path]:
    """Return the files that were asked for, by the form of each."""
    return {form: getattr(chosen, option) for option, form in FORMS.items() if getattr(chosen, option) is not None}


def _settings(chosen: argparse.Namespace) -> dict[str, Any]:
    from torchmagic.debuggers.settings import Settings  # noqa: PLC0415 - other commands do not need it

    settings = {
        "level": chosen.level,
        "ignore": chosen.ignore,
        "name": chosen.name or (chosen.script if chosen.is_module else Path(chosen.script).name),
        "save": not chosen.no_save,
        "fail_on": chosen.fail_on,
    }
    return Settings.from_dict(settings).to_dict()


def _watch(program: Program, settings: dict[str, Any], chosen: argparse.Namespace) -> int:
    process, interrupted = os.getpid(), Interrupted()
    watches: list[Watch] = []
    arrival = Arrival(partial(_begin, program, settings, watches))
    arrival.wait()
    error = program.run()
    arrival.leave()
    status = OK
    with undisturbed(watches):
        if error is not None and not isinstance(error, SystemExit):
            _show(error, has_our_lines=bool(watches))
        if os.getpid() == process:  # a child that a fork left in the program's own code is not the run
            status = _end(settings, watches, None if _is_well(error) else error, chosen)
    if error is None or (_is_well(error) and status != OK):
        return status
    if not isinstance(error, SystemExit):  # Python itself sets the exit status, and is not to write it once more
        sys.excepthook = lambda *_: None
    if isinstance(error, KeyboardInterrupt):
        interrupted.end_so()
    raise error


def _is_well(error: BaseException | None) -> bool:
    return error is None or (isinstance(error, SystemExit) and error.code in (None, 0))


def _begin(program: Program, settings: dict[str, Any], watches: "list[Watch]") -> None:
    try:
        from torchmagic.commands.watched import begin  # noqa: PLC0415 - torch waits until the program wants it

        watches.append(begin(program, settings))
    except Exception as error:  # noqa: BLE001 - the wall: our failure is never the program's
        complain(f"{program.name} is not watched ({type(error).__name__}: {error})")


def _end(
    settings: dict[str, Any], watches: "list[Watch]", error: BaseException | None, chosen: argparse.Namespace
) -> int:
    files = _files(chosen)
    if not watches:
        complain(f"{settings['name']} did not import torch: there was nothing to watch")
        if not files:
            return OK
    from torchmagic.commands.outcome import tell, unseen, write_all  # noqa: PLC0415 - as above

    if not watches:
        return write_all(unseen(settings, error), files)
    from torchmagic.commands.watched import end  # noqa: PLC0415 - as above
    from torchmagic.session.ranked import is_shown  # noqa: PLC0415 - as above

    run = end(watches[0], error)
    if not watches[0].rank.speaks(error):
        return OK
    status = write_all(run, files)
    return max(status, tell(run, fail_on=settings["fail_on"], quiet=chosen.quiet)) if is_shown(run) else status


def _show(error: BaseException, *, has_our_lines: bool) -> None:
    """Show an exception as Python does at the end of a program, before anything of ours is written."""
    if has_our_lines:
        from torchmagic.commands.watched import hide_our_lines  # noqa: PLC0415 - as above

        hide_our_lines(error)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as failure:  # noqa: BLE001 - a hook of the program's own that fails hides nothing
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(failure), failure, failure.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
