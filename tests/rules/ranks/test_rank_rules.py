"""This file tests the rules about ranks on ranks made by hand: each fault is named, and what looks like it is not."""

import math
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from torchmagic.records.data import BatchRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.rank_beats import HangRecord
from torchmagic.records.ranks import (
    Checked,
    ChecksumRecord,
    CollectiveRecord,
    LoaderPassRecord,
    WithoutGradientRecord,
    Wrapping,
    WrapRecord,
)
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.judgement import judge, judge_ranks
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run, Status

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
import many_ranks
from by_hand import LINE, LOOKS, NAMES, STEPS, Made

RANK_RULES = [rule for rule in RULES if rule.group == "ranks"]


def unexpected(rule, error):
    raise AssertionError(f"{rule} raised") from error


def found(made):
    return [finding for finding in judge(made.run, unexpected) if finding.rule in {rule.id for rule in RANK_RULES}]


def ids(made):
    return [finding.rule for finding in found(made)]


def only(made):
    (finding,) = found(made)
    return finding


@pytest.mark.parametrize("num", [2, 4, 16])
@pytest.mark.parametrize("wrapper", [Wrapping.DDP, Wrapping.NONE, Wrapping.FSDP2])
def test_healthy_ranks_have_no_findings(num, wrapper):
    assert judge(Made(num, wrapper=wrapper).run, unexpected) == ()


@pytest.mark.parametrize("rule", RANK_RULES, ids=lambda rule: rule.id)
def test_a_run_that_was_not_merged_is_not_asked_further(rule):
    run = Made(2).parted(1).crash(1, "killed").rank(0)
    assert list(rule(run)) == []


@pytest.mark.parametrize("rule", RANK_RULES, ids=lambda rule: rule.id)
def test_ranks_that_told_nothing_are_no_reason_to_speak(rule):
    run = Run()
    run.join(Ranks({0: run, 1: Run()}, world_size=2))
    assert list(rule(run)) == []
    alone = Run()
    alone.join(Ranks({0: alone}, world_size=1))
    assert list(rule(alone)) == []


# --- copies


def test_weights_that_part_name_the_ranks_the_tensors_and_the_step():
    finding = only(Made().parted(2, since=10))
    assert (finding.rule, finding.severity, finding.step) == ("replicas-differ", Severity.ERROR, 10)
    assert "rank 2 differs from ranks 0, 1 and 3" in finding.title
    assert finding.evidence["weights that differ"].startswith("3 of 3: 0.weight")


def test_weights_without_names_are_told_apart_by_their_one_checksum():
    finding = only(Made(detail=False).parted(2, since=10))
    assert finding.evidence["weights that differ"] == "told by one checksum of all"


def test_copies_that_meet_again_are_averaged_by_design():
    assert ids(Made().digests(Checked.WEIGHT, 1, steps=[5, 15])) == []
    assert ids(Made().digests(Checked.WEIGHT, 1, steps=[5, 15, STEPS])) == []


def test_one_look_at_the_end_may_fall_between_an_update_and_an_exchange():
    assert ids(Made().digests(Checked.WEIGHT, 1, steps=[STEPS])) == []


def test_weights_that_the_wrapper_was_told_to_leave_alone_may_differ():
    made = Made().digests(Checked.WEIGHT, 1, names=NAMES[1:2]).change(WrapRecord, ignored=(NAMES[1],))
    assert ids(made) == []
    assert "replicas-differ" in ids(made.digests(Checked.WEIGHT, 2, names=NAMES[2:], steps=LOOKS[1:]))


def test_ranks_with_other_tensors_are_stages_and_no_copies():
    made = Made().parted(1)
    made.change(ChecksumRecord, 1, digests={"other.weight": "00000000"})
    assert ids(made) == []


@pytest.mark.parametrize("function", ["send", "all_to_all_single"])
def test_ranks_that_hand_activations_on_are_no_copies(function):
    made = Made(wrapper=Wrapping.NONE).digests(Checked.WEIGHT, 1).digests(Checked.GRADIENT, 1)
    made.rank(0).records.append(
        CollectiveRecord(function=function, count=9, seconds=1.0, longest=0.1, longest_step=0, num_bytes=9, place=LINE)
    )
    assert ids(made) == []


