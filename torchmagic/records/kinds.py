"""This file is the kinds: the list of all records that a run is stored as."""

from torchmagic.records.accelerator import AcceleratorRecord
from torchmagic.records.activation import ActivationRecord
from torchmagic.records.beginning import BeginningRecord
from torchmagic.records.clipping import ClippingLineRecord, ClipRecord
from torchmagic.records.compilation import CompilationRecord, GraphReplaysRecord
from torchmagic.records.connection import (
    DetachedLossRecord,
    FrozenOutputRecord,
    GradientFlowRecord,
    MadeInForwardRecord,
    ReusedGradientsRecord,
    UnreachedRecord,
    UnregisteredRecord,
)
from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.crash import (
    CrashSiteRecord,
    GradlessForwardRecord,
    InplaceRecord,
    OutOfMemoryRecord,
    ReusedGraphRecord,
    TargetRangeRecord,
)
from torchmagic.records.data import BadSampleRecord, BatchRecord, ClassCountsRecord
from torchmagic.records.device import DeviceRecord, TransferRecord
from torchmagic.records.evaluation import AwakeDropoutRecord, EvaluationRecord, FirstStatisticsRecord, StoppingRecord
from torchmagic.records.feeding import (
    DifferenceRecord,
    FirstLayerRecord,
    HostReadsRecord,
    LoaderUseRecord,
    PaddingRecord,
    RepeatedInputRecord,
    SharedRowsRecord,
    SlowModeRecord,
)
from torchmagic.records.finding import Finding
from torchmagic.records.loop import (
    AccumulationRecord,
    DiscardedGradientsRecord,
    HandStepsRecord,
    IdleStepRecord,
    OwnStepsRecord,
    RebuiltOptimizerRecord,
    RestartRecord,
    UnsteppedRecord,
)
from torchmagic.records.loss import (
    BackwardRecord,
    BroadcastRecord,
    LossInputRecord,
    LossRecord,
    ProbabilityInputRecord,
    SoftmaxAxisRecord,
)
from torchmagic.records.memory import HolderRecord, RetainedGraphRecord, UnseenGraphRecord
from torchmagic.records.model import LoaderRecord, ModelRecord, OptimizerRecord, ParameterRecord, RectifierRecord
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.records.note import CrashRecord, EnvironmentRecord, FailureRecord, NoteRecord
from torchmagic.records.notebook import (
    GlobalModesRecord,
    LeftoverGradientsRecord,
    OptimizerStateRecord,
    RepeatedHookRecord,
    RerunRecord,
)
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.records.precision import (
    AutocastBackwardRecord,
    AutocastRecord,
    GradScalerRecord,
    HalfWeightsRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    SkippedStepRecord,
)
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
from torchmagic.records.protocol import EvalModeRecord, UnclearedGradientsRecord, UnownedGradientsRecord
from torchmagic.records.rank_beats import BeatRecord, HangRecord
from torchmagic.records.ranks import (
    ChecksumRecord,
    CollectiveRecord,
    LaunchRecord,
    LoaderPassRecord,
    RandomStateRecord,
    RankRecord,
    WithoutGradientRecord,
    WrapRecord,
)
from torchmagic.records.reach import DerivativeRecord, ReachRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.records.snapshot import SnapshotRecord
from torchmagic.records.speed import (
    BatchTimesRecord,
    EvaluationGraphRecord,
    ForwardRecord,
    HardwareRecord,
    InputGradientRecord,
    RepeatedCopyRecord,
    StepRecord,
    VerifiedRecord,
    WorkerStartRecord,
    ZeroedRecord,
)
from torchmagic.records.state import AliasedStateRecord
from torchmagic.records.structure import (
    DirectFollowRecord,
    DroppedOutputRecord,
    EqualUnitsRecord,
    ForesightRecord,
    MixedRowsRecord,
    SingleSampleRecord,
    SquashRecord,
)

KINDS: tuple[type, ...] = (
    AcceleratorRecord,
    AccumulationRecord,
    ActivationRecord,
    AliasedStateRecord,
    AllocationsRecord,
    AutocastBackwardRecord,
    AutocastRecord,
    AwakeDropoutRecord,
    BackwardRecord,
    BadSampleRecord,
    BatchRecord,
    BatchTimesRecord,
    BeatRecord,
    BeginningRecord,
    BroadcastRecord,
    ChecksumRecord,
    ClassCountsRecord,
    ClipRecord,
    ClippingLineRecord,
    CollectiveRecord,
    CompilationRecord,
    CostsRecord,
    CrashRecord,
    CrashSiteRecord,
    DerivativeRecord,
    DetachedLossRecord,
    DeviceRecord,
    DifferenceRecord,
    DirectFollowRecord,
    DiscardedGradientsRecord,
    DroppedOutputRecord,
    EnvironmentRecord,
    EqualUnitsRecord,
    EvalModeRecord,
    EvaluationGraphRecord,
    EvaluationRecord,
    FailureRecord,
    Finding,
    FirstLayerRecord,
    FirstStatisticsRecord,
    ForesightRecord,
    ForwardRecord,
    FrozenOutputRecord,
    GlobalModesRecord,
    GradScalerRecord,
    GradientFlowRecord,
    GradlessForwardRecord,
    GraphReplaysRecord,
    GroupRecord,
    HalfWeightsRecord,
    HandStepsRecord,
    HangRecord,
    HardwareRecord,
    HolderRecord,
    HostReadsRecord,
    IdleStepRecord,
    InplaceRecord,
    InputGradientRecord,
    LaunchRecord,
    LeftoverGradientsRecord,
    LoaderPassRecord,
    LoaderRecord,
    LoaderUseRecord,
    LossInputRecord,
    LossRecord,
    MadeInForwardRecord,
    MixedRowsRecord,
    ModelRecord,
    NonfiniteRecord,
    NoteRecord,
    ObjectiveRecord,
    OptimizerRecord,
    OptimizerStateRecord,
    OutOfMemoryRecord,
    OwnStepsRecord,
    PaddingRecord,
    ParameterRecord,
    PhasesRecord,
    ProbabilityInputRecord,
    ProfileRecord,
    RandomStateRecord,
    RankRecord,
    ReachRecord,
    RebuiltOptimizerRecord,
    RectifierRecord,
    RepeatedCopyRecord,
    RepeatedHookRecord,
    RepeatedInputRecord,
    RerunRecord,
    RestartRecord,
    RetainedGraphRecord,
    ReusedGradientsRecord,
    ReusedGraphRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    ScheduleRecord,
    SharedRowsRecord,
    SingleSampleRecord,
    SkippedStepRecord,
    SlowModeRecord,
    SnapshotRecord,
    SoftmaxAxisRecord,
    SourcesRecord,
    SquashRecord,
    StepRecord,
    StoppingRecord,
    TargetRangeRecord,
    TransferRecord,
    UnclearedGradientsRecord,
    UnownedGradientsRecord,
    UnreachedRecord,
    UnregisteredRecord,
    UnseenGraphRecord,
    UnsteppedRecord,
    VerifiedRecord,
    WithoutGradientRecord,
    WorkerStartRecord,
    WrapRecord,
    ZeroedRecord,
)
