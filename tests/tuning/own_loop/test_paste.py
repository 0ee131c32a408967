"""The code to paste really runs, before the loop that was measured, and gives what was measured."""

import pytest
import torch

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.optimized_model import OptimizedModel
from torchmagic.tuning.own_loop.paste import code_for
from torchmagic.tuning.setup import Notes

SETUP = """
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
images = [(torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8,))) for _ in range(3)]
"""
LOOP = """
for image, label in images:
    sgd.zero_grad()
    loss = F.cross_entropy(model(image), label)
    loss.backward()
    sgd.step()
    losses.append(loss.item())
"""
MODES = ["amp", "channels_last", "fused_optimizer", "memory_efficient"]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_pasted_gives_the_losses_that_were_measured(notebook, mode):
    notebook.run(SETUP)
    (found,) = notebook.measured(LOOP, mode).modes
    notebook.run(f"{found.code}\n{LOOP}")
    assert notebook.names["losses"] == pytest.approx(found.losses[:3], rel=1e-6)
    changed = [name for name in ("model", "sgd") if not isinstance(notebook.names[name], torch.nn.Sequential)]
    assert (changed == ["sgd"]) is (mode == "fused_optimizer")
    assert notebook.names["sgd"].param_groups[0]["fused"] is (True if mode == "fused_optimizer" else None)


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # of the compiler's own parts
def test_what_compiles_and_all_together_run(notebook):
    notebook.run(SETUP)
    with torch.compiler.set_stance("force_eager"):
        for mode in ("compilation", "full_optimization"):
            notes = Notes(in_force=[OptimizationMode.FUSED_OPTIMIZER] if mode == "full_optimization" else [])
            code = code_for(OptimizationMode(mode), ["model"], "sgd", notes, 2)
            notebook.run(f"{code}\n{LOOP}")
    assert len(notebook.names["losses"]) == 6
    assert isinstance(notebook.names["model"], OptimizedModel)
    assert notebook.names["sgd"].param_groups[0]["fused"] is True


def test_threads_are_set_to_what_was_tried(notebook):
    notebook.run(SETUP)
    before = torch.get_num_threads()
    (found,) = notebook.measured(LOOP, "threads", seconds=2.0, options={"num_threads": before + 1}).modes
    try:
        notebook.run(found.code)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_models_and_optimizers_go_by_the_names_that_the_loop_knows(notebook):
    source = """
class Trainer:
    def __init__(self, net):
        self.net, self.sgd = net, torch.optim.SGD(net.parameters(), lr=0.1)
    def fit(self, batches):
        for inputs, targets in batches:
            self.sgd.zero_grad()
            F.cross_entropy(self.net(inputs), targets).backward()
            self.sgd.step()
Trainer(nn.Linear(6, 3)).fit(loader)
"""
    found = notebook.measured(source, "amp", "fused_optimizer")
    amp, fused = found.modes
    assert amp.code.splitlines()[-1] == 'self.net = torchmagic.optimize_model(self.net, "amp")'
    assert fused.code.splitlines()[0] == "for group in self.sgd.param_groups:"
    assert found.before == "before the loop at line 6, in fit()"
