"""This file tests what is seen of the inputs of losses, of the dimension of softmaxes, and of dropout as a function."""

import pytest
import torch
from torch.nn import functional

from torchmagic.records.crash import TargetRangeRecord
from torchmagic.records.evaluation import AwakeDropoutRecord, EvaluationRecord
from torchmagic.records.loss import (
    WEIGHTED,
    BroadcastRecord,
    LossInputRecord,
    ProbabilityInputRecord,
    SoftmaxAxisRecord,
)
from torchmagic.records.protocol import EvalModeRecord

# Functions that were imported before the run began, so that no wrapper is around them.
BEFORE = {
    "ce": functional.cross_entropy,
    "mse": functional.mse_loss,
    "bce": functional.binary_cross_entropy_with_logits,
}
LOOP = """
torch.manual_seed(0)
net, one = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 5)), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*net.parameters(), *one.parameters()], lr=1e-3)
for step in range(4):
    x, y = torch.randn(12, 6), torch.randint(0, 5, (12,))
    target = x.sum(1)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def looped(run_cell, loss, **names):
    return run_cell(LOOP.format(loss=loss), names={**BEFORE, **names})[0]


@pytest.mark.parametrize(
    ("loss", "source", "inner"),
    [
        (
            "loss = F.binary_cross_entropy_with_logits(torch.sigmoid(one(x)), (target > 0).float()[:, None])",
            "sigmoid",
            "",
        ),
        ("loss = bce(one(x).sigmoid().clamp(0.1, 0.9), (target > 0).float()[:, None])", "sigmoid", ""),
        (
            "loss = F.binary_cross_entropy(one(x).sigmoid().sigmoid(), (target > 0).float()[:, None])",
            "sigmoid",
            "sigmoid",
        ),
        ("loss = F.nll_loss(net(x).log_softmax(1), y)", "log_softmax", ""),
        ("loss = F.mse_loss(F.softplus(one(x)), target[:, None])", "softplus", ""),
        ("loss = F.mse_loss(one(x).exp() / (1 + one(x).exp()), target[:, None])", "sigmoid", ""),
        ("loss = F.mse_loss(one(x), target[:, None])", "", ""),
    ],
)
def test_the_operation_before_a_loss_is_told_apart(run_cell, loss, source, inner):
    records = looped(run_cell, loss).of(LossInputRecord)
    assert len(records) == 4
    assert {(record.source, record.inner) for record in records} == {(source, inner)}


def test_the_module_of_a_bounded_function_is_known_from_the_second_batch_on(run_cell):
    run = looped(run_cell, "loss = F.mse_loss(nn.Sequential(one, nn.Sigmoid())(x), target[:, None])")
    first, *others = run.of(LossInputRecord)
    assert first.producer is None
    assert all(record.producer_place is not None for record in others)


def test_what_an_activation_cannot_reach_is_counted(run_cell):
    run = looped(run_cell, "loss = F.mse_loss(one(x).sigmoid(), torch.linspace(-1, 2, 12)[:, None])")
    assert all(record.outside == pytest.approx(8 / 12) for record in run.of(LossInputRecord))


def test_a_difference_by_hand_gives_its_target_back(run_cell):
    run = looped(run_cell, "loss = (torch.linspace(-1, 2, 12)[:, None] - one(x).tanh()).pow(2).mean()")
    for record in run.of(LossInputRecord):
        assert (record.loss, record.source) == ("difference", "tanh")
        assert (record.target_low, record.target_high) == pytest.approx((-1, 2), abs=1e-5)


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_losses_that_were_imported_before_are_read_from_the_graph(run_cell):
    run = looped(run_cell, "loss = ce(net(x).softmax(1), y)")
    assert len(run.of(ProbabilityInputRecord)) == 4
    run = looped(run_cell, "loss = mse(one(x), target)")
    assert {record.output_shape for record in run.of(BroadcastRecord)} == {(12, 12)}


def test_a_loss_without_gradient_is_left_alone(run_cell):
    loss = "loss = F.mse_loss(one(x), target[:, None]); val = F.nll_loss(net(x).detach(), y)"
    assert {record.loss for record in looped(run_cell, loss).of(LossInputRecord)} == {"mse_loss"}


@pytest.mark.parametrize(
    "tensor", ["net(x).half().float()", "net(x).to(torch.bfloat16)", "net(x).double()", "net(x)[:0]"]
)
def test_types_and_nothing_at_all_do_no_harm(run_cell, tensor):
    assert looped(run_cell, f"z = {tensor}; loss = F.cross_entropy(z, y[: len(z)]) + net(x).sum()").steps == 4


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("loss = -F.log_softmax(net(x), 0).gather(1, y[:, None]).mean()", "batch"),
        ("q = net(x).view(3, 4, 5); loss = (((q @ q.mT).softmax(1)) @ q).sum()", "weights"),
        ("q = net(x).view(3, 4, 5); loss = (q[..., :1].softmax(-1) * q).sum(1).sum()", "single"),
        ("q = net(x).view(3, 4, 5); loss = (((q @ q.mT).softmax(-1)) @ q).sum()", None),
        ("h = net(x).view(3, 4, 5); loss = (h[..., :1].softmax(0) * h).sum(0).sum()", None),
        ("loss = -F.log_softmax(net(x[0]), 0)[1]", None),
        ("loss = -F.log_softmax(net(x[:1]), 0)[0, 1]", None),
        ("loss = -F.log_softmax(net(x).view(3, 4, 5), -1)[..., 0].mean()", None),
        ("q = net(x).view(3, 4, 5); loss = (q[..., :1].softmax(1) * q).sum(1).sum()", None),
        ("q = net(x).view(3, 4, 5); loss = torch.einsum('bnk,bnd->bkd', q.softmax(-1), q).sum()", None),
        ("q = net(x).view(3, 4, 5); loss = torch.einsum('bqk,bkd->bqd', (q @ q.mT).softmax(-1), q).sum()", None),
    ],
)
def test_the_dimension_of_a_softmax_is_compared_with_its_use(run_cell, code, reason):
    records = looped(run_cell, code).of(SoftmaxAxisRecord)
    assert {record.reason for record in records} - {"alone"} == ({reason} if reason else set())


@pytest.mark.parametrize(
    ("code", "dims"),
    [
        ("loss = -F.log_softmax(net(x)[:, :1], 1).mean()", [1] * 4),
        ("h = net(x)[:, :1]; loss = (h.softmax(-1) * h.softmax(1)).log().mean()", [1] * 4),
        ("loss = -F.log_softmax(net(x), 1).mean()", []),
        ("loss = -F.log_softmax(net(x)[0, :1], 0).mean()", []),
    ],
)
def test_a_softmax_of_a_single_value_is_noted_once_a_step(run_cell, code, dims):
    records = looped(run_cell, code).of(SoftmaxAxisRecord)
    assert [record.dim for record in records if record.reason == "alone"] == dims


EVALUATED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return F.dropout(self.drop(self.fc(x)), 0.3{training})

net = Net().eval()
{before}
with torch.no_grad():
    for _ in range(3):
        net(torch.randn(2, 4))
"""


