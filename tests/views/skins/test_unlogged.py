"""This file tests that what the libraries log while we draw stays out of the user's handlers, and nothing else does."""

import logging
import subprocess
import sys
import threading

import pytest

from torchmagic.views.page import Line, Plot
from torchmagic.views.skins.matplotlib import as_grid_png, as_png
from torchmagic.views.skins.unlogged import unlogged

PLOT = Plot(title="loss", lines=[Line(name="train", steps=[0, 1], values=[1.0, 2.0])])


@pytest.mark.parametrize("draw", [lambda: as_png(PLOT), lambda: as_grid_png([PLOT], title="a")])
def test_a_picture_logs_nothing_and_all_loggers_are_as_they_were(draw, caplog):
    caplog.set_level(logging.DEBUG)
    handlers = [*logging.root.handlers, logging.lastResort]
    before = [list(each.filters) for each in handlers]
    draw()
    assert caplog.records == []
    assert [list(each.filters) for each in handlers] == before
    logging.getLogger("matplotlib.font_manager").debug("the user's own drawing")
    assert [each.name for each in caplog.records] == ["matplotlib.font_manager"]


def test_the_first_picture_of_a_process_says_nothing_where_libraries_are_only_loaded():
    as_png(PLOT)  # what fonts there are is found out once, in a thread that says how long it takes
    program = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
from torchmagic.views.page import Line, Plot
from torchmagic.views.skins.matplotlib import as_png
as_png(Plot(title="loss", lines=[Line(name="train", steps=[0, 1], values=[1.0, 2.0])]))
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == ""


def test_what_others_log_and_what_another_thread_draws_is_written(caplog):
    caplog.set_level(logging.DEBUG)
    with unlogged():
        logging.getLogger("PIL.PngImagePlugin").debug("ours")
        logging.getLogger("PILLOW").debug("no library")
        thread = threading.Thread(target=logging.getLogger("matplotlib").debug, args=("drawn by the user",))
        thread.start()
        thread.join()
    assert [each.getMessage() for each in caplog.records] == ["no library", "drawn by the user"]


def test_a_handler_of_the_librarys_own_logger_gets_nothing(caplog):
    logger = logging.getLogger("PIL.PngImagePlugin")
    logger.addHandler(caplog.handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        as_png(PLOT)
    finally:
        logger.removeHandler(caplog.handler)
        logger.setLevel(logging.NOTSET)
        logger.propagate = True
    assert caplog.records == []