def test_buffers_are_only_judged_where_nobody_sends_them():
    made = Made()
    for rank in range(4):
        made.rank(rank).records.extend(
            ChecksumRecord(
                step=step, model="model", what=Checked.BUFFER, whole=f"{rank}.{step}",
                digests={"1.running_mean": f"{rank}.{step}"},
            )
            for step in LOOKS
        )  # fmt: skip
    assert ids(made) == []
    finding = only(made.change(WrapRecord, broadcast_buffers=False))
    assert (finding.rule, finding.severity) == ("replicas-differ", Severity.WARNING)
    assert "1.running_mean" in finding.title


def test_initial_weights_that_differ_are_the_cause_of_copies_that_do():
    made = Made().digests(Checked.WEIGHT, 1)
    first, second = found(made)
    assert (first.rule, first.step) == ("initial-weights-differ", 0)
    assert "after it had" in first.why
    assert (second.rule, second.causes) == ("replicas-differ", ("initial-weights-differ",))
    assert ids(Made(wrapper=Wrapping.NONE).digests(Checked.WEIGHT, 1)) == ["initial-weights-differ"]  # reduced by hand


def test_models_that_are_trained_apart_from_the_start_are_one_finding_and_no_certain_one():
    finding = only(Made(wrapper=Wrapping.NONE).digests(Checked.WEIGHT, 1).digests(Checked.GRADIENT, 1))
    assert (finding.rule, finding.severity, finding.confidence) == ("gradients-not-reduced", Severity.WARNING, 0.7)


# --- gradients


def bare(*ranks, names=NAMES):
    made = Made(wrapper=Wrapping.NONE).digests(Checked.GRADIENT, *ranks, names=names)
    return made.digests(Checked.WEIGHT, *ranks, names=names, steps=LOOKS[1:])


def test_gradients_that_nobody_reduces_are_an_error_where_copies_began_alike():
    first, second = found(bare(1, 2, 3))
    assert (first.rule, first.severity) == ("gradients-not-reduced", Severity.ERROR)
    assert "DistributedDataParallel(model)" in first.fix
    assert first.source == "loss = F.mse_loss(model(x), y)"
    assert second.causes == ("gradients-not-reduced",)


def test_gradients_that_an_exchange_by_hand_forgets_are_named():
    finding = found(bare(1, 2, 3, names=NAMES[1:2]))[0]
    assert finding.title == "1 of 3 gradients of model are not reduced: 0.bias"
    assert finding.parameter == "0.bias"


def test_one_look_at_gradients_is_not_enough():
    made = Made(wrapper=Wrapping.NONE).digests(Checked.GRADIENT, 1, steps=[5]).parted(1)
    assert "gradients-not-reduced" not in ids(made)
    short = Made(steps=5, wrapper=Wrapping.NONE).digests(Checked.GRADIENT, 1).parted(1)
    assert "gradients-not-reduced" not in ids(short)


def test_models_that_are_averaged_every_few_steps_are_left_alone():
    made = bare(1, 2, 3).series("comm_bytes", lambda _, step: (1200 if step % 4 == 3 else 0,))
    assert ids(made) == []


def test_a_model_that_is_called_around_its_wrapper_is_told_so():
    made = Made().digests(Checked.GRADIENT, 1).parted(1)
    made.series("gradient_sync", lambda _rank, _step: (0, 0, 1), ("reduced", "withheld", "bypassed"))
    first = found(made)[0]
    assert first.rule == "gradients-not-reduced"
    assert "called around its wrapper" in first.title
    assert first.evidence["backward passes around the wrapper"] == 4 * STEPS


@pytest.mark.parametrize(("reduced", "words"), [(0, "called around its wrapper"), (1, "each on its own")])
def test_a_wrapper_that_only_its_inside_is_known_of_is_not_to_be_made_again(reduced, words):
    made = bare(1, 2, 3).series(
        "gradient_sync", lambda _rank, _step: (reduced, 0, 1), ("reduced", "withheld", "bypassed")
    )
    first = found(made)[0]
    assert words in first.title
    assert ("model(x), not model.module(x)" in first.fix) is (not reduced)


