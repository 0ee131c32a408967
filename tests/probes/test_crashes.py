"""An exception that ends the cell is recorded with what stood on its line; nothing is recorded of one that does not."""

import gc
import sys
import weakref

import pytest
import torch

from torchmagic.debuggers.watching import watch
from torchmagic.probes.graph_walk import READABLE
from torchmagic.records.crash import (
    CrashKind,
    CrashSiteRecord,
    GradlessForwardRecord,
    InplaceRecord,
    OutOfMemoryRecord,
    Reuse,
    ReusedGraphRecord,
    TargetRangeRecord,
)

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        hidden = self.body(x)
        return self.head(hidden)


net = Net()
"""
CAUSES = pytest.mark.parametrize(
    ("raising", "found"),
    [
        ("raise ValueError('stopped') from error", True),
        ("raise", True),
        ("raise ValueError('stopped')", True),
        ("raise ValueError('stopped') from None", False),
    ],
)


@pytest.fixture
def default_device():
    yield torch.set_default_device
    torch.set_default_device(None)


def site(run):
    (record,) = run.of(CrashSiteRecord)
    return record


def test_the_innermost_module_and_what_it_was_given_are_recorded(run_cell):
    run, _ = run_cell(NET + "net(torch.randn(3, 4))", raises=RuntimeError)
    record = site(run)
    assert (record.problem, record.module, record.class_name) == (CrashKind.SHAPE, "net.head", "Linear")
    assert record.settings["in_features"] == "6"
    assert [(fact.name, fact.shape) for fact in record.given] == [("hidden", (3, 8))]
    assert [fact.shape for fact in record.weights] == [(2, 6), (2,)]
    assert (record.expression, record.place.function) == ("self.head(hidden)", "forward")
    assert record.called.source == "net(torch.randn(3, 4))"
    assert record.built.source == "self.head = nn.Linear(6, 2)"


def test_the_tensors_that_the_expression_names_are_recorded_items_too(run_cell):
    source = """
        batch = {"x": torch.zeros(2, 3)}
        rows = [torch.zeros(3), torch.zeros(4)]
        torch.cat([batch["x"], rows[0], *rows])
    """
    run, _ = run_cell(source, raises=RuntimeError)
    shapes = {fact.name: fact.shape for fact in site(run).tensors}
    assert shapes["batch['x']"] == (2, 3)
    assert shapes["rows[1]"] == (4,)


def test_no_code_of_the_users_runs_to_describe_them(run_cell):
    source = """
        class Shy:
            def __getattr__(self, name):
                raise SystemExit(name)

            def __repr__(self):
                raise SystemExit("repr")

            @property
            def x(self):
                raise SystemExit("property")


        shy = Shy()
        y = torch.zeros(2, 3)
        (y @ y, shy, shy.x)
    """
    run, _ = run_cell(source, raises=RuntimeError)
    assert [fact.name for fact in site(run).tensors] == ["y"]


def test_a_default_device_hides_no_shape(run_cell, default_device):
    default_device("cpu")
    run, _ = run_cell(NET + "net(torch.randn(3, 4))", raises=RuntimeError)
    record = site(run)
    assert [(fact.name, fact.shape) for fact in record.given] == [("hidden", (3, 8))]
    assert [fact.shape for fact in record.weights] == [(2, 6), (2,)]


def test_a_tensor_whose_class_answers_for_itself_is_left_alone(run_cell):
    source = """
        class Own(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                if "shape" in str(function):
                    raise SystemExit("asked")
                return super().__torch_function__(function, types, args, kwargs or {})


        own, plain = torch.zeros(2, 3).as_subclass(Own), torch.zeros(2, 3)
        torch.mm(own, plain)
    """
    run, _ = run_cell(source, raises=RuntimeError)
    assert [fact.name for fact in site(run).tensors] == ["args[1]"]  # the innermost line is that of the class


@CAUSES
def test_an_error_that_was_raised_from_torchs_is_explained_by_it(run_cell, raising, found):
    source = f"{NET}\ntry:\n    net(torch.randn(3, 4))\nexcept RuntimeError as error:\n    {raising}"
    run, _ = run_cell(source, raises=(ValueError, RuntimeError))
    assert bool(run.of(CrashSiteRecord)) is found


def test_an_error_that_the_cell_handles_is_not_recorded(run_cell):
    run, _ = run_cell(NET + "try:\n    net(torch.randn(3, 4))\nexcept RuntimeError:\n    pass")
    assert not run.of(CrashSiteRecord)
    assert run.findings == ()


@pytest.mark.parametrize("raised", ["ValueError('no')", "KeyboardInterrupt", "SystemExit(1)", "StopIteration"])
def test_an_error_that_is_not_torchs_is_not_explained(run_cell, raised):
    run, _ = run_cell(f"raise {raised}", raises=BaseException)
    assert not run.of(CrashSiteRecord)


def test_what_an_error_of_the_users_own_class_says_is_not_asked(run_cell):
    source = "class Mine(Exception):\n    def __str__(self):\n        raise SystemExit\n\nraise Mine"
    with pytest.raises(SystemExit):  # by the plain record of the error, as Python itself would
        run_cell(source, raises=BaseException)


@pytest.mark.parametrize(
    ("labels", "value", "bad"), [("[0, 3, 1]", 3, 1), ("[0, -1, -1]", -1, 2), ("[-100, 1, 7]", 7, 1)]
)
def test_labels_out_of_range_are_counted_and_those_to_be_ignored_are_not(run_cell, labels, value, bad):
    run, _ = run_cell(f"y = torch.tensor({labels})\nF.cross_entropy(torch.randn(3, 3), y)", raises=IndexError)
    record = site(run)
    assert (record.value, record.limit, record.num_bad, record.num_values) == (value, 3, bad, 3)
    assert record.alike


def test_labels_out_of_range_that_differ_are_not_alike(run_cell):
    run, _ = run_cell("F.cross_entropy(torch.randn(3, 3), torch.tensor([0, 255, 7]))", raises=IndexError)
    assert not site(run).alike


def test_a_cross_entropy_by_hand_is_about_labels(run_cell):
    source = "x = torch.randn(3, 3, requires_grad=True).log_softmax(1)\ny = torch.tensor([0, 3, 1])\nx[range(3), y]"
    run, _ = run_cell(source, raises=IndexError)
    assert (site(run).problem, site(run).value) == (CrashKind.LABEL, 3)


def test_indices_of_an_embedding_are_counted(run_cell):
    run, _ = run_cell("words = nn.Embedding(5, 2)\nwords(torch.tensor([1, 5, 9]))", raises=IndexError)
    record = site(run)
    assert (record.module, record.value, record.limit, record.num_bad) == ("words", 9, 5, 2)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("h *= 2", "h *= 2"),
        ("h.relu_()", "h.relu_()"),
        ("h[0] = 1", "h[0] = 1"),
        ("F.relu(h, inplace=True)", "F.relu(h, inplace=True)"),
    ],
)
def test_the_line_that_changes_is_found(run_cell, change, line):
    source = f"""
        net = nn.Linear(4, 4)
        count = 0
        count += 1
        h = net(torch.randn(2, 4)).sigmoid()
        {change}
        loss = h.sum()
        loss.backward()
    """
    run, _ = run_cell(source, raises=RuntimeError)
    (record,) = run.of(InplaceRecord)
    assert record.place.source == line
    assert (record.name, record.made_by.removesuffix("Backward0"), record.sure) == ("h", "Sigmoid", True)


@pytest.mark.skipif(not READABLE, reason="an older torch hides what was changed")
def test_a_step_in_between_names_the_parameter_and_its_optimizer(run_cell):
    source = """
        net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        loss = net(torch.randn(2, 4)).sum()
        loss.backward(retain_graph=True)
        opt.step()
        loss.backward()
    """
    run, _ = run_cell(source, raises=RuntimeError)
    (record,) = run.of(InplaceRecord)
    assert (record.name, record.optimizer) == ("net.1.weight", "opt")
    assert [finding.source for finding in run.findings if finding.rule == "inplace-autograd-error"] == ["opt.step()"]


def test_a_state_that_a_function_carries_in_a_global_variable_is_told(run_cell):
    source = """
    rnn = nn.RNN(3, 3)
    x, h = torch.randn(2, 3), None

    def main():
        global h
        for _ in range(3):
            out, h = rnn(x, h)
            loss = out.sum()
            loss.backward()

    main()
    """
    run, _ = run_cell(source, raises=RuntimeError)
    (record,) = run.of(ReusedGraphRecord)
    assert (record.reuse, record.name, record.made.source) == (Reuse.CARRIED, "h", "out, h = rnn(x, h)")


LOOP = """
net, rnn = nn.Linear(3, 3), nn.RNN(3, 3)
opt = torch.optim.SGD([*net.parameters(), *rnn.parameters()], lr=0.1)
x = torch.randn(2, 3)
{before}
for _ in range(3):
    {inside}
    loss.backward()
"""


@pytest.mark.parametrize(
    ("before", "inside", "reuse", "name"),
    [
        ("h = None", "out, h = rnn(x, h); loss = out.sum()", Reuse.CARRIED, "h"),
        ("total = 0", "total = total + net(x).sum().tanh(); loss = total", Reuse.CARRIED, "total"),
        ("seen = []", "seen.append(net(x).tanh().sum()); loss = sum(seen)", Reuse.CARRIED, "seen"),
        ("h = net(x).tanh()", "loss = h.sum()", Reuse.OUTSIDE, "h"),
        ("loss = net(x).tanh().sum()", "pass", Reuse.OUTSIDE, "loss"),
        ("", "h = net(x).tanh(); first = h.sum(); first.backward(); loss = h.pow(2).sum()", Reuse.SHARED, "h"),
    ],
)
def test_how_a_graph_came_to_be_used_twice_is_found(run_cell, before, inside, reuse, name):
    run, _ = run_cell(LOOP.format(before=before, inside=inside), raises=RuntimeError)
    (record,) = run.of(ReusedGraphRecord)
    assert (record.reuse, record.name, record.loss) == (reuse, name, "loss")
    assert name in record.made.source


def test_a_forward_without_gradients_is_found_with_what_switched_them_off(run_cell):
    source = """
        net = nn.Linear(3, 1)
        with torch.no_grad():
            out = net(torch.randn(2, 3))
        out.sum().backward()
    """
    run, _ = run_cell(source, raises=RuntimeError)
    (record,) = run.of(GradlessForwardRecord)
    assert (record.model, record.how, record.crashed) == ("net", "torch.no_grad()", True)
    assert record.forward.source == "out = net(torch.randn(2, 3))"


def test_a_loss_that_is_cut_off_is_not_blamed_on_an_evaluation(run_cell):
    source = """
        net = nn.Linear(3, 1)
        with torch.no_grad():
            net(torch.randn(2, 3))
        net(torch.randn(2, 3)).detach().sum().backward()
    """
    run, _ = run_cell(source, raises=RuntimeError)
    assert not run.of(GradlessForwardRecord)


def test_a_loss_made_to_require_a_gradient_is_found_without_a_crash(run_cell):
    source = """
        net = nn.Linear(3, 1)
        for _ in range(3):
            with torch.no_grad():
                loss = net(torch.randn(2, 3)).sum()
            loss.requires_grad_().backward()
    """
    run, _ = run_cell(source)
    assert [record.crashed for record in run.of(GradlessForwardRecord)] == [False]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("F.binary_cross_entropy_with_logits(z, y)", 5),
        ("nn.BCEWithLogitsLoss()(z, y)", 5),
        ("F.binary_cross_entropy_with_logits(z, y, reduction='none').mean()", 0),
        ("F.binary_cross_entropy_with_logits(z, y, (y > 0).float())", 0),
        ("F.binary_cross_entropy_with_logits(z, y.clamp(0, 1))", 0),
        ("F.mse_loss(z, y)", 0),
    ],
)
def test_targets_of_a_binary_loss_are_looked_at_where_nothing_masks_them(run_cell, call, told):
    source = f"""
        net = nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        y = torch.tensor([[-1.0], [1.0]])
        for _ in range(5):
            z = net(torch.randn(2, 3))
            loss = {call}
            opt.zero_grad()
            loss.backward()
            opt.step()
    """
    run, _ = run_cell(source)
    assert len(run.of(TargetRangeRecord)) == told


def test_a_failed_allocation_tells_what_is_resident_by_category_and_name(run_cell):
    source = """
        net = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        opt = torch.optim.Adam(net.parameters())
        table, kept = torch.zeros(1000, 64), []
        for _ in range(3):
            loss = net(table).pow(2).mean()
            kept.append(loss)
            opt.zero_grad()
            loss.backward(retain_graph=True)
            opt.step()
        torch.empty(10**15)
    """
    run, _ = run_cell(source, raises=RuntimeError)
    (record,) = run.of(OutOfMemoryRecord)
    size = sum(each.numel() for each in (torch.nn.Linear(64, 64).weight, torch.nn.Linear(64, 1).weight)) * 4 + 65 * 4
    assert record.requested == 4 * 10**15
    assert record.categories["parameters"] == record.categories["gradients"] == size
    assert record.categories["optimizer state"] >= 2 * size
    assert record.categories["activations"] >= 3 * 1000 * 64 * 4
    names = [each.name for each in record.residents]
    assert "kept" in names
    assert "table" in names
    assert (record.device, record.optimizer, record.model) == ("cpu", "opt (Adam)", "net")


def test_the_note_is_under_the_exception_once():
    with pytest.raises(RuntimeError) as caught, watch(save=False):
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    (note,) = caught.value.__notes__
    assert note.startswith("torchmagic: ")


def test_nested_watches_add_one_note():
    with pytest.raises(RuntimeError) as caught, watch(save=False), watch(save=False):
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    assert len(caught.value.__notes__) == 1


def test_nothing_of_a_crash_is_held(run_cell):
    def failing():
        held = torch.zeros(7, 7)
        refs.append(weakref.ref(held))
        held @ torch.zeros(3, 3)

    refs = []
    run_cell("failing()", names={"failing": failing}, raises=RuntimeError)
    gc.collect()
    assert refs[0]() is None


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="asking a frame keeps nothing there")
def test_the_variables_of_a_function_that_still_runs_are_not_kept():
    def body():
        held = torch.zeros(7, 7)
        ref = weakref.ref(held)
        with pytest.raises(RuntimeError), watch(save=False):
            held @ torch.zeros(3, 3)
        del held
        gc.collect()
        return ref()

    assert body() is None


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_parts_without_values_do_not_hide_who_keeps_the_memory(run_cell, mode):
    source = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.spare = nn.Linear(4, 8), nn.LazyLinear(3)

        def forward(self, x):
            return self.body(x)

    net = Net().{mode}()
    opt = torch.optim.Adam(net.body.parameters())
    net(torch.randn(2, 4)).sum().backward()
    opt.step()
    torch.empty(10**15)
    """
    run, _ = run_cell(source, raises=RuntimeError)
    (record,) = run.of(OutOfMemoryRecord)
    assert record.categories["parameters"] == record.categories["gradients"] == 4 * 40
    assert (record.model, record.is_training) == ("net", mode == "train")
