"""This file is a program as Python itself would run it: a script, or a module by its name."""

import builtins
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that is ready to begin.

    Args:
        name: What it is called on the command line.
        file: Absolute path of its source.
        main: The module ``__main__`` in which it runs.
        code: Its code, or the SyntaxError that there is instead.
        source: Its text; empty where that cannot be read.
    """

    name: str
    file: str
    main: ModuleType
    code: CodeType | SyntaxError
    source: str = ""

    def run(self) -> BaseException | None:
        """Run it; return what ended it, with its own lines in the traceback alone, or None."""
        try:
            if isinstance(self.code, SyntaxError):
                return self.code.with_traceback(None)
            exec(self.code, self.main.__dict__)  # noqa: S102 - this is what was asked for
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller hands it on
            own = error.__traceback__.tb_next if error.__traceback__ else None
            return error.with_traceback(own)
        return None


def script(path: str, arguments: Sequence[str]) -> Program:
    """Return a script, as ``python PATH`` would run it; the process's arguments and path are its own from here on.

    Raises:
        ValueError: If there is no such file.
        OSError: If it cannot be read.
    """
    if not Path(path).is_file():
        what = "is a folder, and a script is wanted" if Path(path).is_dir() else "does not exist"
        raise ValueError(f"{path} {what}; run -m MODULE runs a module by its name")
    file = str(Path(path).absolute())
    text = Path(file).read_bytes()
    _become([path, *arguments], str(Path(file).resolve().parent))
    main = _main(file, SourceFileLoader("__main__", file), None)
    return Program(name=path, file=file, main=main, code=_compiled(text, file), source=_decoded(text))


def module(name: str, arguments: Sequence[str]) -> Program:
    """Return a module, as ``python -m NAME`` would run it; a package is run by its ``__main__``.

    Raises:
        ValueError: If there is no such module, or it has no code to run.
    """
    _become(["-m", *arguments], str(Path.cwd()))
    spec = _spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _spec(f"{name}.__main__")
    if spec is None:
        raise ValueError(f"there is no module {name} to run")
    get_code = getattr(spec.loader, "get_code", None)
    try:
        code = get_code(spec.name) if get_code is not None else None
    except SyntaxError as error:
        code = error
    if code is None:
        raise ValueError(f"module {name} has no Python code to run")
    sys.argv[0] = file = spec.origin or name
    main = _main(file, spec.loader, spec)
    source = _decoded(Path(file).read_bytes()) if Path(file).is_file() else ""
    return Program(name=name, file=file, main=main, code=code, source=source)


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ImportError as error:  # of a package around it
        raise ValueError(f"there is no module {name} to run ({error})") from error


def _become(arguments: list[str], folder: str) -> None:
    sys.argv[:] = arguments
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _main(file: str, loader: Any, spec: ModuleSpec | None) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(
        __annotations__={},
        __builtins__=builtins,
        __cached__=spec.cached if spec is not None else None,
        __file__=file,
        __loader__=loader,
        __package__=spec.parent if spec is not None else None,
        __spec__=spec,
    )
    sys.modules["__main__"] = main
    return main


def _compiled(text: bytes, file: str) -> CodeType | SyntaxError:
    try:
        return compile(text, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # a null byte is a ValueError before Python 3.12
        return error if isinstance(error, SyntaxError) else SyntaxError(str(error))


def _decoded(text: bytes) -> str:
    try:
        return importlib.util.decode_source(text)
    except (SyntaxError, UnicodeDecodeError):
        return text.decode(os.device_encoding(0) or "utf-8", "replace")