@pytest.mark.parametrize(
    ("training", "before", "calls"),
    [("", "", 3), (", training=self.training", "", 0), ("", "net.drop.train()", 0), (", True, True", "", 3)],
)
def test_dropout_as_a_function_is_seen_inside_a_model_in_evaluation_mode(run_cell, training, before, calls):
    run, _ = run_cell(EVALUATED.format(training=training, before=before))
    assert sum(record.times for record in run.of(AwakeDropoutRecord)) == calls


def test_the_functions_of_dropout_are_torchs_own_again_afterwards(run_cell):
    before = vars(torch._VF).copy(), torch.dropout, torch.nn.functional.scaled_dot_product_attention
    run_cell(EVALUATED.format(training="", before=""))
    assert (vars(torch._VF), torch.dropout, torch.nn.functional.scaled_dot_product_attention) == before


ATTENTIVE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.fc(x)
        return F.scaled_dot_product_attention(x, x, x{given})

net = Net().eval()
{then}
with torch.no_grad():
    for _ in range(3):
        net(torch.randn(2, 3, 4))
"""


@pytest.mark.parametrize(
    ("given", "then", "calls"),
    [
        (", dropout_p=0.2", "", 3),
        (", None, 0.2", "", 3),
        (", dropout_p=0.2 * self.training", "", 0),
        ("", "", 0),
        (", dropout_p=0.2", "net.fc.train()", 0),
    ],
)
def test_dropout_of_attention_is_seen_inside_a_model_in_evaluation_mode(run_cell, given, then, calls):
    run, _ = run_cell(ATTENTIVE.format(given=given, then=then))
    assert sum(record.times for record in run.of(AwakeDropoutRecord)) == calls


@pytest.mark.parametrize(
    "layer",
    ["nn.LSTM(4, 4, 2, dropout=0.5)", "nn.MultiheadAttention(4, 2, dropout=0.5)", "nn.Sequential(nn.Dropout())"],
)
def test_dropout_inside_other_modules_sleeps_too(run_cell, layer):
    run, _ = run_cell(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.out = {layer}, nn.Linear(4, 1)

            def forward(self, x):
                h = self.layer(x, x, x) if isinstance(self.layer, nn.MultiheadAttention) else self.layer(x)
                return self.out(h[0] if isinstance(h, tuple) else h)

        net = Net().eval()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            net(torch.randn(3, 2, 4)).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    """)
    assert len(run.of(EvalModeRecord)) == 3