def withheld(made, steps):
    row = lambda _rank, step: (0, 2, 0) if step in steps else (1, 1, 0)  # noqa: E731 - a row
    return made.series("gradient_sync", row, ("reduced", "withheld", "bypassed"))


def test_steps_without_an_exchange_are_misuse_of_no_sync():
    first, second = found(withheld(Made().parted(1), range(6, STEPS)))
    assert (first.rule, first.step) == ("no-sync-misuse", 6)
    assert first.title.startswith("14 of 20 steps")
    assert second.causes == ("no-sync-misuse",)


def test_accumulation_that_ends_with_an_exchange_is_none():
    assert ids(withheld(Made(), ())) == []


def test_gradients_that_are_exchanged_by_hand_after_no_sync_keep_copies_equal():
    assert ids(withheld(Made(), range(STEPS))) == []


def test_an_epoch_that_was_cut_short_is_one_step_and_forgiven():
    assert "no-sync-misuse" not in ids(withheld(Made().parted(1), [9]))


MESSAGE = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss."
)


def test_unused_parameters_are_named_by_the_step_before_the_exception():
    made = Made(2, steps=1)
    for rank in range(2):
        made.crash(rank, MESSAGE).rank(rank).records.append(
            WithoutGradientRecord(model="model", step=0, parameters=("2.weight", "2.bias"), num_parameters=2)
        )
    finding = only(made)
    assert (finding.rule, finding.parameter) == ("ddp-unused-parameters", "2.weight")
    assert finding.title == "no gradient for 2.weight, 2.bias: DistributedDataParallel gave up on ranks 0 and 1"
    assert finding.evidence["find_unused_parameters"] == "False"


def test_parameters_without_a_gradient_are_no_fault_where_the_wrapper_goes_on():
    made = Made()
    made.rank(0).records.append(
        WithoutGradientRecord(model="model", step=0, parameters=("2.weight",), num_parameters=1)
    )
    assert ids(made) == []


# --- data


def alike(made, *ranks):
    """Give ranks the batches of rank 0."""
    for number in (0, 1):
        kept = tuple(f"{number}.0.{batch}" for batch in range(10))
        same = lambda each, number=number: each.number == number  # noqa: E731 - which records
        made.change(LoaderPassRecord, *ranks, when=same, indices=kept, samplers=("RandomSampler",), sharded=False)
    return made.change(LoaderPassRecord, *ranks, replicas=0, replica=-1)


def test_the_same_batches_on_all_ranks_are_told_with_the_line_of_the_loader():
    finding = only(alike(Made()))
    assert (finding.rule, finding.severity) == ("same-data-on-ranks", Severity.ERROR)
    assert finding.title == "loader gives ranks 0 to 3 the same batches"
    assert finding.source == "loader = DataLoader(data, batch_size=8)"
    assert "in place of shuffle=True" in finding.fix


def test_a_sampler_that_was_told_the_wrong_rank_is_known_by_it():
    made = alike(Made()).change(LoaderPassRecord, sharded=True, replicas=4, replica=0)
    assert only(made).why == "Its sampler was set up as rank 0 on all of them."


def test_some_ranks_with_the_same_batches_are_a_fault_of_copies_and_none_of_parts():
    assert ids(alike(Made(), 0, 1)) == ["same-data-on-ranks"]
    assert ids(alike(Made(wrapper=Wrapping.FSDP2), 0, 1)) == []
    assert ids(alike(Made(wrapper=Wrapping.NONE), 0, 1).change(WrapRecord, num_shards=2)) == []


def test_values_tell_batches_apart_where_the_loader_tells_no_indices():
    made = Made().change(LoaderPassRecord, indices=())
    assert ids(made) == []
    made.change(LoaderPassRecord, contents=tuple(f"v{batch}" for batch in range(8)))
    assert ids(made) == ["same-data-on-ranks"]
    assert ids(made.change(LoaderPassRecord, contents=("v",) * 8)) == []  # data that never change tell nothing


