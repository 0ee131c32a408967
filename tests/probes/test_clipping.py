"""This file tests whether clips that a step uses are told from those that come too late or too early."""

import pytest

from torchmagic.records.clipping import ClippingLineRecord, ClipRecord

SETUP = """
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(8):
    {}
"""
CLIP = "clip_grad_norm_(net.parameters(), 0.1)"


def clips(run_cell, *lines):
    run, _ = run_cell(SETUP.format("\n    ".join(lines)))
    return [(record.used, record.unused, record.after_step) for record in run.of(ClipRecord)]


@pytest.mark.parametrize(
    "clip", [CLIP, "clip_grad_value_(net.parameters(), 0.1)", "nn.utils.clip_grad_norm_(net.parameters(), 0.1)"]
)
def test_a_clip_after_the_step_is_for_nothing(run_cell, clip):
    found = clips(run_cell, "opt.zero_grad()", "F.mse_loss(net(x), y).backward()", "opt.step()", clip)
    assert found == [(0, 7, 7)]


def test_a_clip_before_the_backward_is_for_nothing(run_cell):
    found = clips(run_cell, "opt.zero_grad()", CLIP, "F.mse_loss(net(x), y).backward()", "opt.step()")
    assert found == [(0, 7, 0)]


@pytest.mark.parametrize(
    "lines",
    [
        ("opt.zero_grad()", "F.mse_loss(net(x), y).backward()", CLIP, "opt.step()"),
        ("F.mse_loss(net(x), y).backward()", CLIP, "opt.step()", "opt.zero_grad()"),
        ("opt.zero_grad()", "F.mse_loss(net(x), y).backward()", CLIP, "[p.grad.add_(0.1) for p in net.parameters()]",
         "opt.step()"),
        ("opt.zero_grad()", "F.mse_loss(net(x), y).backward()", "opt.step()", "clip_grad_norm_(net.parameters(), 1e9)"),
    ],
)  # fmt: skip
def test_a_clip_that_a_step_uses_or_that_has_no_limit_is_no_news(run_cell, lines):
    assert clips(run_cell, *lines) == []


def test_a_function_imported_before_the_cell_is_seen(run_cell):
    from torch.nn.utils import clip_grad_norm_  # noqa: PLC0415 - by a name of its own, as in an earlier cell

    setup = SETUP.partition("\n")[2].partition("\n")[2]
    source = setup.format(f"opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n    {CLIP}")
    run, _ = run_cell(source, names={"clip_grad_norm_": clip_grad_norm_})
    assert [record.unused for record in run.of(ClipRecord)] == [7]


def test_a_scaler_that_unscales_after_the_clip_is_another_matter(run_cell):
    found = clips(
        run_cell,
        "scaler = globals().setdefault('scaler', torch.amp.GradScaler('cpu', init_scale=4.0))",
        "opt.zero_grad()",
        "scaler.scale(F.mse_loss(net(x), y)).backward()",
        CLIP,
        "scaler.step(opt)",
        "scaler.update()",
    )
    assert found == []


def test_a_clip_that_begins_late_wakes_the_probe(run_cell):
    late = SETUP.replace("range(8)", "range(20)")
    run, _ = run_cell(
        late.format(f"opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()\n    if step > 11: {CLIP}")
    )
    assert [(record.used, record.unused, record.after_step) for record in run.of(ClipRecord)] == [(0, 6, 6)]


@pytest.mark.filterwarnings("ignore:.*empty generator")
def test_an_iterator_that_has_been_walked_is_told_and_a_part_without_parameters_in_turn_is_not(run_cell):
    run, _ = run_cell("""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    parameters = net.parameters()
    opt = torch.optim.SGD(parameters, lr=0.1)
    for step in range(8):
        opt.zero_grad()
        net(torch.randn(8, 3)).mean().backward()
        nn.utils.clip_grad_norm_(parameters, 0.1)
        for part in (net[2], net[1]):
            nn.utils.clip_grad_norm_(part.parameters(), 0.1)
        opt.step()
    """)
    (walked,) = run.of(ClipRecord)
    assert (walked.used, walked.unused, walked.empty) == (0, 7, 7)
    assert walked.place.source == "nn.utils.clip_grad_norm_(parameters, 0.1)"


def test_each_line_that_clips_is_told_once(run_cell):
    lines = "opt.zero_grad()", "F.mse_loss(net(x), y).backward()", CLIP, "clip_grad_value_(net.parameters(), 1.0)"
    run, _ = run_cell(SETUP.format("\n    ".join([*lines, "opt.step()", "clip_grad_norm_(net.parameters(), 1e9)"])))
    assert [record.place.source for record in run.of(ClippingLineRecord)] == list(lines[2:])


@pytest.mark.parametrize(
    ("other", "gradless"),
    [
        ("other.parameters()", [7]),  # the first clip is before the first step
        ("[*other.parameters(), *net.parameters()]", []),
        ("[]", []),
        ("[*other.parameters(), x.requires_grad_()]", []),
    ],
)
def test_a_clip_of_what_has_no_gradient_and_no_optimizer_is_for_nothing(run_cell, other, gradless):
    setup = "other = nn.Linear(3, 4)\n" + SETUP
    clip = f"clip_grad_norm_({other}, 0.1)"
    lines = ["x.requires_grad_()", "opt.zero_grad()", "F.mse_loss(net(x), y).backward()", clip, "opt.step()"]
    run, _ = run_cell(setup.format("\n    ".join(lines)))
    assert [record.gradless for record in run.of(ClipRecord) if record.gradless] == gradless