def test_an_evaluation_tells_of_its_statistics_and_whether_it_began_with_the_same_tensor(run_cell):
    run, _ = run_cell("""
        net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        held = torch.randn(8, 4)
        for _ in range(3):
            net(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
            with torch.no_grad():
                net(held[:5])
    """)
    records = run.of(EvaluationRecord)
    assert [record.same_input for record in records] == [False, True, True]
    assert {(record.awake, record.norms) for record in records} == {(("net.1", "net.2"), ("net.1",))}


def test_a_validation_with_gradients_in_training_mode_is_seen_between_two_batches(run_cell):
    run, _ = run_cell("""
        from torch.utils.data import DataLoader, TensorDataset
        net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        train, held = DataLoader(TensorDataset(torch.randn(16, 4)), 4), torch.randn(8, 4)
        for _ in range(3):
            for (x,) in train:
                net(x).pow(2).mean().backward()
                optimizer.step()
            score = net(held).mean().item()
    """)
    records = run.of(EvaluationRecord)
    assert len(records) == 3
    assert all(record.training and record.grad_enabled and record.awake == ("net.1",) for record in records)


@pytest.mark.parametrize(
    ("loss", "weighted"),
    [
        ("loss = F.nll_loss(F.log_softmax(net(x), 1) * torch.rand(12, 5), y)", True),
        ("loss = F.nll_loss(net(x) * torch.rand(12, 5), y)", False),
        ("loss = F.nll_loss(net(x), y)", False),
    ],
)
def test_a_logarithm_below_a_weight_is_told_from_weighted_scores(run_cell, loss, weighted):
    records = looped(run_cell, loss).of(LossInputRecord)
    assert {record.log_above for record in records} == {weighted}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("e = (one(x)[:, 0] - target) ** 2; loss = (e * w[:, None]).sum() / w.sum()", [((12,), (12, 1))]),
        ("e = (one(x) - target[:, None]) ** 2; loss = (w * e).mean()", [((12, 1), (12,))]),
        ("loss = (F.cross_entropy(net(x), y, reduction='none') * w[:, None]).mean()", [((12,), (12, 1))]),
        ("e = (one(x)[:, 0] - target) ** 2; loss = (e * w).sum() / w.sum()", []),
        ("e = (one(x)[:, 0] - target) ** 2; loss = (e * w[:, None]).sum(0).max()", []),
        ("e = (one(x)[:, 0] - target) ** 2; loss = (e * torch.rand(12, 12)).sum()", []),
        ("e = (net(x) - y[:, None]) ** 2; loss = (e * w[:, None]).sum()", []),
        ("e = (one(x)[:1, 0] - target[:1]) ** 2; loss = (e * w[:1, None]).sum()", []),
        ("a = target - w[:, None]; loss = -(one(x)[:, 0] * (a - a.mean()) / a.std()).mean()", [((12,), (12, 12))]),
        ("a = target - w[:, None]; loss = -(one(x)[:, 0] * ((a - a.mean()) / a.std())).mean()", [((12,), (12, 12))]),
        ("a = target + 0 * w[:, None]; loss = -(one(x)[:, 0] * a).mean()", []),
        ("a = 0 * target - w[:, None]; loss = -(one(x)[:, 0] * a).mean()", []),
        ("a = target * w[:, None]; loss = -(one(x)[:, 0] * a).mean()", []),
    ],
    ids=[
        "column",
        "row",
        "criterion",
        "alike",
        "reduced by rows",
        "matrix",
        "a row of each",
        "one sample",
        "divided after",
        "row less column",
        "rows alike",
        "columns alike",
        "outer",
    ],
)
def test_weights_that_are_stretched_against_losses_are_told(run_cell, code, told):
    run = looped(run_cell, f"w = torch.rand(12); {code}")
    records = [each for each in run.of(BroadcastRecord) if each.loss == WEIGHTED]
    assert {(each.input_shape, each.target_shape) for each in records} == set(told)


