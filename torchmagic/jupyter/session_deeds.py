"""This file is the deeds of ``%torchsession``: what each of its words asks of the session, and what is then said."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.display import display

from torchmagic.analyses.counting import counted
from torchmagic.api.one_server import begin, end
from torchmagic.jupyter.session_parsing import Request
from torchmagic.jupyter.session_words import OWN_LEVEL, STOP

if TYPE_CHECKING:
    from torchmagic.api.session import PublicSession
    from torchmagic.api.shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a word was typed: the configured settings, and whether widgets can be shown."""

    defaults: Mapping[str, Any]
    has_front_end: bool


Deed = Callable[["PublicSession", Request, Place], None]


def _history(session: "PublicSession", request: Request, place: Place) -> None:
    _display(session.history(everything="--all" in request.flags), place)


def _show(session: "PublicSession", request: Request, place: Place) -> None:
    shown = session.show("".join(request.places) or "last")
    if not place.has_front_end:
        print(shown)  # noqa: T201 - the output of the cell
        return
    from torchmagic.jupyter.replay import replay  # noqa: PLC0415 - widgets wait for the first panel

    replay(shown)


def _compare(session: "PublicSession", request: Request, place: Place) -> None:
    _display(session.compare(*request.places), place)


def _plot(session: "PublicSession", request: Request, place: Place) -> None:
    runs = request.flags.get("--runs")
    _display(session.plot(request.places[0], parameter=request.value("--parameter"), runs=runs), place)


def _note(session: "PublicSession", request: Request, _place: Place) -> None:
    which, text = (*request.places, "")[:2]
    session.note(which, text)
    _say(f"{_named(session, which)}: {'noted' if text else 'the note is removed'}")


def _tag(session: "PublicSession", request: Request, _place: Place) -> None:
    which, *tags = request.places
    left = session.tag(which, *_listed(tuple(tags)))
    _say(f"{_named(session, which)}: {'tagged ' + ', '.join(left) if left else 'no tags'}")


def _export(session: "PublicSession", request: Request, _place: Place) -> None:
    path = session.export(request.places[0], to=request.value("--to"), runs=request.flags.get("--runs"))
    _say(f"written to {path}")


def _enable(session: "PublicSession", request: Request, place: Place) -> None:
    session.enable(*_listed(request.places))
    _say(_switched(session, place))


def _disable(session: "PublicSession", request: Request, place: Place) -> None:
    session.disable(*_listed(request.places))
    _say(_switched(session, place))


def _status(session: "PublicSession", _request: object, place: Place) -> None:
    _display(session.status(place.defaults), place)


def _level(session: "PublicSession", request: Request, _place: Place) -> None:
    if request.places:
        session.level = None if request.places[0] == OWN_LEVEL else request.places[0]
    level = session.level
    _say(f"all runs are watched at level {level}" if level else "each run is watched at its own level")


def _repr(session: "PublicSession", request: Request, _place: Place) -> None:
    session.repr(request.places[0])
    _say("tensors are shown as cards" if request.places[0] == "on" else "tensors are shown as torch prints them")


def _serve(_session: "PublicSession", request: Request, _place: Place) -> None:
    if not request.places:
        server, is_new = begin(_port(request.value("--port")))
        _say(f"serving at {server.url}" if is_new else f"serving at {server.url} already; its token was shown before")
        if is_new:
            _say(f"token: {server.token}\n  curl -H 'Authorization: Bearer {server.token}' {server.url}/runs/last")
    elif request.places[0] == STOP:
        server_before = end()
        _say(f"{server_before.url} is stopped" if server_before else "no server was running")
    else:
        raise ValueError(f"it takes only {STOP!r}, {request.places[0]!r} came; as in: {request.word.usage}")


def _port(typed: str) -> int:
    if typed and not typed.isdecimal():
        raise ValueError(f"--port wants a number, {typed!r} came")
    return int(typed or 0)


def _clear(session: "PublicSession", request: Request, _place: Place) -> None:
    stored, num_here = "--stored" in request.flags, len(session.runs)
    entries = session.history(everything=True).content
    before = {entry.id for entry in entries}
    session.clear(stored=stored)
    left = {entry.id for entry in session.history(everything=True).content}
    if stored:
        rest = f"; {counted(len(left), 'run')} still going on" if left else ""
        places = "this kernel and from the store" if any(entry.saved for entry in entries) else "this kernel"
        _say(f"{counted(len(before - left), 'run')} removed from {places}{rest}")
    else:
        stays, them = ("stays", "it") if len(left) == 1 else ("stay", "them")
        rest = f"; {len(left)} in the store {stays}: clear --stored removes {them} for good" if left else ""
        _say(f"{counted(num_here - len(session.runs), 'run')} forgotten{rest}")


DEEDS: dict[str, Deed] = {
    "history": _history,
    "last": _show,
    "show": _show,
    "compare": _compare,
    "plot": _plot,
    "note": _note,
    "tag": _tag,
    "export": _export,
    "enable": _enable,
    "disable": _disable,
    "status": _status,
    "level": _level,
    "repr": _repr,
    "serve": _serve,
    "clear": _clear,
}


def _display(shown: "Shown", place: Place) -> None:
    """Show pages whose tables sort and whose curves answer, where widgets can be shown."""
    if not place.has_front_end:
        display(shown)  # type: ignore[no-untyped-call] # IPython's has no types
        return
    from torchmagic.jupyter.replay import show_sheet  # noqa: PLC0415 - widgets wait for the first panel

    show_sheet(shown)


def _say(line: str) -> None:
    print(line)  # noqa: T201 - the output of the cell


def _named(session: "PublicSession", which: str) -> str:
    run = session.get(which)
    return f"run {run.number} {run.name!r}" if run.name else f"run {run.number}"


def _listed(words: tuple[str, ...]) -> list[str]:
    """Return words that were typed with spaces or commas between them."""
    return [part for word in words for part in word.split(",") if part]


def _switched(session: "PublicSession", place: Place) -> str:
    off = [name for name, is_on in session.status(place.defaults).content if not is_on]
    return f"off: {', '.join(off)}" if off else "all probes are on"
