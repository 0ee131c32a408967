"""This file tests that what tells whether torch traces says what torch's own functions say."""

import torch
from torch._guards import TracingContext, tracing

from torchmagic.probes.tracing import is_compiling, tracing_context


def test_the_flag_of_the_compiler_is_the_one_that_torch_reads(monkeypatch):
    assert not is_compiling()
    monkeypatch.setattr(torch.compiler, "_is_compiling_flag", True)
    assert torch.compiler.is_compiling()
    assert is_compiling()


def test_the_context_of_a_trace_is_the_one_that_torch_reads():
    assert tracing_context() is None
    with tracing(TracingContext(None)):
        assert tracing_context() is TracingContext.try_get() is not None
    assert tracing_context() is None
