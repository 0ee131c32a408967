"""This file is the phases of a training that an event can belong to."""

from enum import StrEnum


class TrainingPhase(StrEnum):
    """In which phase of a training something happened."""

    INITIALIZATION = "initialization"
    DATA_LOADING = "data_loading"
    TRAINING = "training"
    VALIDATION = "validation"
    TESTING = "testing"
    CHECKPOINTING = "checkpointing"
    INFERENCE = "inference"
    CLEANUP = "cleanup"