def test_ranks_that_each_go_through_all_samples_pay_for_it():
    made = Made().change(LoaderPassRecord, sharded=False, replicas=0, num_expected=40, num_batches=40)
    finding = only(made)
    assert (finding.rule, finding.severity) == ("same-data-on-ranks", Severity.INFO)
    assert "all 320 samples" in finding.title
    assert "4 times" in finding.why


def test_equal_losses_tell_of_equal_data_where_no_loader_does():
    made = Made().series("loss", lambda _rank, step: (1 / (1 + step),), ("loss",))
    assert ids(made) == []
    for rank in range(4):
        made.rank(rank).records[:] = [
            each for each in made.rank(rank).records if not isinstance(each, LoaderPassRecord | LoaderRecord)
        ]
    finding = only(made)
    assert (finding.rule, finding.severity) == ("same-data-on-ranks", Severity.WARNING)
    assert ids(made.series("loss", lambda _rank, _step: (0.5,), ("loss",))) == []


def test_passes_in_the_same_order_ask_for_set_epoch():
    made = Made()
    for rank in range(4):
        kept = tuple(f"{rank}.{batch}" for batch in range(10))
        made.change(LoaderPassRecord, rank, epoch=0, indices=kept)
    finding = only(made)
    assert (finding.rule, finding.severity) == ("set-epoch-missing", Severity.WARNING)
    assert "all 2 passes" in finding.title
    assert ids(made.change(LoaderPassRecord, shuffle=False)) == []


def test_a_sampler_that_draws_anew_without_set_epoch_needs_none():
    assert ids(Made().change(LoaderPassRecord, epoch=0)) == []


def test_uneven_batches_matter_where_ranks_did_not_all_end_well():
    made = Made().change(LoaderPassRecord, 2, num_expected=7, num_batches=7)
    assert ids(made) == []
    made.crash(0, "Connection closed by peer [127.0.0.1]:39215")
    finding = only(made)
    assert (finding.rule, finding.severity) == ("uneven-batches", Severity.ERROR)
    assert finding.title == "rank 2 is given 7 batches a pass of loader, others up to 10"


def test_streams_are_counted_as_they_end():
    made = Made().change(LoaderPassRecord, num_expected=None)
    made.change(LoaderPassRecord, 1, num_batches=7)
    made.change(LoaderPassRecord, 0, finished=False, num_batches=8)
    made.crash(0, "Timed out waiting 1800000ms for recv operation to complete")
    assert only(made).evidence["fewest batches"] == 7


# --- model and numbers


def test_few_rows_a_rank_are_too_few_for_a_batch_norm():
    made = Made().change(WrapRecord, num_batch_norms=3).change(BatchRecord, shape=(2, 4))
    finding = only(made)
    assert (finding.rule, finding.severity) == ("batchnorm-per-rank", Severity.WARNING)
    assert finding.title == "3 batch norms of model normalise over 2 rows of one rank"
    assert finding.evidence["rows of all ranks"] == 8
    assert ids(made.change(BatchRecord, shape=(16, 4))) == []
    assert ids(made.change(BatchRecord, shape=(2, 4)).change(WrapRecord, num_batch_norms=0)) == []


def broken(made, rank, step, **facts):
    made.rank(rank).records.append(NonfiniteRecord(birth=Birth.FORWARD, step=step, op="log", model="model", **facts))
    return made.series("loss", lambda each, at: (math.nan if (each, at) >= (rank, step) and each == rank else 1.0,),
                       ("loss",), ranks=[rank])  # fmt: skip


def test_a_value_born_on_one_rank_is_told_with_its_origin_and_where_it_went():
    made = broken(Made(), 2, 6)
    made.rank(0).records.append(NonfiniteRecord(birth=Birth.GRADIENT, step=6, model="model"))
    first = found(made)[0]
    assert (first.rule, first.step) == ("nonfinite-on-one-rank", 6)
    assert (
        first.title
        == "a value that is not finite was born on rank 2 at step 6, and reached rank 0 through the exchange"
    )
    assert first.evidence["born in"] == "forward, log"
    others = [finding for finding in judge(made.run, unexpected) if finding.rule == "nonfinite-gradient"]
    assert [finding.causes for finding in others] == [("nonfinite-on-one-rank",)]


