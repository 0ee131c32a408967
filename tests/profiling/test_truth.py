"""Real profiles against what is true of the code: torch's own tables, and slow spots that were put there."""

import ast
import linecache
import textwrap

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collect import Profiling
from torchmagic.profiling.collected import Collected, ModuleSite
from torchmagic.profiling.kineto import Kineto
from torchmagic.profiling.lines import Lines
from torchmagic.profiling.ranges import Note
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.note import FailureRecord
from torchmagic.records.profile import PhasesRecord, ProfileRecord
from torchmagic.session.session import Session

# On a busy machine another process may take the core away for longer than what is measured takes.
TRIALS = 3


class Measured:
    """A run's profile, by what it says about the cell."""

    def __init__(self, run):
        assert not run.of(FailureRecord)
        [self.profile], [self.phases], [self.costs] = (
            run.of(kind) for kind in (ProfileRecord, PhasesRecord, CostsRecord)
        )
        self.allocations = run.of(AllocationsRecord)
        self.lines = {line.place.source: line for line in self.costs.lines}
        self.modules = {module.path: module for module in self.costs.modules}

    def dearest_line(self):
        return max(self.costs.lines, key=lambda line: line.own).place.source

    def seconds(self, phase):
        return sum(getattr(self.phases, phase))


@pytest.fixture
def measure(request):
    """Profile a cell as the magic does, and return what was found."""
    files = []

    def run(source, **settings):
        source, file = textwrap.dedent(source), f"/nowhere/ipykernel_1/{request.node.name}.py"
        files.append(file)
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        names = {"__name__": "__main__", "torch": torch, "nn": nn}
        lines = Lines()
        code = compile(lines.transform(ast.parse(source), file), file, "exec", dont_inherit=True)
        profiling = Profiling(ProfileSettings(**{"steps": 4, "warmup": 1, **settings}), namespace=names, lines=lines)
        watch = Watch(
            Settings(save=False, only=("performance",)), namespace=names, session=Session(), beside=(profiling,)
        )
        torch.manual_seed(0)
        started = watch.start()
        exec(code, names)  # noqa: S102 - the sources are ours
        watch.stop(None)
        lines.forget()
        return Measured(started)

    yield run
    for file in set(files):
        del linecache.cache[file]


TRAINING = """
from torch.utils.data import DataLoader, Dataset
import time

class Rows(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, index):
        {item}
        return torch.ones(8), torch.tensor(index % 3)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)
    def forward(self, rows):
        hidden = torch.relu(self.body(rows))
        {forward}
        return self.head(hidden)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

def train():
    for rows, targets in DataLoader(Rows(), batch_size=4):
        loss = criterion(net(rows), targets)
        {step}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

train()
"""


def training(item="pass", forward="pass", step="pass"):
    return TRAINING.format(item=item, forward=forward, step=step)


def test_the_phases_of_each_step_add_up_to_its_wall_time(measure):
    found = measure(training(step="time.sleep(0.01)"))
    phases, profile = found.phases, found.profile
    names = ("data", "transfer", "forward", "backward", "optimizer", "idle", "other")
    total = sum(found.seconds(name) for name in names)
    assert total == pytest.approx(profile.seconds, rel=0.02)
    assert profile.steps == 4
    assert phases.steps[:4] == (1, 2, 3, 4)
    assert all(found.seconds(name) > 0 for name in ("data", "forward", "backward", "optimizer"))
    assert found.seconds("idle") > 3 * 0.01


def test_modules_and_the_rest_make_up_the_window(measure):
    found = measure(training())
    own = sum(each.forward_own + each.backward_own for each in found.costs.modules)
    lines = sum(each.own for each in found.costs.lines)
    assert 0 < own < found.profile.seconds
    assert lines <= found.profile.seconds * (1 + 1e-9)
    root = found.modules[""]
    assert root.forward == pytest.approx(
        sum(each.forward_own for each in found.costs.modules if each.model == root.model)
    )
    assert root.backward == pytest.approx(
        sum(each.backward_own for each in found.costs.modules if each.model == root.model)
    )
    assert all(found.modules[path].calls == 4 and found.modules[path].backward > 0 for path in ("", "body", "head"))


