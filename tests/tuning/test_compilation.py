"""Compiled models: few and small, since each takes seconds."""

import pytest
import torch
from torch import nn

from torchmagic import PyTorchOptimizer, optimize_model
from torchmagic.tuning.comparison import Result, compare
from torchmagic.tuning.modes import OptimizationMode

pytestmark = pytest.mark.usefixtures("compiler")
# Traces and differentiates as the default backend does, and generates no code.
QUICK = {"compile_options": {"backend": "aot_eager"}}


class Broken(nn.Module):
    """Its graph breaks, and TorchScript cannot read it."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.drop = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)

    def forward(self, x):
        x = self.drop(self.norm(self.layer(x)))
        torch._dynamo.graph_break()
        return x + len({id(self)})


class Scriptable(nn.Module):
    """Its graph breaks, and TorchScript can read it."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer(x)
        print(x.shape)  # noqa: T201 - what breaks the graph
        return x


def test_a_compiled_model_is_the_same_and_the_first_step_is_told_apart(case):
    one = case("tied")
    found = compare(one.training, OptimizationMode.COMPILATION, one.plan(options=QUICK))
    assert isinstance(found, Result), found
    assert found.agreement.verdict == "same"
    assert found.first_step > 10 * found.step.median


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # the compiler's own
def test_a_graph_that_breaks_is_told_and_the_model_runs(capsys):
    torch.manual_seed(0)
    model = Scriptable()
    found = optimize_model(model, "compilation", **QUICK)
    x = torch.ones(2, 4)
    torch.testing.assert_close(found(x), model(x))
    assert found.optimization_metrics.compilation_enabled
    assert "1 graph break, such as: " in found.optimization_metrics.notes[0]


def test_what_cannot_be_compiled_falls_back_as_if_nothing_had_been_tried():
    options = {"compile_options": {**QUICK["compile_options"], "fullgraph": True}}
    torch.manual_seed(0)
    one, other = Broken(), Broken()
    other.load_state_dict(one.state_dict())
    found, x = optimize_model(one, "compilation", **options), torch.randn(5, 4)
    for run in (found, other):
        torch.manual_seed(3)
        run(x)
    torch.manual_seed(4)
    outputs = found(x)
    torch.manual_seed(4)
    assert torch.equal(outputs, other(x))
    assert all(map(torch.equal, one.buffers(), other.buffers()))
    metrics = found.optimization_metrics
    assert not metrics.compilation_enabled
    assert "torch.compile cannot serve (Unsupported: " in metrics.notes[0]
    assert metrics.notes[0].endswith("the model runs as it is")


def test_torchscript_serves_where_the_compiler_cannot(capsys):
    options = {"compile_options": {**QUICK["compile_options"], "fullgraph": True}}
    model = Scriptable()
    found, x = optimize_model(model, "compilation", **options), torch.ones(2, 4)
    torch.testing.assert_close(found(x), model(x))
    assert found.optimization_metrics.compilation_enabled
    assert found.optimization_metrics.notes[0].endswith("TorchScript runs the model instead")
    found(x).sum().backward()
    assert model.layer.weight.grad is not None


def test_a_mode_that_falls_back_is_a_row_of_the_benchmark():
    model = Broken()
    batches = [(torch.randn(5, 4), torch.randn(5, 4))]
    options = {"compile_options": {**QUICK["compile_options"], "fullgraph": True}}
    results = PyTorchOptimizer().benchmark_optimizations(
        model, batches, torch.optim.SGD(model.parameters()), nn.MSELoss(), modes=["compilation"], **options
    )
    assert "torch.compile cannot serve" in results["compilation"]["error"]


def test_the_users_own_error_is_the_users(case):
    one = case("mlp")
    found = optimize_model(one.training.model, "compilation", **QUICK)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        found(torch.zeros(8, 5))


def test_all_at_once(case):
    one = case("mlp")
    found = compare(one.training, OptimizationMode.FULL_OPTIMIZATION, one.plan(options=QUICK))
    assert isinstance(found, Result), found
    assert found.agreement.verdict == "same within bf16 rounding"
    assert found.notes == ("channels_last: the model has no convolution over images",)


def test_the_default_backend_generates_code_that_gives_the_same():
    torch.manual_seed(0)
    model, x = nn.Linear(4, 4), torch.randn(3, 4)
    found = optimize_model(model, "compilation")
    torch.testing.assert_close(found(x), model(x))
    notes = found.optimization_metrics.notes
    assert found.optimization_metrics.compilation_enabled or "torch.compile cannot serve" in notes[0]
