"""This file is the ``%tensorinfo`` magic."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, needs_local_scope
from IPython.display import display

from torchmagic.jupyter.expressions import evaluated, shortened
from torchmagic.jupyter.flags import asks
from torchmagic.jupyter.tensorinfo_words import MAGIC, USAGE, parse


@magics_class
class TensorinfoMagics(Magics):
    """The home of ``%tensorinfo``, to be registered with a shell."""

    @needs_local_scope
    @line_magic
    def tensorinfo(self, line: str, local_ns: dict[str, Any] | None = None) -> None:
        """Show everything about one tensor, or about those in one object.

        ::

            %tensorinfo EXPRESSION [--compare OTHER] [--hist] [--image] [--full] [--dims N C H W]

        The expression is any Python expression that gives a tensor, a parameter or a NumPy array, or a list, tuple,
        dictionary, dataclass, state dict, batch, optimizer or gradient scaler; it is evaluated once. Shown are shape,
        dtype, device, layout, memory and who shares it, autograd, statistics, counts of NaN, Inf and zero, a histogram,
        a picture, the values (corners of many) and the gradient. Nothing is changed and nothing is kept.

        Statistics are of the finite values. Of complex tensors they are of the magnitudes, of sparse ones of the
        stored values. Quantiles of more than 16,384 values come from a sample, and the output says so.

        ``--compare OTHER``
            Compare with another tensor of the same shape: largest absolute and relative difference and where, whether
            all are close within the dtype's tolerances, and how many representable numbers lie between (ULP).
        ``--hist``
            The histogram counts all values, however many there are.
        ``--image``
            Show it as images, whatever its shape seems to be.
        ``--full``
            Quantiles and histogram of all values, and everything that keeps the tensor alive, however long it takes.
        ``--dims N C H W``
            Names of the dimensions; C, H and W say where an image has its channels, rows and columns.

        Examples::

            %tensorinfo x
            %tensorinfo model.fc.weight.grad --full
            %tensorinfo batch["image"] --dims N H W C
            %tensorinfo fast(x) --compare slow(x)

        In scripts: ``torchmagic.tensorinfo(x)``.
        """
        if asks(line):
            raise UsageError(f"{USAGE}; %{MAGIC}? tells more")
        request = parse(line)
        value = self._value(request.expression, local_ns)
        other = self._value(request.compare, local_ns) if request.compare else None
        from torchmagic.debuggers.tensorinfo import tensorinfo  # noqa: PLC0415 - torch waits for the first use

        shell: Any = self.shell
        name = shortened(request.expression)
        try:
            info = tensorinfo(
                value,
                name=name,
                compare=other,
                compare_name=shortened(request.compare),
                hist=request.hist,
                image=request.image or None,
                full=request.full,
                dims=request.dims,
                names={**shell.user_ns, **(local_ns or {})},
            )
        except (TypeError, ValueError) as error:
            raise UsageError(f"%{MAGIC} {name}: {error}") from None
        display(info)  # type: ignore[no-untyped-call] # IPython's has no types

    def _value(self, expression: str, local_ns: dict[str, Any] | None) -> Any:
        return evaluated(expression, magic=MAGIC, usage=USAGE, shell=self.shell, names=local_ns)