def test_a_dataset_that_sleeps_is_named_by_its_line_and_is_data(measure):
    found = measure(training(item="time.sleep(0.02)"))
    assert found.dearest_line() == "time.sleep(0.02)"
    assert found.seconds("data") > 4 * 4 * 0.02
    assert found.seconds("data") > 0.6 * found.profile.seconds
    [loader] = found.costs.loaders
    assert loader.batches in {4, 5}
    assert loader.total == pytest.approx(sum(loader.waits))
    assert min(loader.waits) > 4 * 0.02


def test_a_read_in_each_step_is_named_by_its_line(measure):
    found = measure(training(step="print(end='' if loss.item() else '')"))
    reading = {source: line.reads for source, line in found.lines.items() if line.reads}
    assert reading == {"print(end='' if loss.item() else '')": 4}


def test_a_loop_of_python_in_a_module_is_named_by_its_line_and_module(measure):
    source = "hidden = torch.stack([row * 2 for row in hidden for _ in range(300)])[::300]"
    told = []
    for _ in range(TRIALS):
        found = measure(training(forward=source))
        loop = found.lines[source]
        [mul] = [each for each in found.costs.operators if each.name == "aten::mul" and each.phase == "forward"]
        assert (mul.calls, mul.place) == (4 * 1200, loop.place)
        others = [line for line in found.costs.lines if line.place.source not in {source, "loss.backward()"}]
        dearest = max(found.costs.modules, key=lambda module: module.forward_own)
        told.append((
            loop.operators > 2 * max(line.operators for line in others),
            (dearest.path, dearest.class_name) == ("", "Net"),
            loop.backward == max(line.backward for line in found.costs.lines),
        ))  # fmt: skip
        if all(told[-1]):
            break
    assert all(told[-1]), told


def test_a_layer_of_doubles_is_named_by_its_module_and_type(measure):
    found = measure(
        """
        net = nn.Sequential(nn.Linear(64, 600), nn.Linear(600, 600).double(), nn.Linear(600, 10))
        net[1].forward = lambda rows, layer=net[1]: torch.nn.functional.linear(
            rows.double(), layer.weight, layer.bias
        ).float()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(8):
            loss = net(torch.randn(256, 64)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        """,
        shapes=True,
    )
    dearest = max(found.costs.modules, key=lambda module: module.forward_own + module.backward_own)
    assert (dearest.path, dearest.dtype) == ("1", "float64")
    products = [each for each in found.costs.operators if each.name in {"aten::addmm", "aten::mm"}]
    slowest = max(products, key=lambda each: each.own)
    assert (slowest.dtype, slowest.module) == ("float64", "net.1")
    forward = 2 * 4 * 256 * (64 * 600 + 600 * 600 + 600 * 10)
    backward = forward + 2 * 4 * 256 * (600 * 600 + 600 * 10)  # the first layer's input needs no gradient
    assert found.profile.flops == forward + backward
    assert found.modules["1"].flops == 3 * 2 * 4 * 256 * 600 * 600


def test_bytes_that_a_module_keeps_follow_from_its_sizes(measure):
    found = measure(
        """
        net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        def step():
            loss = net(torch.randn(100, 32)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        for _ in range(8):
            step()
        """,
        memory=True,
    )
    kept = {path: module.kept for path, module in found.modules.items()}
    # no backward needs what goes into the rectifier, so the whole lets go of it
    assert kept == {"0": 4 * 4 * 6400, "1": 4 * 4 * 6400, "2": 4 * 4 * 1600, "": 4 * 4 * 8000}
    [allocations] = found.allocations
    activations = 4 * (3200 + 6400 + 1600)
    assert found.profile.peak_bytes > activations
    assert dict(allocations.holders)["forward of net.1"] == 4 * 6400
    assert "forward of net.0" not in dict(allocations.holders)
    assert max(map(sum, zip(*allocations.phases.values(), strict=True))) == found.profile.peak_bytes


class Checkpointed(nn.Module):
    """A block whose forward is run again in the backward, and a head."""

    def __init__(self, *, reentrant):
        super().__init__()
        self.block, self.head, self.reentrant = nn.Sequential(nn.Linear(8, 32), nn.Tanh()), nn.Linear(32, 2), reentrant

    def forward(self, rows):
        from torch.utils.checkpoint import checkpoint  # noqa: PLC0415 - it takes long to import

        return self.head(checkpoint(self.block, rows, use_reentrant=self.reentrant))


