"""The house keeps its own rules: where torch is hooked, how long files are, what rooms are made of."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic

PACKAGE = Path(torchmagic.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES_IN_A_FILE = 250
MOST_LINES_IN_A_FUNCTION = 60
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "base", "misc", "core"}

# The one place that hooks torch, and the two files that hold its tools; nobody else may use those two.
TAPS = {
    "probes/taps.py",
    "probes/telling.py",
    "probes/hooked.py",
    "probes/wrappers.py",
    "probes/call_wrappers.py",
    "probes/function_wrappers.py",
    "probes/clip_wrappers.py",
    "probes/compile_wrappers.py",
    "probes/collective_wrappers.py",
    "probes/distribution_wrappers.py",
    "probes/dropout_wrappers.py",
    "probes/building_wrappers.py",
    "probes/reset_wrappers.py",
    "probes/replay_wrappers.py",
    "probes/scaler_wrappers.py",
    "probes/loader_wrappers.py",
    "probes/range_wrappers.py",
    "probes/move_wrappers.py",
    "probes/read_wrappers.py",
    "probes/schedule_wrappers.py",
    "probes/patches.py",
    "probes/places.py",
    "probes/bodies.py",
    "probes/giving_back.py",
    "probes/trial_watch.py",  # of our own trials: the first step, the losses
    "models/forward.py",  # runs a twin of the user's model; see docs/decisions/0013
}
TOOLS_OF_TAPS = re.compile(r"torchmagic\.probes\.(\w*wrappers|patches|\w*wrappers\.wrap_\w+|patches\.Patches)")
MODES = re.compile(
    r"TorchDispatchMode|TorchFunctionMode|detect_anomaly|set_detect_anomaly|saved_tensors_hooks|save_on_cpu"
    r"|set_default_dtype|use_deterministic_algorithms|inference_mode|set_grad_enabled|_set_grad_enabled"
    r"|settrace|setprofile|no_grad|enable_grad"
)
HOOK = re.compile(r"_?register_\w*hook\w*")
# A replay runs the user's module again; it must leave no graph behind.
# What a forward may have switched is put back by the same setter. The recipe for inference is that mode.
ALLOWED = {
    "probes/replay.py": {"no_grad"},
    "probes/hand_steps.py": {"no_grad"},  # tells a step amid events that touch no tensors, as taps do
    "models/streams.py": {"set_default_dtype"},
    "tuning/recipes/inference.py": {"inference_mode"},
    "tuning/recurrent_layers.py": {"inference_mode", "enable_grad"},  # a layer of its own is tried
}
# The files that start torch's profiler, and have it write; ours are the ranges that it notes down. What a step of a
# tuned training allocates is read from one of its own.
PROFILER = {"profiling/kineto.py", "profiling/trace.py", "tuning/peak_memory.py"}
# Gives functions of the user's, while they are profiled, bodies that tell their lines.
BODIES = {"profiling/ranged_functions.py"}
# What a shell or a frozen dataclass is given is not torch's.
NOT_TORCH = {"object", "shell", "self", "cls"}


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "?")
    return ".".join(reversed(parts))


def names_from_torch(tree):
    """Return the names that a file has from torch, or from a file of ours that is torch's alias."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names if is_torch(alias.name)}
        elif isinstance(node, ast.ImportFrom) and is_torch(node.module or ""):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def is_torch(module):
    return module.partition(".")[0] == "torch"


def intrusions(path):
    """Yield what a file does to torch that only the taps may do, as ``line: what``."""
    tree, allowed = tree_of(path), ALLOWED.get(name_of(path), set())
    torch_names = names_from_torch(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            last = called.rpartition(".")[2]
            if HOOK.fullmatch(last):
                yield f"{node.lineno}: {called}"
            if called in ("setattr", "delattr") and dotted(node.args[0]).partition(".")[0] not in NOT_TORCH:
                yield f"{node.lineno}: {called} on {ast.unparse(node.args[0])}"
        if isinstance(node, ast.Name | ast.Attribute):
            full = dotted(node)
            if MODES.fullmatch(full.rpartition(".")[2]) and full.rpartition(".")[2] not in allowed:
                yield f"{node.lineno}: {full}"
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            full = dotted(node)
            if full.partition(".")[0] in torch_names or (node.attr == "__code__" and name_of(path) not in BODIES):
                yield f"{node.lineno}: {full} = ..."


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_torch_is_hooked_patched_and_put_into_modes_by_the_taps_alone(path):
    if name_of(path) not in TAPS:
        assert not list(intrusions(path))


def test_only_the_taps_use_the_tools_of_the_taps():
    for path in FILES:
        imported = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)]
        names = {(node.module, alias.name) for node in imported for alias in node.names}
        tools = {name for name in names if TOOLS_OF_TAPS.fullmatch(".".join(map(str, name)))}
        assert not tools or name_of(path) in TAPS, f"{name_of(path)} imports {tools}"


def test_torchs_profiler_is_run_in_one_place():
    found = set()
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            imports = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch.profiler")
            if imports or (isinstance(node, ast.Attribute) and dotted(node).startswith("torch.profiler")):
                found.add(name_of(path))
    assert found == PROFILER


@pytest.mark.parametrize(
    "line",
    [
        "torch.nn.Module.__call__ = mine",
        "nn.Module.forward = mine",
        "setattr(functional, 'relu', mine)",
        "tensor.register_hook(print)",
        "nn.modules.module.register_module_forward_hook(print)",
        "class Mode(TorchDispatchMode): pass",
        "with torch.autograd.set_detect_anomaly(True): pass",
        "torch.autograd.graph.saved_tensors_hooks(a, b)",
        "with torch.no_grad(): pass",
    ],
)
def test_the_search_for_intrusions_finds(line, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    path = tmp_path / "file.py"
    path.write_text(f"import torch\nfrom torch import nn\nfrom torch.nn import functional\n{line}\n")
    assert list(intrusions(path))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_has_one_subject_and_says_which(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES_IN_A_FILE
    assert ast.get_docstring(ast.parse(text)), "the first line of a file is its docstring"
    assert text.startswith('"""')


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_function_fits_on_a_screen(path):
    too_long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > MOST_LINES_IN_A_FUNCTION
    ]
    assert not too_long


def test_a_room_is_opened_by_one_sentence():
    for path in FILES:
        if path.name != "__init__.py" or path.parent == PACKAGE:
            continue
        body = tree_of(path).body
        assert len(body) == 1, f"{name_of(path)} defines or imports something"
        sentence = ast.get_docstring(tree_of(path))
        assert sentence, name_of(path)
        assert "\n\n" not in sentence, name_of(path)
        assert sentence.endswith("."), name_of(path)


def test_nothing_is_named_after_nothing():
    names = {part for path in FILES for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert not names & FORBIDDEN


def test_imports_are_written_out():
    for path in FILES:
        relative = [node.lineno for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom) and node.level]
        assert not relative, f"{name_of(path)}: relative import at line {relative}"


def test_the_contracts_between_the_rooms_hold():
    tool = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    if tool is None:
        pytest.skip("import-linter is not installed: pip install torchmagic[dev]")
    done = subprocess.run([tool, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
