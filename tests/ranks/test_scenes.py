"""Two real ranks train, healthy and sick, on gloo and loopback; what each recorded is read side by side."""

from statistics import median

import pytest

import torchmagic
from torchmagic.records.note import CrashRecord, FailureRecord
from torchmagic.records.ranks import (
    Checked,
    ChecksumRecord,
    CollectiveRecord,
    LoaderPassRecord,
    RandomStateRecord,
    RankRecord,
    WithoutGradientRecord,
    Wrapping,
    WrapRecord,
)
from torchmagic.session.launches import read_launch
from torchmagic.session.run import Status

pytestmark = pytest.mark.ranks
SIZE = 2


def sums(ranks, what):
    """Return each rank's checksums of one kind by step, as far as both ranks have them."""
    found = {
        rank: {each.step: each.whole for each in records if each.what is what}
        for rank, records in ranks.of(ChecksumRecord).items()
    }
    both = set(found[0]) & set(found[1])
    return {rank: {step: by_step[step] for step in sorted(both)} for rank, by_step in found.items()}


def differs_at(ranks, what):
    found = sums(ranks, what)
    assert len(found[0]) > 2
    return [step for step in found[0] if found[0][step] != found[1][step]]


def synced(ranks, name):
    return {rank: set(values) for rank, (_, values) in ranks.series("gradient_sync", name=name).items()}


def test_weights_losses_and_random_streams_have_the_same_bits_with_and_without_us(trained):
    assert [said["same"] for said in trained.said] == [True, True]
    assert [said["same stream"] for said in trained.said] == [True, True]


def test_nothing_of_ours_is_left_on_torch_distributed(trained):
    assert [said["left"] for said in trained.said] == [[], []]


def test_every_rank_has_a_file_of_its_own_and_no_probe_failed(trained):
    assert {path.name for path in trained.place.glob("*.db")} == {"0.db", "1.db"}
    for ranks in trained.scenes.values():
        assert {rank: list(found) for rank, found in ranks.of(FailureRecord).items()} == {0: [], 1: []}


def test_rank_0_has_read_the_other_ones_run_as_its_own_ended(trained):
    assert [said["ranks of healthy"] for said in trained.said] == [[0, 1], None]


def test_each_run_says_which_rank_it_is(trained):
    ranks = trained.scenes["healthy"]
    records = {rank: found[0] for rank, found in ranks.of(RankRecord).items()}
    assert [records[0].rank, records[1].rank] == [0, 1]
    assert {each.world_size for each in records.values()} == {SIZE}
    assert {each.launch for each in records.values()} == {ranks.launch} == {trained.place.name}
    assert records[0].pid != records[1].pid
    assert "gloo" in records[0].backend
    assert [records[0].local_rank, records[1].local_rank] == [0, 1]


def test_runs_of_one_process_are_told_apart_and_matched_with_those_of_the_other(trained):
    numbers = [ranks.of(RankRecord)[rank][0].sequence for ranks in trained.scenes.values() for rank in (0, 1)]
    assert numbers == [number for number in range(len(trained.scenes)) for _ in (0, 1)]
    for name, ranks in trained.scenes.items():
        assert [run.name for run in ranks.runs.values()] == [name, name]


def test_healthy_ranks_stay_equal_bit_by_bit(trained):
    ranks = trained.scenes["healthy"]
    assert ranks.statuses == {0: Status.OK, 1: Status.OK}
    assert (ranks.missing, ranks.lost) == ((), ())
    assert differs_at(ranks, Checked.WEIGHT) == []
    assert differs_at(ranks, Checked.GRADIENT) == []
    assert synced(ranks, "reduced") == {0: {1.0}, 1: {1.0}}
    assert synced(ranks, "withheld") == synced(ranks, "bypassed") == {0: {0.0}, 1: {0.0}}


