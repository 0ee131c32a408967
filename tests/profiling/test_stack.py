"""Events written by hand: who called whom, and to whose phase, module and line each nanosecond belongs."""

import pytest

from torchmagic.profiling.attribute import attribute
from torchmagic.profiling.collected import Collected, Event, ModuleSite
from torchmagic.records.costs import CostsRecord
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord

NODE = "autograd::engine::evaluate_function: "
MODULES = [ModuleSite("net", path, "Linear") for path in ("", "body", "body.0", "head")]
PLACES = [Place(file="cell", line=number) for number in (1, 2, 3)]


def event(name, start, end, sequence=-1, **more):
    return Event(start=start, end=end, name=name, thread=more.pop("thread", 1), sequence=sequence, **more)


def node(name, start, end, sequence, forward_thread=1, **more):
    """Return the two events of a node of the backward."""
    more["forward_thread"] = forward_thread
    return [event(NODE + name, start, end, sequence, **more), event(name, start, end, sequence, **more)]


def accumulate(start, end, **more):
    name = "torch::autograd::AccumulateGrad"
    return [event(NODE + name, start, end, **more), event(name, start, end, **more)]


def read(*events, end=1000, **more):
    """Return phases and costs of a window that begins at 0."""
    records = attribute(Collected(events=events, begin=0, end=end, modules=MODULES, places=PLACES, **more))
    return next(each for each in records if isinstance(each, PhasesRecord)), next(
        each for each in records if isinstance(each, CostsRecord)
    )


def nanoseconds(costs, **fields):
    """Return the wanted fields of each cost by name, in whole nanoseconds."""
    [(name, wanted)] = fields.items()
    return {getattr(each, name): tuple(round(getattr(each, field) * 1e9) for field in wanted.split()) for each in costs}


def test_own_time_is_what_no_operator_within_took():
    _, costs = read(event("aten::linear", 100, 200), event("aten::t", 110, 120), event("aten::addmm", 130, 180))
    assert nanoseconds(costs.operators, name="total own") == {
        "aten::linear": (100, 40),
        "aten::addmm": (50, 50),
        "aten::t": (10, 10),
    }


def test_the_order_in_which_events_come_does_not_count():
    events = [event("aten::linear", 100, 200), event("aten::t", 100, 120), event("aten::addmm", 130, 180)]
    assert read(*events) == read(*reversed(events))


def test_one_after_another_is_not_one_within_another():
    _, costs = read(event("aten::mul", 100, 200), event("aten::add", 200, 300))
    assert nanoseconds(costs.operators, name="total own") == {"aten::mul": (100, 100), "aten::add": (100, 100)}


def test_threads_do_not_call_each_other():
    _, costs = read(event("aten::mul", 100, 200), event("aten::add", 120, 150, thread=2))
    assert nanoseconds(costs.operators, name="own") == {"aten::mul": (100,), "aten::add": (30,)}


def test_what_reaches_beyond_the_window_counts_within_it():
    _, costs = read(event("tm:l:0", -500, 1500), event("aten::mul", -50, 100), event("aten::add", 900, 1200))
    assert nanoseconds(costs.operators, name="own") == {"aten::mul": (100,), "aten::add": (100,)}
    assert nanoseconds(costs.lines, place="total operators") == {PLACES[0]: (1000, 200)}


def test_ranges_that_cross_share_no_nanosecond():
    _, costs = read(event("tm:l:0", 100, 300), event("tm:l:1", 200, 500), event("aten::mul", 250, 260))
    assert nanoseconds(costs.lines, place="total own operators") == {
        PLACES[0]: (100, 100, 0),
        PLACES[1]: (300, 300, 10),
    }


def test_a_range_that_never_ended_belongs_to_the_thread_that_trains():
    _, costs = read(event("tm:l:1", 500, 1000, thread=0), event("aten::mul", 600, 700))
    assert nanoseconds(costs.lines, place="total operators") == {PLACES[1]: (500, 100)}


