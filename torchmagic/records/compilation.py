"""This file is the compilation: what torch compiled or captured in a run, how often, and in how many parts."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledFunction:
    """A function that was compiled in the run.

    Args:
        times: Times it was compiled.
        seconds: What that took.
        reasons: Why it was compiled again, each once, at most 4.
        breaks: Why it was cut in parts, each once, in one line, at most 4.
        cuts: Lines after which it goes on uncompiled or in another part, at most 4.
        place: Where it is defined.
    """

    times: int
    seconds: float
    reasons: tuple[str, ...]
    breaks: tuple[str, ...]
    cuts: tuple[Place, ...]
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilationRecord:
    """What was compiled in the run.

    Args:
        seconds: Seconds of all compilations.
        run_seconds: Seconds that the run took.
        functions: Functions, the one compiled most often first; at most 16.
    """

    seconds: float
    run_seconds: float
    functions: tuple[CompiledFunction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReplaysRecord:
    """Work of a device that was captured in a graph, as CUDA's are, was replayed: nothing inside it is seen.

    Args:
        whole: Whether the user's own code replays the graph, with whatever part of a step it holds; otherwise it is one
            inside a callable that torch made of a module, of which gradients and steps are seen.
        place: The line that did it first.
    """

    whole: bool
    place: Place | None
