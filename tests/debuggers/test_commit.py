"""This file tests the commit of a folder, read as git itself tells it, and the surroundings of a run."""

import shutil
import subprocess
import time
import warnings

import pytest
import torch

from torchmagic.debuggers.commit import Commit, commit_of
from torchmagic.debuggers.surroundings import surroundings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder, *words):
    options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *options, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.txt").write_text("one")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-q", "-m", "one")
    return tmp_path


def answered(folder):
    """Ask until git has answered."""
    deadline = time.monotonic() + 60
    while (found := commit_of(folder)).changed is None and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def test_a_folder_in_a_repository_has_its_commit(repository):
    below = repository / "notebooks"
    below.mkdir()
    assert answered(below) == Commit(git(repository, "rev-parse", "HEAD"), changed=False)


def test_files_that_differ_are_told(repository):
    (repository / "a.txt").write_text("two")
    assert answered(repository).changed is True


def test_a_file_that_git_does_not_know_is_no_change(repository):
    (repository / "b.txt").write_text("new")
    assert answered(repository).changed is False


@pytest.mark.parametrize(
    "words",
    [["pack-refs", "--all"], ["checkout", "-q", "--detach"], ["checkout", "-q", "-b", "other/branch"]],
    ids=lambda words: words[0] + words[-1],
)
def test_the_commit_is_found_where_git_keeps_it(repository, words):
    git(repository, *words)
    assert commit_of(repository).id == git(repository, "rev-parse", "HEAD")


def test_a_work_tree_beside_its_repository_has_a_commit(repository, tmp_path_factory):
    beside = tmp_path_factory.mktemp("beside") / "tree"
    git(repository, "worktree", "add", "-q", "-b", "side", str(beside))
    assert commit_of(beside).id == git(beside, "rev-parse", "HEAD")


def test_what_is_no_repository_or_broken_has_none(tmp_path):
    assert commit_of(tmp_path / "not there") == Commit()
    (tmp_path / ".git").mkdir()
    assert commit_of(tmp_path) == Commit()
    (tmp_path / ".git" / "HEAD").write_bytes(b"ref: refs/heads/../../../etc\xff\n")
    assert commit_of(tmp_path) == Commit()
    (tmp_path / ".git" / "HEAD").write_text("0" * 39)
    assert commit_of(tmp_path) == Commit()


def test_a_program_that_the_repository_names_is_not_run(repository):
    mark = repository / "ran"
    program = repository / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "config", "diff.external", str(program))
    (repository / "a.txt").write_text("two")
    assert answered(repository).changed is True
    assert not mark.exists()


def test_no_git_is_no_failure(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert commit_of(repository).id
    assert commit_of(repository).changed is None


def test_surroundings_tell_seed_type_and_versions(repository, monkeypatch):
    monkeypatch.chdir(repository)
    torch.manual_seed(1234)
    record = surroundings()
    assert (record.torch, record.seed, record.default_dtype) == (torch.__version__, 1234, "float32")
    assert (record.deterministic, record.commit) == (False, git(repository, "rev-parse", "HEAD"))
    assert torch.initial_seed() == 1234


def test_who_looks_for_them_does_not_make_python_forget_what_it_has_warned_of(repository, monkeypatch):
    monkeypatch.chdir(repository)
    registry = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
            assert surroundings().commit
    assert len(shown) == 1
