"""This file tests what is known of learning rates and their schedules."""

import gc
import warnings
import weakref

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from torchmagic.analyses.schedules import schedules
from torchmagic.debuggers.watching import watch
from torchmagic.probes.schedule_wrappers import SCHEDULERS
from torchmagic.records.schedule import ScheduleRecord

ONLY = {"only": ("lr",)}
# An older torch warns of what it does itself.
OLDER = pytest.mark.filterwarnings("ignore:The epoch parameter:UserWarning")
SETUP = """
from torch.optim import lr_scheduler
net, x = nn.Linear(2, 1), torch.ones(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def step():
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
"""


def told(run):
    return run.of(ScheduleRecord)


def test_a_rate_that_stays_is_told_first_last_and_now_and_then(run_cell):
    run, _ = run_cell(SETUP + "for _ in range(200): step()", **ONLY)
    steps, rates = run.series("lr", name="opt")
    assert steps == [0, 64, 128, 192, 200]
    assert set(rates) == {0.1}


def test_a_rate_is_told_at_each_step_that_changes_it(run_cell):
    source = SETUP + "schedule = lr_scheduler.StepLR(opt, 5)\nfor _ in range(20):\n    step()\n    schedule.step()"
    run, _ = run_cell(source, **ONLY)
    steps, rates = run.series("lr", name="opt")
    assert steps[:4] == [0, 5, 10, 15]
    assert rates[:4] == pytest.approx([0.1, 0.01, 0.001, 0.0001])


def test_a_rate_set_by_hand_is_told(run_cell):
    source = SETUP + "for i in range(6):\n    opt.param_groups[0]['lr'] = 0.1 if i < 3 else 0.0\n    step()"
    run, _ = run_cell(source, **ONLY)
    assert run.series("lr", name="opt") == ([0, 3, 6], [0.1, 0.0, 0.0])


def test_each_group_and_optimizer_has_its_own_rate(run_cell):
    source = SETUP + (
        "opt = torch.optim.SGD([{'params': [net.weight], 'lr': 0.5}, {'params': [net.bias], 'lr': 0.25}])\n"
        "other = torch.optim.Adam(net.parameters(), lr=torch.tensor(0.125))\nstep()\nother.step()"
    )
    run, _ = run_cell(source, **ONLY)
    assert run.subjects("lr") == ("opt[0]", "opt[1]", "other")
    assert run.series("lr", name="opt[1]")[1][0] == 0.25
    assert run.series("lr", name="other")[1][0] == 0.125


def test_a_schedule_stepped_each_batch_has_cadence_one(run_cell):
    source = (
        SETUP
        + "decay = lr_scheduler.CosineAnnealingLR(opt, T_max=40)\nfor _ in range(20):\n    step()\n    decay.step()"
    )
    run, _ = run_cell(source, **ONLY)
    (found,) = told(run)
    assert (found.name, found.class_name, found.optimizer, found.base_lr) == (
        "decay",
        "CosineAnnealingLR",
        "opt",
        (0.1,),
    )
    assert (found.settings["T_max"], found.step, found.stepped, found.before_optimizer) == (40.0, 1, True, False)
    assert (found.metric, found.scaled, found.parts) == (False, False, ())
    assert found.built.source.startswith("decay = ")
    assert found.place.source == "decay.step()"
    (row,) = schedules(run)
    assert (row.num_steps, row.cadence, row.length, row.done) == (20, 1.0, 40, 0.5)


def test_the_settings_of_a_schedule_are_its_numbers_and_no_switches(run_cell):
    source = (
        SETUP + "one = lr_scheduler.OneCycleLR(opt, 0.5, total_steps=9)\nfor _ in range(9):\n    step()\n    one.step()"
    )
    (found,) = told(run_cell(source, **ONLY)[0])
    assert found.settings == {"total_steps": 9.0}


def test_a_schedule_stepped_each_epoch_has_the_cadence_of_an_epoch(run_cell):
    source = SETUP + (
        "decay = lr_scheduler.StepLR(opt, 2)\nfor _ in range(4):\n    for _ in range(7): step()\n    decay.step()"
    )
    run, _ = run_cell(source, **ONLY)
    assert run.series("schedule_steps", name="decay") == ([7, 14, 21, 28], [1.0, 2.0, 3.0, 4.0])
    assert schedules(run)[0].cadence == 7.0
    assert schedules(run)[0].length is None


VALUES = "import numpy as np\nfrom fractions import Fraction\nclass Own(float): pass\n"


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("0.5 * i", [0.0, 0.5, 1.0]),
        ("metrics=torch.tensor([0.5 * i])", [0.0, 0.5, 1.0]),
        ("torch.tensor(0.5 * i, dtype=torch.bfloat16)", [0.0, 0.5, 1.0]),
        ("np.float32(0.5 * i)", [0.0, 0.5, 1.0]),
        ("Own(i)", [0.0, 1.0, 2.0]),
        ("Fraction(i, 2)", [0.0, 0.5, 1.0]),
        ("str(i)", []),  # torch takes it, too
    ],
)
def test_the_value_that_a_scheduler_watches_is_told(run_cell, given, values):
    watches = "wait = lr_scheduler.ReduceLROnPlateau(opt, mode='max')\nfor i in range(3):\n    step()\n    wait.step"
    run, _ = run_cell(f"{VALUES}{SETUP}{watches}({given})", **ONLY)
    assert run.series("schedule_metric", name="wait")[1] == values
    assert [(each.metric, each.mode) for each in told(run)] == [(True, "max")]