def test_healthy_ranks_see_other_batches_and_are_told_the_pass(trained):
    passes = trained.scenes["healthy"].of(LoaderPassRecord)
    assert [each.epoch for each in passes[0]] == [0, 1]
    for mine, theirs in zip(passes[0], passes[1], strict=True):
        assert mine.num_batches == theirs.num_batches == mine.num_expected == mine.num_trained
        assert mine.finished
        assert not set(mine.indices) & set(theirs.indices)
        assert not set(mine.contents) & set(theirs.contents)
        assert (mine.sharded, mine.replicas, mine.replica, theirs.replica) == (True, 2, 0, 1)
    assert passes[0][0].indices != passes[0][1].indices


def test_how_the_model_is_wrapped_is_told(trained):
    (record,) = trained.scenes["healthy"].of(WrapRecord)[1]
    assert record.wrapper is Wrapping.DDP
    assert (record.num_parameters, record.num_batch_norms, record.num_synced_batch_norms) == (6, 1, 0)
    assert (record.find_unused_parameters, record.static_graph, record.broadcast_buffers) == (False, False, True)
    assert record.place is not None
    assert "forward or model" in record.place.source


def test_random_generators_are_read_at_the_start_and_before_the_first_forward(trained):
    states = trained.scenes["healthy"].of(RandomStateRecord)
    assert [each.moment for each in states[0]] == ["start", "first forward"]
    assert states[0][1].torch == states[1][1].torch  # both were seeded alike
    assert states[0][0].python != states[1][0].python


def test_missing_sampler_shows_as_the_same_batches_on_both_ranks(trained):
    passes = trained.scenes["same_data"].of(LoaderPassRecord)
    assert passes[0][0].indices == passes[1][0].indices != ()
    assert passes[0][0].contents == passes[1][0].contents != ()
    assert passes[0][0].sharded is False


def test_set_epoch_that_is_not_called_shows_as_the_same_order_in_every_pass(trained):
    passes = trained.scenes["no_set_epoch"].of(LoaderPassRecord)[0]
    assert [each.epoch for each in passes] == [0, 0, 0]
    assert len({each.indices for each in passes}) == 1
    assert passes[0].shuffle is True


def test_no_sync_shows_as_withheld_gradients_and_weights_that_part(trained):
    ranks = trained.scenes["no_sync_misuse"]
    assert synced(ranks, "withheld") == {0: {1.0}, 1: {1.0}}
    assert differs_at(ranks, Checked.GRADIENT)[0] == 0
    assert differs_at(ranks, Checked.WEIGHT)[0] == 1


def test_a_model_called_around_its_wrapper_shows_as_bypassed(trained):
    ranks = trained.scenes["bypassed"]
    assert synced(ranks, "bypassed") == {0: {1.0}, 1: {1.0}}
    assert differs_at(ranks, Checked.WEIGHT)[0] == 1


def test_different_initial_weights_show_before_the_first_step(trained):
    ranks = trained.scenes["no_wrapper"]
    assert differs_at(ranks, Checked.WEIGHT)[0] == 0
    assert ranks.of(WrapRecord)[0][0].wrapper is Wrapping.NONE
    digests = [ranks.of(ChecksumRecord)[rank][0].digests for rank in (0, 1)]
    (weight,) = [name for name in digests[0] if name.endswith("0.weight")]
    assert digests[0].keys() == digests[1].keys()
    assert digests[0][weight] != digests[1][weight]


def test_uneven_data_shows_as_different_numbers_of_batches_and_steps(trained):
    ranks = trained.scenes["uneven"]
    assert {rank: found[0].num_batches for rank, found in ranks.of(LoaderPassRecord).items()} == {0: 12, 1: 8}
    assert {rank: run.steps for rank, run in ranks.runs.items()} == {0: 12, 1: 8}


def test_a_value_born_on_one_rank_is_looked_for_without_the_others(trained):
    ranks = trained.scenes["one_nonfinite"]
    assert ranks.statuses == {0: Status.OK, 1: Status.OK}
    births = {
        rank: {each.birth.value for each in run.records if type(each).__name__ == "NonfiniteRecord"}
        for rank, run in ranks.runs.items()
    }
    assert births == {0: {"gradient"}, 1: {"input"}}


