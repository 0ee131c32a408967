"""This file is the ``%modelinfo`` magic."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, needs_local_scope
from IPython.display import display

from torchmagic.jupyter.expressions import evaluated, shortened
from torchmagic.jupyter.flags import asks
from torchmagic.jupyter.modelinfo_words import MAGIC, USAGE, Request, parse


@magics_class
class ModelinfoMagics(Magics):
    """The home of ``%modelinfo``, to be registered with a shell."""

    @needs_local_scope
    @line_magic
    def modelinfo(self, line: str, local_ns: dict[str, Any] | None = None) -> None:
        """Show everything about one model, or about the models in one object.

        ::

            %modelinfo EXPRESSION [--input-size SIZE] [--batch NAME] [--optimizer NAME] [--depth N]

        Shown are the tree of modules (alike ones in one row), parameters, buffers, bytes, and what is wrong with them:
        values that are not finite, weights that are all zero, odd dtypes and devices, memory that is shared. With an
        input also shapes, multiply-adds, times, what autograd keeps, what is never used, and memory of a training step.

        The model is never changed: a copy that shares its weights is run, and modes, buffers, gradients, hooks and
        random numbers stay the same bits. Without an input nothing is run.

        ``--input-size 1,3,32,32``
            A made-up input of this size, batch dimension first. Several inputs: give it again, or put ``;`` between.
        ``--batch NAME``
            An expression for an input: a tensor, tuple, dictionary, or a loader, of which one batch is used.
        ``--optimizer NAME``
            Whose memory to count: a variable, or a name such as adamw.
        ``--depth N``
            Levels of the tree to show.

        Examples::

            %modelinfo model
            %modelinfo model --input-size 1,3,32,32 --depth 2
            %modelinfo model.encoder --batch next(iter(loader))[0] --optimizer sgd-momentum
            %modelinfo pipe

        In scripts: ``torchmagic.modelinfo(model, input_size=(1, 3, 32, 32))``.
        """
        if asks(line):
            raise UsageError(f"{USAGE}; %{MAGIC}? tells more")
        request = parse(line)
        value = self._value(request.expression, local_ns)
        given = {
            "input_size": list(request.sizes) or None,
            "batch": self._value(request.batch, local_ns) if request.batch else None,
            "optimizer": self._optimizer(request, local_ns),
            "depth": request.depth,
        }
        from torchmagic.debuggers.modelinfo import modelinfo  # noqa: PLC0415 - torch waits for the first use

        name = shortened(request.expression)
        try:
            info = modelinfo(value, name=name, **given)
        except (TypeError, ValueError) as error:
            raise UsageError(f"%{MAGIC} {name}: {error}") from None
        display(info)  # type: ignore[no-untyped-call] # IPython's has no types

    def _value(self, expression: str, local_ns: dict[str, Any] | None) -> Any:
        return evaluated(expression, magic=MAGIC, usage=USAGE, shell=self.shell, names=local_ns)

    def _optimizer(self, request: Request, local_ns: dict[str, Any] | None) -> Any:
        """A variable's value, or else the word itself, which may be the name of a kind."""
        shell: Any = self.shell
        names = {**shell.user_ns, **(local_ns or {})}
        word = request.optimizer
        is_expression = word in names or any(each in word for each in ".([")
        return self._value(word, local_ns) if is_expression else word or None