def test_targets_out_of_reach_of_a_logit_that_is_never_negative_are_counted(run_cell):
    goal = "(torch.arange(12) % 3 == 0).float()[:, None]"
    run = looped(run_cell, f"loss = F.binary_cross_entropy_with_logits(one(x).relu(), {goal})")
    assert all(record.outside == pytest.approx(8 / 12) for record in run.of(LossInputRecord))
    run = looped(run_cell, f"loss = F.binary_cross_entropy_with_logits(one(x), {goal})")
    assert all(record.outside != record.outside for record in run.of(LossInputRecord))


@pytest.mark.parametrize(
    ("call", "swapped"),
    [
        ("bce({goal}, one(x), reduction='none').mean()", [True]),
        ("bce(one(x), {goal} * 3, reduction='none').mean()", []),
        ("bce(one(x), {goal} * 3)", [False]),
        ("bce(one(x), 3 + one(x).detach())", [False]),
    ],
)
def test_a_binary_loss_is_told_whose_prediction_and_target_have_changed_places(run_cell, call, swapped):
    goal = "(torch.arange(12) % 3 == 0).float()[:, None]"
    code = f"loss = {call.format(goal=goal)}".replace("bce(", "F.binary_cross_entropy_with_logits(")
    run = looped(run_cell, code)
    assert {each.reversed for each in run.of(TargetRangeRecord)} == set(swapped)


@pytest.mark.parametrize(
    ("given", "told"),
    [("labels, out", True), ("out, labels", False), ("soft, out", False), ("labels, out.detach()", False)],
)
def test_labels_that_stand_where_a_probability_belongs_are_told_even_in_range(run_cell, given, told):
    run, _ = run_cell(f"""
    net = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    labels = torch.randint(0, 2, (16, 1)).float()
    soft = labels.clamp(1e-4, 1 - 1e-4)
    for step in range(5):
        opt.zero_grad()
        out = net(torch.randn(16, 3))
        loss = nn.BCELoss()({given})
        opt.step()
    """)
    assert bool(run.of(TargetRangeRecord)) == told
    assert all(each.reversed and not each.num_bad for each in run.of(TargetRangeRecord))