def test_values_that_break_on_all_ranks_at_once_are_nobodys_own():
    made = Made(2)
    for rank in range(2):
        broken(made, rank, 6)
    assert ids(made) == []


# --- pace and ends


def test_the_rank_that_others_wait_for_is_named_with_the_phase_that_takes_longer():
    finding = only(Made().slow(2, "data", 0.02))
    assert (finding.rule, finding.severity) == ("straggler", Severity.WARNING)
    assert finding.title.startswith("the other ranks wait for rank 2 ")
    assert finding.title.endswith("its data loading takes 21 ms a step, the others' 1 ms")
    assert "storage" in finding.fix


def test_a_straggler_in_backward_is_known_without_the_waiting_of_the_others():
    finding = only(Made().slow(1, "backward", 0.01))
    assert "rank 1" in finding.title
    assert "its backward takes 14 ms a step, the others' 4 ms" in finding.title


def test_in_a_short_run_what_ranks_do_before_the_exchange_tells_who_comes_late():
    made = Made(steps=12).slow(3, "other", 0.02)
    finding = only(made)
    assert "its other code takes 20 ms a step, the others' 0 ms" in finding.title
    made.series("sync_wait", lambda _rank, _step: (0.0,))
    assert ids(made) == []  # nothing is exchanged, so nobody waits


def test_waits_of_the_first_steps_are_those_of_whoever_watches_and_tell_nothing():
    made = Made(2, steps=12)
    made.series("sync_wait", lambda rank, step: (0.05 if rank and step < 11 else 0.001,), steps=range(1, 13))
    assert ids(made) == []


def test_ranks_that_take_turns_in_being_last_are_no_stragglers():
    made = Made().series(
        "sync_wait", lambda rank, step: (0.0 if step % 4 == rank else 0.01,), steps=range(1, STEPS + 1)
    )
    assert ids(made) == []


def test_small_waits_are_no_matter():
    assert ids(Made().slow(2, "data", 0.0003)) == []


def hung(made, *, over=False, seconds=40.0):
    made.rank(2).status = Status.OK if over else Status.RUNNING
    beats = [made.beat(rank, inside=rank != 1, event="batch" if rank == 1 else "backward") for rank in range(4)]
    made.rank(0).records.append(HangRecord(step=7, seconds=seconds, over=False, beats=tuple(beats)))
    if over:
        made.rank(0).records.append(HangRecord(step=7, seconds=seconds + 5, over=True, beats=()))
    made.beats.clear()
    return made


def test_a_silent_rank_is_named_with_what_all_ranks_did_last():
    finding = only(hung(Made()))
    assert (finding.rule, finding.severity) == ("silent-rank", Severity.ERROR)
    assert finding.title == "rank 1 stands still for 40 s: it was last in batch at step 7"
    assert finding.evidence["rank 3"] == "waits in backward at step 7, line 14: loss = F.mse_loss(model(x), y)"
    assert finding.why == "Ranks 0, 2 and 3 wait for it in an exchange."


def test_a_pause_that_passed_is_worth_knowing_at_most():
    finding = only(hung(Made(), over=True))
    assert (finding.severity, finding.title.startswith("rank 1 stood still for 45 s")) == (Severity.INFO, True)


def test_ranks_that_wait_in_different_collectives_are_told_so():
    made = Made(2)
    beats = (made.beat(0, "all_reduce"), made.beat(1, "broadcast"))
    made.rank(0).records.append(HangRecord(step=7, seconds=40.0, over=False, beats=beats))
    finding = only(made)
    assert finding.title == "all ranks stood still for 40 s: rank 0 in all_reduce, rank 1 in broadcast"
    assert finding.why.startswith("They wait for each other")


def test_a_rank_that_runs_and_tells_nothing_new_is_silent():
    made = Made(2)
    for rank in range(2):
        made.rank(rank).status = Status.RUNNING
        made.beat(rank, inside=rank == 0, seconds=10.0, age=15.0)
    assert only(made).rule == "silent-rank"
    made.beat(0, inside=False, seconds=0.1, age=0.2)
    assert ids(made) == []


