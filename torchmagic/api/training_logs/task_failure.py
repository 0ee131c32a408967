"""This file tells when the asyncio task that began a training fails."""

import asyncio
from collections.abc import Callable
from functools import partial


def on_failure_of_this_task(tell: Callable[[BaseException], None]) -> Callable[[], object]:
    """Have a function called with the exception that ends the present task; outside of a task there is none to end.

    A task that ends well tells nothing: a training may be begun by one and gone on with by another.

    Returns:
        A function that takes this back.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs
        task = None
    if task is None:
        return lambda: None

    def ended(task: asyncio.Task[object]) -> None:
        # Asking by exception() would count as having dealt with it, and asyncio then keeps quiet about it.
        error = asyncio.CancelledError() if task.cancelled() else getattr(task, "_exception", None)
        if error is not None:
            tell(error)

    task.add_done_callback(ended)
    return partial(task.remove_done_callback, ended)