def test_a_module_has_its_own_time_and_that_of_those_within():
    _, costs = read(
        event("tm:m:0", 0, 500),
        event("tm:m:1", 50, 300),
        event("tm:m:2", 100, 200),
        event("aten::mul", 120, 150),
        event("tm:m:3", 300, 400),
    )
    assert nanoseconds(costs.modules, path="forward forward_own backward") == {
        "": (500, 150, 0),
        "body": (250, 150, 0),
        "body.0": (100, 100, 0),
        "head": (100, 100, 0),
    }


def test_a_line_that_calls_itself_counts_once():
    _, costs = read(event("tm:l:0", 0, 400), event("tm:l:1", 100, 300), event("tm:l:0", 150, 250))
    assert nanoseconds(costs.lines, place="total own") == {PLACES[0]: (400, 300), PLACES[1]: (200, 100)}
    assert [line.calls for line in costs.lines] == [2, 1]


def test_backward_goes_to_the_module_and_the_line_that_computed_the_forward():
    _, costs = read(
        event("tm:l:0", 0, 100),
        event("tm:m:1", 10, 90),
        event("tm:m:2", 20, 80),
        event("aten::linear", 30, 70, 0),
        event("aten::addmm", 40, 60, 0),
        event("tm:l:1", 100, 400),
        event("tm:p:backward", 110, 390),
        *node("AddmmBackward0", 200, 300, 0),
        event("aten::mm", 220, 260),
    )
    assert nanoseconds(costs.modules, path="backward backward_own forward") == {
        "": (0, 0, 0),
        "body": (100, 0, 80),
        "body.0": (100, 100, 60),
        "head": (0, 0, 0),
    }
    assert nanoseconds(costs.lines, place="total backward") == {PLACES[0]: (100, 100), PLACES[1]: (300, 0)}
    [mm] = [each for each in costs.operators if each.name == "aten::mm"]
    assert (mm.phase, mm.module, mm.place) == ("backward", "net.body.0", PLACES[0])


def test_a_line_that_computes_and_calls_the_backward_counts_each_nanosecond_once():
    _, costs = read(
        event("tm:l:0", 0, 100),
        event("aten::mul", 10, 90, 0),
        event("tm:l:1", 100, 400),
        event("aten::addmm", 110, 190, 1),
        *node("AddmmBackward0", 200, 300, 1),
        *node("MulBackward0", 300, 360, 0),
    )
    assert nanoseconds(costs.lines, place="own backward caused") == {
        PLACES[0]: (100, 60, 160),
        PLACES[1]: (300, 100, 240),
    }


def test_backward_in_a_thread_of_its_own_is_no_time_of_the_line_that_waits():
    phases, costs = read(
        event("tm:l:0", 0, 100),
        event("tm:m:3", 10, 90),
        event("aten::addmm", 20, 80, 5),
        event("tm:l:1", 100, 400),
        event("tm:p:backward", 110, 390),
        *node("AddmmBackward0", 200, 300, 5, thread=2),
        event("aten::mm", 220, 260, thread=2),
        step_ends=[1000],
    )
    assert nanoseconds(costs.lines, place="own operators backward") == {
        PLACES[0]: (100, 60, 100),
        PLACES[1]: (300, 0, 0),
    }
    assert nanoseconds(costs.modules, path="backward")["head"] == (100,)
    assert phases.backward == pytest.approx((280e-9,))


def test_numbers_of_different_threads_are_different_numbers():
    _, costs = read(
        event("tm:m:1", 0, 90),
        event("aten::addmm", 20, 80, 5),
        event("aten::mul", 20, 80, 5, thread=3),
        *node("MulBackward0", 200, 300, 5, forward_thread=3),
    )
    assert nanoseconds(costs.modules, path="backward")["body"] == (0,)


def test_of_several_operators_with_the_number_of_a_node_the_last_made_it():
    # an operator bears the number of the next node, whether it makes one or not
    _, costs = read(
        event("tm:m:1", 0, 100),
        event("aten::argmax", 20, 80, 7),
        event("tm:m:3", 100, 200),
        event("aten::addmm", 120, 180, 7),
        *node("AddmmBackward0", 200, 300, 7),
    )
    assert nanoseconds(costs.modules, path="backward") == {"": (0,), "body": (0,), "body.0": (0,), "head": (100,)}