def test_a_rank_whose_process_died_is_named_with_what_it_did_last():
    made = Made()
    made.rank(2).status, made.rank(2).steps = Status.LOST, 7
    made.beat(2, "forward", inside=False)
    for rank in (0, 1, 3):
        made.crash(rank, "[../gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:39215")
    finding = only(made)
    assert (finding.rule, finding.step, finding.line) == ("lost-rank", 20, None)
    assert finding.title == "rank 2 died at about step 20, and ranks 0, 1 and 3 failed for it"
    assert finding.evidence["process"] == "102"
    assert "last heard of" not in finding.evidence  # it has told nothing for 13 steps
    made.beat(2, "forward", inside=False, step=19)
    assert only(made).evidence["last heard of"].startswith("was last in forward at step 19, line 14")


def test_the_exception_of_one_rank_explains_those_of_the_others():
    made = Made().crash(3, "invalid literal for int(): 'x'", "ValueError", line=22)
    for rank in (0, 1, 2):
        made.crash(rank, "Connection closed by peer [127.0.0.1]:39215")
    finding = only(made)
    assert (finding.rule, finding.line) == ("failed-rank", 22)
    assert finding.title == "rank 3 failed with ValueError: invalid literal for int(): 'x'"
    assert finding.evidence["failed for it"] == "ranks 0 to 2"


def test_ranks_that_the_launcher_ends_after_a_failure_follow_from_it():
    made = Made().crash(3, "no such column", "KeyError")
    for rank in (1, 2):
        made.rank(rank).status = Status.LOST
    first, second = found(made)
    assert (first.rule, first.why) == ("failed-rank", "What launched the ranks then ended ranks 1 and 2.")
    assert (second.rule, second.severity, second.causes) == ("lost-rank", Severity.INFO, ("failed-rank",))


def test_ranks_that_a_person_interrupts_have_not_failed():
    made = Made().crash(0, "", "KeyboardInterrupt")
    made.rank(0).status = Status.INTERRUPTED
    assert ids(made) == []


def test_an_exception_that_all_ranks_raise_is_no_matter_of_ranks():
    made = Made(2)
    for rank in range(2):
        made.crash(rank, "no such file", "FileNotFoundError")
    assert ids(made) == []


# --- judgement


def test_ranks_that_are_joined_later_are_judged_without_asking_the_other_rules_again():
    made = Made().parted(1)
    run = made.rank(0)
    before = judge(run, unexpected)
    run.findings = before
    assert made.run is run
    run.findings = judge_ranks(run, unexpected)
    assert run.findings == judge(run, unexpected)
    assert judge_ranks(run, unexpected) == run.findings
    assert [finding.rule for finding in run.findings] == ["replicas-differ"]


def test_thresholds_and_silence_hold_for_ranks_as_well():
    run = Made().parted(1, since=15).run
    assert [finding.rule for finding in judge_ranks(run, unexpected)] == ["replicas-differ"]
    run.settings["thresholds"] = {"replicas-differ.min_apart": 3}
    assert judge_ranks(run, unexpected) == ()
    run.settings = {"ignore": ["replicas-*"]}
    assert judge_ranks(run, unexpected) == ()


def test_the_page_on_ranks_names_every_rule_about_them():
    page = (Path(__file__).parents[3] / "docs" / "ranks.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    assert sorted(named) == sorted(rule.id for rule in RANK_RULES)


def test_the_ranks_of_the_benchmark_are_read_judged_and_drawn_as_it_says(tmp_path):
    many_ranks.make(tmp_path, SimpleNamespace(ranks=18, steps=60, parameters=4))
    said = many_ranks.read(many_ranks.folder_of(tmp_path, many_ranks.LAUNCH), tmp_path)
    assert said["read"] == 18
    assert [title.partition(":")[0] for title in said["found"]] == [
        "a value that is not finite was born on rank 9 at step 59",
        "the other ranks wait for rank 6 19% of each step",
    ]
    assert "18 ranks on 3 hosts" in (tmp_path / "ranks.txt").read_text(encoding="utf-8")
