"""This file tests, on a simulated device, what a CUDA device wants: its memory let alone, and few waits for it."""

import pytest

LEVELS = "basic", "intermediate", "advanced", "expert"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("how", ["bits", "half"])
def test_losses_weights_and_both_streams_of_random_numbers_are_as_without_us(facts, how, level):
    told = facts[how][level]
    assert told["failures"] == []
    assert told["same"]


def test_a_page_of_a_run_tells_the_device_and_how_it_computes(facts):
    assert "sim:0, float32." in facts["bits"]["advanced"]["text"]
    assert "sim:0, float32; autocast to float16; gradients scaled." in facts["half"]["advanced"]["text"]


def test_the_sentinels_wait_for_the_device_once_a_step(facts):
    assert 0.9 < facts["waits"]["basic"] < 1.5  # and now and then for a closer look
    assert facts["waits"]["intermediate"] < 1.5
    assert facts["waits"]["advanced"] < 2


def test_every_statistic_at_every_step_waits_once_for_those_of_a_kind(facts):
    kinds = ("gradients and losses", "weights and updates", "outputs")
    assert facts["waits"]["expert"] < len(kinds) + 1
    assert facts["first looks"] < 45  # a snapshot of each parameter, gradient and output is in it


def test_a_backward_that_a_function_hides_is_not_looked_at_for_good(facts):
    assert facts["hidden"] < 1.3


def test_a_loop_that_steps_by_hand_waits_a_few_times_a_step(facts):
    waits, steps, same = facts["by hand"]
    assert steps == 3 * 40 - 1  # the last one is seen by nobody: its tensors are gone
    assert same
    assert waits < 3  # for the norm, the weights as a backward leaves them, and as the step does


def test_snapshots_are_those_of_the_host_whoever_steps(facts):
    layers, steps = 3, 2
    assert facts["snapshots"] == [[True, layers * steps], [True, layers * steps], [True, layers]]


def test_values_of_several_types_come_by_one_transfer_in_their_order(facts):
    wanted, found, transfers = facts["fetched"]
    assert found == wanted
    assert transfers == 1


def test_tensors_come_together_as_far_as_they_fit(facts):
    assert facts["brought"] == [True, 3]


def test_the_origin_is_found_and_what_is_replayed_draws_no_numbers(facts):
    told = facts["replayed"]
    assert told["rule"] == "nonfinite-forward"
    assert told["title"].startswith("log makes the first non-finite value at step 20")
    assert "torch.log(scores)" in told["source"]
    assert told["failures"] == []
    assert told["same"]


def test_a_page_of_a_tensor_is_the_hosts_and_takes_one_transfer(facts):
    transfers = {name: number for name, (number, _) in facts["pages"].items()}
    assert transfers.pop("large") <= 4  # numbers, sample, picture and corners
    assert set(transfers.values()) == {1}
    assert [name for name, (_, same) in facts["pages"].items() if not same] == []


def test_a_batch_left_on_the_host_is_named_with_its_cure(facts):
    assert facts["mismatch"] == ["device-mismatch", "x = x.to('sim:0')"]


def test_nothing_stays_on_the_device_and_its_memory_is_told(facts):
    kinds, left = facts["memory"]
    assert left == 0
    assert kinds["parameters"] == 4 * (64 * 128 + 128 + 128 * 10 + 10)
    assert kinds["optimizer state"] >= 2 * kinds["parameters"]
    assert kinds["activations"] > 0


def test_a_model_is_told_and_no_random_number_drawn(facts):
    text, undrawn = facts["model"]
    assert "float32 on sim:0" in text
    assert "3×8" in text
    assert undrawn


def test_a_device_that_is_torchs_default_is_not_taken_for_ours(facts):
    assert facts["default"] == {"failures": [], "same": True}


def test_a_device_that_the_run_opened_is_told(facts):
    devices, text = facts["opened"]
    assert devices == ["cpu", "sim:0"]
    assert ", sim:0, " in text
    assert ", cpu, " not in text
