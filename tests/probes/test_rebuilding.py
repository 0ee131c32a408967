"""This file tests whether optimizers that are built again and again over the same parameters are counted."""

from torchmagic.records.loop import RebuiltOptimizerRecord

LOOP = """
net = nn.Linear(3, 1)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for epoch in range(4):
    {}
    for step in range(2):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""


def rebuilt(run_cell, *lines):
    run, _ = run_cell(LOOP.format("\n    ".join(lines)))
    return run.of(RebuiltOptimizerRecord)


def test_each_that_stepped_is_counted_with_its_steps(run_cell):
    (record,) = rebuilt(run_cell, "opt = torch.optim.Adam(net.parameters(), lr=0.1)")
    assert (record.optimizer, record.class_name, record.built, record.keeps_state) == ("opt", "Adam", 4, True)
    assert (record.least_steps, record.most_steps, record.most_passes) == (2, 2, 0)
    assert record.same_settings
    assert record.places[0].source == "opt = torch.optim.Adam(net.parameters(), lr=0.1)"


def test_settings_and_state_are_told(run_cell):
    (record,) = rebuilt(run_cell, "opt = torch.optim.SGD(net.parameters(), lr=0.1 / (epoch + 1))")
    assert (record.keeps_state, record.same_settings) == (False, False)
    (record,) = rebuilt(run_cell, "opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)")
    assert record.keeps_state


def test_new_parameters_and_new_weights_begin_a_new_count(run_cell):
    assert rebuilt(run_cell, "net = nn.Linear(3, 1)", "opt = torch.optim.Adam(net.parameters())") == []
    assert rebuilt(run_cell, "net.reset_parameters()", "opt = torch.optim.Adam(net.parameters())") == []
    assert rebuilt(run_cell, "net.load_state_dict(net.state_dict())", "opt = torch.optim.Adam(net.parameters())") == []


def test_a_model_with_other_buffers_begins_a_new_count(run_cell):
    prune = "from torch.nn.utils import prune; prune.l1_unstructured(net, 'weight', amount=0.2)"
    assert rebuilt(run_cell, prune, "opt = torch.optim.Adam(net.parameters(), lr=0.1)") == []
    (record,) = rebuilt(run_cell, f"if not epoch: {prune}", "opt = torch.optim.Adam(net.parameters(), lr=0.1)")
    assert record.built == 4


def test_buffers_that_move_in_training_are_the_same(run_cell):
    norm = "net = globals().setdefault('norm', nn.Sequential(nn.Linear(3, 1), nn.BatchNorm1d(1)))"
    (record,) = rebuilt(run_cell, norm, "opt = torch.optim.Adam(net.parameters(), lr=0.1)")
    assert record.built == 4
