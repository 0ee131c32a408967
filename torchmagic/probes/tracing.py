"""This file is what tells whether torch traces or compiles just now; read at each event, so without a Python call.

Both are what ``torch.compiler.is_compiling`` and ``TracingContext.try_get`` read; where torch keeps them elsewhere,
these are asked.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

_MODULE = vars(torch.compiler)
_THREAD = getattr(torch._guards, "_TLS", None)

is_compiling: Callable[[], Any] = (
    partial(_MODULE.get, "_is_compiling_flag") if "_is_compiling_flag" in _MODULE else torch.compiler.is_compiling
)
tracing_context: Callable[[], Any] = (
    torch._guards.TracingContext.try_get if _THREAD is None else partial(getattr, _THREAD, "tracing_context", None)
)