def test_adding_to_a_gradient_belongs_to_the_module_whose_node_made_it():
    _, costs = read(
        event("tm:m:1", 0, 50),
        event("aten::addmm", 10, 40, 0),
        event("tm:m:3", 50, 100),
        event("aten::addmm", 60, 90, 1),
        *node("AddmmBackward0", 200, 300, 1),
        *accumulate(300, 310),
        *node("AddmmBackward0", 310, 400, 0),
        *accumulate(400, 420),
        *accumulate(420, 440),
    )
    assert nanoseconds(costs.modules, path="backward")["head"] == (110,)
    assert nanoseconds(costs.modules, path="backward")["body"] == (130,)


def test_what_a_backward_runs_again_is_backward_of_the_module_that_runs():
    phases, costs = read(
        event("tm:m:0", 0, 100),
        event("tm:m:1", 10, 60),
        event("tm:m:2", 15, 55),
        event("aten::addmm", 20, 50, 0),
        event("tm:m:3", 60, 90),
        event("aten::addmm", 65, 85, 1),
        event("tm:p:backward", 100, 900),
        *node("AddmmBackward0", 200, 800, 1),
        # a checkpoint: the forward runs within the node that needs its results, of another module
        event("tm:m:1", 250, 400),
        event("tm:m:2", 300, 400),
        event("aten::addmm", 310, 390, 2),
        *node("AddmmBackward0", 500, 600, 2),
        step_ends=[1000],
    )
    assert nanoseconds(costs.modules, path="forward backward backward_own") == {
        "": (100, 600, 0),
        "body": (50, 250, 50),
        "body.0": (40, 200, 200),
        "head": (30, 350, 350),
    }
    assert [module.calls for module in costs.modules] == [1, 1, 1, 1]
    assert phases.backward == pytest.approx((800e-9,))
    assert phases.forward == pytest.approx((100e-9,))


def test_a_backward_of_a_backward_goes_to_the_first_forward():
    _, costs = read(
        event("tm:l:2", 0, 60),
        event("tm:m:1", 0, 50),
        event("aten::addmm", 10, 40, 0),
        *node("AddmmBackward0", 100, 200, 0),
        event("aten::mm", 110, 190, 1),
        *node("MmBackward0", 300, 350, 1),
        event("aten::mm", 310, 330),
    )
    assert nanoseconds(costs.modules, path="backward")["body"] == (150,)
    assert nanoseconds(costs.lines, place="backward")[PLACES[2]] == (150,)


def test_a_node_whose_forward_was_before_the_window_belongs_to_no_module():
    _, costs = read(*node("AddmmBackward0", 100, 200, 3), event("aten::mm", 110, 190))
    assert nanoseconds(costs.modules, path="backward")[""] == (0,)
    assert {each.phase for each in costs.operators} == {"backward"}


def phases_of(*events, **more):
    """Return the nanoseconds of each phase in a window of one step."""
    phases, _ = read(*events, **{"step_ends": [1000], **more})
    names = ("data", "transfer", "forward", "backward", "optimizer", "idle", "other")
    return {name: round(getattr(phases, name)[0] * 1e9) for name in names if getattr(phases, name)[0]}


def test_the_phases_of_a_step_add_up_to_it():
    assert phases_of(
        event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 100),
        event("tm:p:forward", 120, 300),
        event("tm:m:0", 130, 290),
        event("tm:p:backward", 320, 700),
        *node("AddmmBackward0", 330, 600, 0),
        event("Optimizer.step#SGD.step", 720, 800),
        event("Optimizer.zero_grad#SGD.zero_grad", 810, 830),
    ) == {"data": 100, "forward": 180, "backward": 380, "optimizer": 100, "other": 240}


