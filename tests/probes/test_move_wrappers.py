"""This file tests the wrappers around the methods that copy a tensor to another device."""

import torch
from torch import nn

from torchmagic.probes.taps import Taps


def test_only_copies_of_the_users_own_lines_are_told():
    lines, taps = [], Taps(on_failure=print)
    taps.on("moved", lambda *told: lines.append((told[2].f_code.co_filename, told[1].device.type)))
    taps.see("moves", seen=True)
    taps.open()
    try:
        torch.ones(2).to("meta")
        torch.ones(2).to("cpu")
        nn.Linear(2, 2).to("meta")
    finally:
        taps.close()
    assert lines == [(__file__, "meta")]
