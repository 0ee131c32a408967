"""This file is the ``%%torchbench`` magic."""

from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from torchmagic.jupyter.capturing import quietly
from torchmagic.jupyter.cell_magics import TORCHBENCH, asks
from torchmagic.jupyter.parsing import answer, no_statement, parse
from torchmagic.jupyter.tracebacks import remove_our_frames
from torchmagic.jupyter.user_code import UserCode
from torchmagic.tuning.modes import OptimizationMode

if TYPE_CHECKING:
    from torchmagic.jupyter.bench_showing import BenchShowing
    from torchmagic.tuning.bench_request import BenchRequest
    from torchmagic.tuning.own_loop.bench import Bench

_NAME = TORCHBENCH.name


@magics_class
class TorchbenchMagics(Magics):
    """The home of ``%%torchbench``.

    Args:
        shell: The shell.
        configuration: Defaults of the options.
    """

    shell: Any

    def __init__(self, shell: Any, configuration: Any) -> None:
        super().__init__(shell)
        self.configuration = configuration

    @no_var_expand
    @line_cell_magic
    def torchbench(self, line: str, cell: str | None = None) -> None:
        """Measure what would make the training step of a cell faster, and whether it would compute the same.

        ::

            %%torchbench [options]            the step of this cell
            %torchbench [options] STATEMENT   the step that a statement runs, such as train(model, loader, optimizer)

        The cell is a training loop, or calls one, or is one step without a loop, or defines a function that does a
        step. It is a trial, as with ``%%timeit``: it runs on copies up to the first optimizer step, the pass of the
        loop around that step is then run by each mode, in turns with the loop as it is, and in the end no name, model,
        optimizer or random number is other than before. What it prints is not shown.

        Shown are time per step, speed-up with its 99% interval, peak memory, first step, and whether outputs,
        gradients and losses are the same; a figure; and the code to paste for what is worth it.

        ``%torchbench --help`` lists the options, Tab completes them, ``%config TorchMagic`` sets their defaults
        (``bench_modes`` and so on).

        Examples::

            %%torchbench
            %%torchbench --modes amp,compilation --steps 50 --time-limit 60
            %torchbench train_one_epoch(model, loader, optimizer)
        """
        if asks(line):
            print(answer(TORCHBENCH, line))  # noqa: T201 - it is what was asked for
            return
        request, statement = parse(TORCHBENCH, line, self.configuration.bench_values())
        if cell is not None and statement:
            raise UsageError(no_statement(TORCHBENCH, statement))
        code = statement if cell is None else cell
        if not code.strip():
            raise UsageError(f"%{_NAME} wants a statement that trains, or --help; %%{_NAME} takes a cell")
        try:
            # In the cell, the first line is the header's.
            self._bench(request, code, num_lines_above=0 if cell is None else 1)
        except UsageError:
            raise
        except BaseException as error:
            remove_our_frames(error)
            raise

    def _bench(self, request: "BenchRequest", code: str, *, num_lines_above: int) -> None:
        # Torch, and what is shown with, wait for the first benchmark.
        from torchmagic.jupyter.bench_showing import BenchShowing  # noqa: PLC0415
        from torchmagic.tuning.copies import NoCopyError  # noqa: PLC0415
        from torchmagic.tuning.own_loop.bench import Bench  # noqa: PLC0415
        from torchmagic.tuning.own_loop.first_step import CellCode  # noqa: PLC0415
        from torchmagic.tuning.own_loop.no_step import NoStepError  # noqa: PLC0415

        read = UserCode(self.shell, code, num_lines_above=num_lines_above)
        cell = CellCode(
            tree=read.tree, file=read.file, namespace=self.shell.user_ns, quiet=partial(quietly, self.shell)
        )
        showing = BenchShowing(front_end=getattr(self.shell, "kernel", None) is not None)
        try:
            bench = Bench(cell)
        except (NoStepError, NoCopyError) as error:
            raise UsageError(f"%%{_NAME}: {error}") from None
        try:
            _measure(bench, request, showing)
        finally:
            showing.end(bench.record)


def _measure(bench: "Bench", request: "BenchRequest", showing: "BenchShowing") -> None:
    modes = [OptimizationMode(name) for name in request.modes]
    doing = [f"measuring {mode.value}, {number} of {len(modes)}" for number, mode in enumerate(modes, start=1)]
    showing.tell(doing[0])
    for done, _ in enumerate(bench.rows(modes, num_steps=request.steps, seconds=request.time_limit), start=1):
        if showing.is_stopped:
            return
        if done < len(modes):
            showing.tell(doing[done], bench.record)