def test_parameters_without_a_gradient_are_named_before_ddp_gives_up(trained):
    ranks = trained.scenes["unused"]
    assert ranks.statuses == {0: Status.ERROR, 1: Status.ERROR}
    (record,) = ranks.of(WithoutGradientRecord)[1]
    assert record.num_parameters == 2
    assert [name.rpartition("unused.")[2] for name in record.parameters] == ["weight", "bias"]
    assert "finished reduction" in ranks.of(CrashRecord)[0][0].message


def test_who_waits_for_a_straggler_is_in_the_times(trained):
    ranks = trained.scenes["straggling"]
    waited = {rank: median(values) for rank, (_, values) in ranks.series("comm_seconds").items()}
    assert waited[0] > 0.015  # the other one slept for 30 ms before each forward, which begins with its buffers
    assert waited[1] < waited[0] / 2
    assert {record.function for record in ranks.of(CollectiveRecord)[0]} == {"broadcast_coalesced"}


def test_ddps_own_times_of_its_exchange_are_read_as_it_takes_them(trained):
    ranks = trained.scenes["straggling"]
    waits, wholes = ranks.series("sync_wait"), ranks.series("sync_seconds")
    for rank, run in ranks.runs.items():
        assert 9 <= len(waits[rank][0]) <= 11 < run.steps
        assert all(0 <= wait <= whole for wait, whole in zip(waits[rank][1], wholes[rank][1], strict=True))
        ends = run.series("step_wall")[1]
        assert len(ends) == run.steps
        assert ends == sorted(ends)


def test_fsdp_runs_while_every_rank_measures_other_things_at_other_steps(trained):
    ranks = trained.scenes["sharded"]
    assert ranks.statuses == {0: Status.OK, 1: Status.OK}
    assert [ranks.runs[rank].settings["level"] for rank in (0, 1)] == ["expert", "basic"]
    (record,) = ranks.of(WrapRecord)[0]
    assert (record.wrapper, record.num_shards) == (Wrapping.FSDP2, SIZE)
    checks = ranks.of(ChecksumRecord)[0]
    assert all(len(each.shards) == 4 and not each.digests for each in checks)
    counted = {
        rank: {each.function: each.count for each in found} for rank, found in ranks.of(CollectiveRecord).items()
    }
    assert counted[0] == counted[1]
    assert {"all_gather_into_tensor", "reduce_scatter_tensor"} <= set(counted[0])


def test_collectives_that_python_calls_are_counted_with_their_lines(trained):
    ranks = trained.scenes["by_hand"]
    found = {each.function: each for each in ranks.of(CollectiveRecord)[1]}
    assert {name: each.count for name, each in found.items()} == {"all_reduce": 36, "wait": 36, "all_gather_object": 1}
    assert found["wait"].place is not None
    assert found["wait"].place.source == "each.wait()"
    assert found["all_reduce"].num_bytes == 6 * 4 * (20 * 16 + 16 + 16 + 16 + 16 * 2 + 2)
    calls = ranks.series("comm_calls")[1][1]
    assert calls == [6.0] * 6
    seconds = ranks.series("comm_seconds")[1][1]
    assert sum(seconds) == pytest.approx(found["all_reduce"].seconds + found["wait"].seconds)
    assert differs_at(ranks, Checked.GRADIENT) == []


def test_runs_that_are_kept_in_memory_are_gathered_on_rank_0(trained):
    assert [said["before"] for said in trained.said] == [True, True]
    assert [said["gathered"] for said in trained.said] == [{"0": 6, "1": 6}, None]
    assert "gathered" not in trained.scenes


def test_a_rank_that_left_no_file_is_missing(tmp_path, trained):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in trained.place.glob("1.*"):
        (copy / path.name).write_bytes(path.read_bytes())
    ranks = read_launch(copy)
    assert (ranks.missing, list(ranks.runs)) == ((0,), [1])
    with pytest.raises(ValueError, match="folder without runs of ranks"):
        torchmagic.load(tmp_path)