@pytest.mark.filterwarnings("ignore:The epoch parameter:UserWarning")
def test_the_epoch_that_a_scheduler_is_given_is_no_such_value(run_cell):
    decays = "decay = lr_scheduler.StepLR(opt, 2)\nfor i in range(3):\n    step()\n    decay.step(i)"
    run, _ = run_cell(SETUP + decays, **ONLY)
    assert run.subjects("schedule_metric") == ()
    assert [each.mode for each in told(run)] == [""]


def test_a_schedule_that_is_built_counts_no_step(run_cell):
    run, _ = run_cell(SETUP + "decay = lr_scheduler.CosineAnnealingWarmRestarts(opt, 5)\nstep()\ndecay.step()", **ONLY)
    assert run.series("schedule_steps", name="decay")[1] == [1.0]


@pytest.mark.parametrize("first", ["opt.step", "schedule.step"])
def test_a_schedule_before_its_optimizer_is_told(run_cell, first):
    loop = "    step()\n    decay.step()\n" if first == "opt.step" else "    decay.step()\n    step()\n"
    source = (
        SETUP
        + "import warnings\ndecay = lr_scheduler.StepLR(opt, 2)\n"
        + ("with warnings.catch_warnings(action='ignore'):\n for _ in range(3):\n" + loop)
    )
    run, _ = run_cell(source, **ONLY)
    assert told(run)[0].before_optimizer is (first == "schedule.step")
    assert told(run)[0].optimizer == "opt"  # also where it has not stepped yet


def test_a_scaler_that_skipped_the_optimizer_is_told_beside(run_cell):
    source = SETUP + (
        "import warnings\nscaler, decay = torch.amp.GradScaler('cpu'), lr_scheduler.StepLR(opt, 2)\n"
        "scaler.scale(net(x).sum() * float('inf')).backward()\nscaler.step(opt)\nscaler.update()\n"
        "with warnings.catch_warnings(action='ignore'): decay.step()"
    )
    run, _ = run_cell(source, **ONLY)
    (found,) = told(run)
    assert (found.before_optimizer, found.scaled) == (True, True)


@OLDER
def test_a_schedule_of_schedules_is_one_schedule(run_cell):
    source = SETUP + (
        "warm, then = lr_scheduler.LinearLR(opt, total_iters=3), lr_scheduler.ExponentialLR(opt, 0.9)\n"
        "both = lr_scheduler.SequentialLR(opt, [warm, then], milestones=[3])\n"
        "for _ in range(6):\n    step()\n    both.step()"
    )
    run, _ = run_cell(source, **ONLY)
    (found,) = told(run)
    assert (found.name, found.parts) == ("both", ("LinearLR", "ExponentialLR"))
    assert found.settings["last_milestone"] == 3.0
    assert run.series("schedule_steps", name="both")[1] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_schedule_that_waits_for_a_plateau_is_told_with_its_patience(run_cell):
    source = (
        SETUP
        + "wait = lr_scheduler.ReduceLROnPlateau(opt, patience=4)\nfor _ in range(3):\n    step()\n    wait.step(1.0)"
    )
    run, _ = run_cell(source, **ONLY)
    (found,) = told(run)
    assert (found.class_name, found.metric, found.settings["patience"]) == ("ReduceLROnPlateau", True, 4.0)


@pytest.mark.parametrize("make", ["StepLR(opt, 2)", "ReduceLROnPlateau(opt)"])
def test_a_schedule_that_was_never_stepped_is_told(run_cell, make):
    run, _ = run_cell(SETUP + f"decay = lr_scheduler.{make}\nfor _ in range(3): step()", **ONLY)
    (found,) = told(run)
    assert (found.name, found.stepped, found.step, found.place) == ("decay", False, None, None)


def test_a_schedule_never_stepped_inside_a_function_is_told_with_its_line(run_cell):
    source = (
        SETUP
        + "def train():\n    decay = lr_scheduler.StepLR(opt, 2)\n"
        + "    for _ in range(3): step()\n    held.append(decay)\n"
    )
    run, _ = run_cell(source + "train()", names={"held": []}, **ONLY)
    (found,) = told(run)
    assert (found.name, found.stepped) == ("held[0]", False)
    assert found.built.source == "decay = lr_scheduler.StepLR(opt, 2)"


def test_a_schedule_of_an_optimizer_that_never_stepped_is_nobodys_business(run_cell):
    source = SETUP + "spare = torch.optim.SGD(net.parameters(), lr=1)\ndecay = lr_scheduler.StepLR(spare, 2)\nstep()"
    run, _ = run_cell(source, **ONLY)
    assert not told(run)