def test_the_loss_is_forward_where_it_is_no_module():
    # the node of the loss is reached by a backward; that of the accuracy is not, and argmax makes none
    assert phases_of(
        event("tm:m:0", 0, 100),
        event("aten::addmm", 10, 90, 0),
        event("aten::argmax", 110, 140, 1),
        event("aten::cross_entropy_loss", 150, 200, 1),
        event("aten::_log_softmax", 160, 190, 1),
        event("aten::mean", 210, 260, 2),
        event("aten::item", 270, 290, 3),
        event("tm:p:backward", 300, 400),
        *node("LogSoftmaxBackward0", 310, 320, 1),
        *node("AddmmBackward0", 320, 330, 0),
        event("aten::mul", 410, 420, 3),
    ) == {"forward": 150, "backward": 100, "other": 750}


def test_an_optimizer_that_runs_the_forward_again_is_not_the_forward():
    assert phases_of(
        event("Optimizer.step#LBFGS.step", 100, 900),
        event("tm:p:forward", 200, 400),
        event("tm:p:backward", 400, 700),
    ) == {"optimizer": 300, "forward": 200, "backward": 300, "other": 200}


def test_all_that_reading_data_runs_is_data():
    assert phases_of(
        event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 500), event("tm:m:0", 100, 200)
    ) == {"data": 500, "other": 500}


def test_time_off_the_processor_is_idle_where_it_is_not_waiting_for_data():
    waiting = event("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 100)
    assert phases_of(waiting, processor_ends=[600, 600]) == {"data": 100, "idle": 300, "other": 600}


def test_no_more_is_idle_than_no_phase_accounts_for():
    assert phases_of(event("tm:p:backward", 0, 900), processor_ends=[100, 100]) == {"backward": 900, "idle": 100}


def test_a_phase_over_several_steps_is_split_between_them():
    phases, _ = read(
        event("tm:p:forward", 100, 800),
        event("tm:p:backward", 350, 450),
        step_ends=[400, 1000],
        first_step=7,
        processor_ends=[400, 1000, 1000],
    )
    assert phases.steps == (7, 8)
    assert phases.forward == pytest.approx((250e-9, 350e-9))
    assert phases.backward == pytest.approx((50e-9, 50e-9))
    assert phases.other == pytest.approx((100e-9, 200e-9))


def test_what_follows_the_last_step_is_one_more():
    phases, _ = read(event("tm:p:forward", 700, 900), step_ends=[600])
    assert phases.steps == (0, 1)
    assert phases.forward == pytest.approx((0, 200e-9))
    assert phases.other == pytest.approx((600e-9, 200e-9))


def test_a_window_without_steps_is_one():
    phases, _ = read(event("tm:p:forward", 100, 300), first_step=3)
    assert phases.steps == (0,)
    assert phases.forward == pytest.approx((200e-9,))
    assert phases.other == pytest.approx((800e-9,))


def test_an_operator_that_calls_another_form_of_itself_and_nothing_else_is_one_call():
    # torch's own table counts so
    _, costs = read(
        event("tm:m:0", 0, 900),
        event("aten::sum", 100, 200),
        event("aten::sum", 110, 190),
        event("aten::fill_", 120, 130),
        event("aten::sum", 300, 400),
        event("aten::sum", 310, 350),
        event("aten::fill_", 360, 390),
    )
    [total] = [each for each in costs.operators if each.name == "aten::sum"]
    assert (total.calls, round(total.total * 1e9), round(total.own * 1e9)) == (3, 240, 160)


def test_no_nanosecond_is_lost_where_an_operator_outside_of_modules_calls_itself():
    phases, costs = read(
        event("aten::sum", 100, 200, 0),
        event("aten::sum", 110, 190),
        event("aten::fill_", 120, 130),
        event("tm:p:backward", 300, 400),
        *node("SumBackward0", 310, 390, 0),
        step_ends=[1000],
    )
    [total] = [each for each in costs.operators if each.name == "aten::sum"]
    assert (total.phase, total.calls, round(total.total * 1e9), round(total.own * 1e9)) == ("forward", 1, 100, 90)
    assert phases.forward == pytest.approx((100e-9,))
