"""What is typed behind ``%torchsession`` is read by its table, or answered in one line."""

import pytest
from IPython.core.error import UsageError

from torchmagic.jupyter.session_deeds import DEEDS
from torchmagic.jupyter.session_parsing import asks, parse
from torchmagic.jupyter.session_words import BY_NAME, help_text


def read(line):
    request = parse(line)
    return request.word.name, request.places, request.flags


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", ("history", (), {})),
        ("--all", ("history", (), {"--all": ("",)})),
        ("history --all", ("history", (), {"--all": ("",)})),
        ("show", ("show", (), {})),
        ("show -2", ("show", ("-2",), {})),
        ('show "lr sweep"', ("show", ("lr sweep",), {})),
        ("compare 1 2 last", ("compare", ("1", "2", "last"), {})),
        ("compare", ("compare", (), {})),
        ("plot loss --runs 1 2", ("plot", ("loss",), {"--runs": ("1", "2")})),
        ("plot --runs=1,2 loss", ("plot", ("loss",), {"--runs": ("1", "2")})),
        (
            "plot grad_norm --parameter '*.weight' --runs 1",
            ("plot", ("grad_norm",), {"--parameter": ("*.weight",), "--runs": ("1",)}),
        ),
        ("note 3 it's the best, isn't it", ("note", ("3", "it's the best, isn't it"), {})),
        ('note 3 "too high"', ("note", ("3", "too high"), {})),
        ('note "lr sweep" --all of it', ("note", ("lr sweep", "--all of it"), {})),
        ("note 3", ("note", ("3",), {})),
        ("tag 3 good -bad", ("tag", ("3", "good", "-bad"), {})),
        (r"export C:\runs\a.csv --to csv", ("export", (r"C:\runs\a.csv",), {"--to": ("csv",)})),
        ("level", ("level", (), {})),
    ],
)
def test_a_line_is_read(line, expected):
    assert read(line) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("histroy", "%torchsession: there is no 'histroy'; did you mean history?"),
        ("frobnicate", "%torchsession: there is no 'frobnicate'; it knows history, last, show,"),
        ("7", "%torchsession: there is no '7'; did you mean show 7?"),
        ("show 1 2", "%torchsession show takes only [N], got '2' as well"),
        ("status now", "%torchsession status takes no words, got 'now' as well"),
        ("tag 3", "%torchsession tag wants N TAG ..., got 3; as in: %torchsession tag N TAG ..."),
        ("plot loss --run 1", "%torchsession plot: there is no option '--run'; did you mean --runs?"),
        ("plot loss --runs", "%torchsession plot: --runs wants N ..., got nothing"),
        ("plot loss --parameter --runs 1", "%torchsession plot: --parameter wants NAME, got nothing"),
        ("clear --stored=yes", "%torchsession clear: --stored takes no value, got 'yes'"),
        ("status --verbose", "%torchsession status: there is no option '--verbose'; it takes none"),
        ('show "lr sweep', "%torchsession show: no closing quotation in '\"lr sweep'"),
    ],
)
def test_a_wrong_line_is_one_line_that_names_the_nearest_right_one(line, message):
    with pytest.raises(UsageError) as error:
        parse(line)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_help_is_asked_for_anywhere_but_in_the_text_of_a_note():
    assert asks("--help")
    assert asks("plot --help")
    assert asks("note --help")
    assert not asks("note 3 see --help")
    assert not asks("show 3")


def test_the_help_tells_each_word_with_its_options():
    text = help_text()
    for word in BY_NAME.values():
        assert word.usage in text
        assert word.help in text


def test_each_word_has_a_deed():
    assert set(DEEDS) == set(BY_NAME)
