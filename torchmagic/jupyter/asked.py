"""This file is what a header asks for, and what several headers of one cell ask for together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from torchmagic.debuggers.settings import Settings
from torchmagic.jupyter.cell_magics import CELL_MAGICS, CellMagic

if TYPE_CHECKING:
    from torchmagic.probes.probe import Probe
    from torchmagic.probes.taps import Taps
    from torchmagic.session.recorder import Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one header, or one line, asks for.

    Args:
        magic: Whose header it is.
        settings: How the run is watched.
        kept: What the run's settings hold beside those.
        probes: Makes the probes beside those of the settings, given the user's names.
        doing: Says what is being done after so many steps; None where the panel's pages show it while it goes on.
    """

    magic: CellMagic
    settings: Settings
    kept: Mapping[str, Any] = field(default_factory=dict)
    probes: "Callable[[Mapping[str, Any]], Sequence[Probe]]" = lambda _names: ()
    doing: Callable[[int], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What all headers of a cell ask for: one run, so that nothing is measured or charged twice.

    Args:
        asked: What each asks for.
    """

    asked: Sequence[Asked]

    @property
    def title(self) -> str:
        """The name of the magic that has the say."""
        return self._first.magic.name

    @property
    def settings(self) -> Settings:
        """How the run is watched: as the first magic of the table asks, with labels and severity of all."""
        return replace(
            self._first.settings,
            name=next((each.name for each in self._all if each.name), ""),
            report=next((each.report for each in self._all if each.report), ""),
            fail_on=",".join(each.fail_on for each in self._all),
        )

    @property
    def kept(self) -> dict[str, Any]:
        """What the run's settings hold beside those."""
        return {name: value for each in self.asked for name, value in each.kept.items()}

    def probes(self, names: Mapping[str, Any]) -> "tuple[Probe, ...]":
        """Return the probes beside those of the settings."""
        probes = tuple(probe for each in self.asked for probe in each.probes(names))
        others = [f"%%{each.magic.name}" for each in self.asked if each.kept] if len(self.asked) > 1 else []
        return (*probes, *(_Note(f"{name} ran beside others: its times hold what they measured.") for name in others))

    def doing(self, steps: int) -> str:
        """Say what is being done after so many steps; empty where there is nothing to say."""
        return "".join(each.doing(steps) for each in self.asked if each.doing is not None)

    @property
    def is_quiet(self) -> bool:
        """Whether the panel's pages wait for the end of the run."""
        return all(each.doing is not None for each in self.asked)

    @property
    def _first(self) -> Asked:
        return min(self.asked, key=lambda each: CELL_MAGICS.index(each.magic))

    @property
    def _all(self) -> list[Settings]:
        return [each.settings for each in sorted(self.asked, key=lambda each: CELL_MAGICS.index(each.magic))]


class _Note:
    """A probe that notes one sentence and measures nothing."""

    def __init__(self, text: str) -> None:
        self._text = text

    def attach(self, _taps: "Taps", recorder: "Recorder") -> None:
        from torchmagic.records.note import NoteRecord  # noqa: PLC0415 - waits for the first run

        recorder.add(NoteRecord(text=self._text))

    def flush(self, step: int) -> None:
        pass

    def detach(self) -> None:
        pass