def test_a_schedule_of_the_users_own_is_told(run_cell):
    source = SETUP + (
        "class Mine(lr_scheduler.LRScheduler):\n    def get_lr(self): return [0.01 * self.last_epoch]\n"
        "mine = Mine(opt)\nfor _ in range(3):\n    step()\n    mine.step()"
    )
    run, _ = run_cell(source, **ONLY)
    assert [(each.name, each.class_name) for each in told(run)] == [("mine", "Mine")]
    assert run.series("lr", name="opt")[1] == pytest.approx([0.0, 0.01, 0.02, 0.02])


def test_every_scheduler_of_torch_that_steps_in_its_own_way_is_wrapped():
    own = {
        each
        for each in vars(lr_scheduler).values()
        if isinstance(each, type) and issubclass(each, lr_scheduler.LRScheduler) and "step" in vars(each)
    }
    assert own == set(SCHEDULERS)
    assert len(own) >= 5


def make(kind):
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    return opt, getattr(lr_scheduler, kind)(
        opt, **{"StepLR": {"step_size": 2}, "CosineAnnealingWarmRestarts": {"T_0": 2}, "ReduceLROnPlateau": {}}[kind]
    )


def too_early():
    _, schedule = make("StepLR")
    for _ in range(3):
        schedule.step()


def with_an_epoch():
    opt, schedule = make("StepLR")
    opt.step()
    schedule.step(3)


def in_a_sequence():
    opt, first = make("StepLR")
    both = lr_scheduler.ChainedScheduler([first])
    both.step()
    opt.step()


@pytest.mark.parametrize("loop", [too_early, with_an_epoch, in_a_sequence])
def test_torch_warns_of_schedules_as_it_would_without_us(loop):
    def warned():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            loop()
        return [(str(each.message), each.category, each.filename, each.lineno) for each in caught]

    bare = warned()
    with watch(save=False, only=("lr",)):
        seen = warned()
    assert bare
    assert seen == bare


def test_runs_inside_each_other_see_the_same_schedule():
    settings = {"save": False, "only": ("lr",)}
    with warnings.catch_warnings(action="ignore"), watch(**settings) as outer, watch(**settings) as inner:
        too_early()
    for run in (outer, inner):
        assert run.series("schedule_steps", name="schedule")[1] == [1.0, 2.0, 3.0]
        assert [each.place.source for each in told(run)] == ["schedule.step()"]


def test_a_schedule_that_raises_shows_its_own_error(run_cell):
    source = SETUP + (
        "decay = lr_scheduler.OneCycleLR(opt, 1.0, total_steps=2)\nfor _ in range(5):\n    step()\n    decay.step()"
    )
    run, _ = run_cell(source, raises=ValueError, **ONLY)
    assert schedules(run)[0].length == 2


def test_schedules_and_optimizers_are_let_go(run_cell):
    source = (
        SETUP
        + "import weakref\nfor _ in range(3):\n    decay = lr_scheduler.StepLR(opt, 2)\n    step()\n    decay.step()"
    )
    _, names = run_cell(source, **ONLY)
    refs = [weakref.ref(names["decay"]), weakref.ref(names["opt"])]
    names.clear()
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


LOCAL = """
x, y = torch.randn(16, 4), torch.randn(16, 2)
def train():
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    {build}
    for _ in range(5):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
        {step}
train()
"""


@pytest.mark.parametrize(
    "build", ["sched = torch.optim.lr_scheduler.StepLR(opt, 3)", "s = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)"]
)
def test_a_schedule_that_is_gone_unstepped_when_the_run_ends_is_told_where_it_was_built(run_cell, build):
    run, _ = run_cell(LOCAL.format(build=build, step="pass"))
    (record,) = run.of(ScheduleRecord)
    assert (record.stepped, record.built.source, record.optimizer) == (False, build, "opt")


@OLDER
def test_the_parts_of_a_chain_that_was_stepped_are_not_told_when_they_are_gone(run_cell):
    build = (
        "s = torch.optim.lr_scheduler.SequentialLR(opt, [torch.optim.lr_scheduler.LinearLR(opt), "
        "torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)], milestones=[2])"
    )
    run, _ = run_cell(LOCAL.format(build=build, step="s.step()"))
    assert [record.class_name for record in run.of(ScheduleRecord)] == ["SequentialLR"]


def test_an_optimizer_without_a_rate_does_not_disturb(run_cell):
    run, _ = run_cell(
        "p = nn.Parameter(torch.randn(4))\n"
        "class Own(torch.optim.Optimizer):\n"
        "    def __init__(self, params): super().__init__(params, {'lr': None})\n"
        "    def step(self, closure=None):\n"
        "        with torch.no_grad():\n"
        "            for q in self.param_groups[0]['params']: q.sub_(0.1 * q.grad)\n"
        "opt = Own([p])\n"
        "for _ in range(4):\n    opt.zero_grad()\n    p.pow(2).sum().backward()\n    opt.step()\n"
    )
    assert run.steps == 4