def with_ranges(module):
    """Put ranges around all modules, and return what they are."""
    sites = []
    for index, (path, each) in enumerate(module.named_modules()):
        each.forward = _ranged(each.forward, f"tm:m:{index}")
        sites.append(ModuleSite("net", path, type(each).__name__))
    return sites


def _ranged(forward, name):
    def run(*inputs):
        with Note(name):
            return forward(*inputs)

    return run


def record(deed, sites=(), **settings):
    """Return torch's own profile of a call, and our costs of it."""
    settings = ProfileSettings(**settings)
    kineto = Kineto(settings)
    kineto.start()
    with Note("tm:p:other"):
        deed()
    kineto.stop()
    begin, end = next((each.start, each.end) for each in kineto.marks() if each.name == "tm:p:other")
    collected = Collected(
        events=kineto.events(begin, end), begin=begin, end=end, modules=list(sites), options=settings.options
    )
    return kineto.profile, attribute(collected)[2]


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_block_has_its_second_forward_in_its_backward(reentrant):
    module, rows = Checkpointed(reentrant=reentrant), torch.randn(4, 8, requires_grad=True)
    module(rows).sum().backward()
    sites = with_ranges(module)
    _, costs = record(lambda: module(rows).sum().backward(), sites, flops=True)
    found = {each.path: each for each in costs.modules}
    product = 2 * 4 * 8 * 32
    assert found["block.0"].flops == 4 * product  # twice forward, then both gradients
    assert found["head"].flops == 3 * 2 * 4 * 32 * 2
    assert found[""].flops == found["block.0"].flops + found["head"].flops
    assert {path: each.calls for path, each in found.items()} == dict.fromkeys(found, 1)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        ctx.save_for_backward(rows)
        return rows * rows

    @staticmethod
    def backward(ctx, gradient):
        return torch.mm(gradient, torch.eye(8)) * 2 * ctx.saved_tensors[0]


class Squares(nn.Module):
    def forward(self, rows):
        return Square.apply(rows)


def test_a_function_of_the_users_has_its_backward():
    module, rows = nn.Sequential(nn.Linear(8, 8), Squares()), torch.randn(4, 8)
    sites = with_ranges(module)
    _, costs = record(lambda: module(rows).sum().backward(), sites, flops=True)
    found = {each.path: each for each in costs.modules}
    assert found["1"].flops == 2 * 4 * 8 * 8  # all of it in its backward
    assert found["1"].backward_own > 0


def test_a_gradient_of_a_gradient_belongs_to_the_module():
    module, rows = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1)), torch.randn(4, 8, requires_grad=True)
    sites = with_ranges(module)

    def penalty():
        [gradient] = torch.autograd.grad(module(rows).tanh().sum(), rows, create_graph=True)
        gradient.square().sum().backward()

    _, costs = record(penalty, sites, flops=True)
    everything = sum(each.flops for each in costs.operators)
    assert next(each for each in costs.modules if not each.path).flops == everything > 0


def convolution():
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))
    optimizer = torch.optim.Adam(module.parameters())
    images, targets = torch.randn(4, 3, 8, 8), torch.randint(4, (4,))

    def run():
        for _ in range(3):
            loss = nn.functional.cross_entropy(module(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()

    return run


def attention():
    module = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    rows = torch.randn(2, 5, 16)
    return lambda: module(rows).sum().backward()


@pytest.mark.parametrize("make", [convolution, attention])
@pytest.mark.parametrize("settings", [{}, {"memory": True}, {"shapes": True}], ids=["time", "memory", "shapes"])
def test_the_totals_are_those_of_torchs_own_table(make, settings):
    deed = make()
    deed()
    profile, costs = record(deed, **settings)
    theirs = {each.key: each for each in profile.key_averages() if not each.key.startswith(("tm:", "Optimizer.", "["))}
    ours = {}
    for each in costs.operators:
        calls, total, own = ours.get(each.name, (0, 0.0, 0.0))
        ours[each.name] = (calls + each.calls, total + each.total, own + each.own)
    assert ours.keys() == theirs.keys()
    for name, (calls, total, own) in ours.items():
        assert calls == theirs[name].count, name
        assert total * 1e6 == pytest.approx(theirs[name].cpu_time_total, rel=1e-6, abs=0.01), name
        assert own * 1e6 == pytest.approx(theirs[name].self_cpu_time_total, rel=1e-6, abs=0.01), name
