"""A log's logger and its file: names that lead nowhere else, nothing at the root, nothing left behind."""

import gc
import logging
import threading

import pytest

from torchmagic.api.training_logs.training_logging_manager import TrainingLoggingManager


def of_ours(logger):
    """Return the handlers of a logger that are torchmagic's; pytest adds its own."""
    return [each for each in logger.handlers if type(each).__module__.startswith("torchmagic")]


@pytest.fixture
def make(quietly):
    made = []

    def make(name="experiment", **options):
        made.append(TrainingLoggingManager(name, **{**quietly, **options}))
        return made[-1]

    yield make
    for manager in made:
        manager.close()


def test_a_log_that_is_never_used_opens_nothing(make, tmp_path):
    before = threading.active_count()
    make()
    assert threading.active_count() == before
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "a/b\\c", "..", "", "\0", "CON\n.x", "é" * 300, "x" * 5_000, "a.b.c", "\ud800"],
    ids=ascii,
)
def test_no_name_leads_out_of_the_folder(make, tmp_path, name, lines):
    manager = make(name)
    manager.log_info("hello")
    assert len(lines(manager)) == 1
    assert manager.path.resolve().parent == (tmp_path / "logs").resolve()
    assert [each.name for each in tmp_path.iterdir()] == ["logs"]
    assert manager.path.name.isascii()
    assert manager.logger.name.startswith("torchmagic.training.")
    assert manager.logger.name.count(".") == 2, "a dot would make it the child of another training's logger"


def test_the_root_logger_gets_and_keeps_nothing(make):
    root, told = logging.getLogger(), logging.Handler()
    told.emit = pytest.fail
    root.addHandler(told)
    try:
        before = list(root.handlers), root.level
        manager = make(terminal_level="info")
        manager.log_warning("for the file")
        manager.close()
        assert (list(root.handlers), root.level) == before
    finally:
        root.removeHandler(told)


def test_trainings_of_one_name_have_loggers_and_files_of_their_own(make, lines):
    managers = [make("same") for _ in range(3)]
    for number, manager in enumerate(managers):
        manager.log_info(f"training {number}")
    assert len({manager.logger.name for manager in managers}) == 3
    assert [[line["message"] for line in lines(each)] for each in managers] == [[f"training {n}"] for n in range(3)]


def test_a_name_is_free_again_once_it_is_closed(make):
    first = make("once")
    name = first.logger.name
    first.close()
    assert make("once").logger.name == name


def test_closing_takes_handlers_and_threads_away_and_may_be_done_twice(make):
    manager = make()
    manager.log_info("hello")
    logger = manager.logger
    assert of_ours(logger)
    manager.close()
    manager.close()
    assert not of_ours(logger)
    assert not [each for each in threading.enumerate() if each.name == "torchmagic-training-log"]


def test_a_log_that_is_let_go_closes_itself_and_loses_nothing(make, quietly, lines):
    manager = TrainingLoggingManager("let go", **quietly)
    for number in range(50):
        manager.log_info(str(number))
    path, logger = manager.path, manager.logger
    writer = next(each for each in threading.enumerate() if each.name == "torchmagic-training-log")
    del manager
    gc.collect()
    assert not of_ours(logger)
    writer.join(30)
    assert not writer.is_alive()
    assert len(lines(path)) == 50


def test_what_is_logged_after_the_close_is_lost_and_says_so_once(make, lines):
    manager = make()
    manager.log_info("before")
    manager.close()
    with pytest.warns(RuntimeWarning, match="is closed.*make a new logger") as said:
        manager.log_info("after")
    manager.log_info("after")  # a second warning would be an error here
    assert said[0].filename == __file__
    assert [line["message"] for line in lines(manager.path)] == ["before"]


def test_handlers_of_the_users_are_called_by_the_thread_and_stay_open(make):
    class Mine(logging.Handler):
        told, threads, is_closed = [], [], False

        def emit(self, record):
            self.told.append((record.levelname, record.getMessage(), record.filename))
            self.threads.append(threading.current_thread().name)

        def close(self):
            self.is_closed = True

    mine = Mine()
    manager = make(handlers=[mine])
    manager.log_warning("look")
    manager.close()
    assert mine.told == [("WARNING", "look", "test_channel.py")]
    assert mine.threads == ["torchmagic-training-log"]
    assert not mine.is_closed


def test_the_level_of_the_logger_is_the_users_to_set(make, lines):
    logging.getLogger("torchmagic.training.levelled").setLevel(logging.WARNING)
    manager = make("levelled")
    manager.log_info("no")
    manager.log_warning("yes")
    assert [line["message"] for line in lines(manager)] == ["yes"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_bytes": 10}, "max_bytes is the size of one log file, 1,024 bytes or more, 10 came"),
        ({"backups": 0}, "backups is how many older log files are kept, 1 or more, 0 came"),
        ({"terminal_level": "loud"}, "level: 'loud' is not one of debug, info, warning, error, critical"),
        ({"terminal_level": "warn"}, "did you mean 'warning'?"),
    ],
)
def test_a_wrong_option_is_one_line(quietly, options, said):
    with pytest.raises(ValueError) as error:
        TrainingLoggingManager("wrong", **{**quietly, **options})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_files_lie_in_the_projects_folder_unless_another_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with TrainingLoggingManager("default", terminal_level=None) as manager:
        manager.log_info("hello")
    assert manager.path.parent == tmp_path / ".torchmagic" / "training_logs"
    assert manager.path.exists()
