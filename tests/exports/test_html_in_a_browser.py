"""This file tests the page in a real browser: curves, tables, light and dark, paper, and life without a script."""

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.views.numbers import as_number

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(trained, tmp_path_factory):
    return export(trained["expert"], tmp_path_factory.mktemp("page") / "run.html")


@pytest.fixture
def visit(chromium):
    """Return what opens a page, and ends the test if it asks for anything or fails."""
    contexts, wrong = [], []

    def open_page(path, **settings):
        context = chromium.new_context(viewport={"width": 1000, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: None if request.url == path.as_uri() else wrong.append(request.url[:80]))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [each for each in wrong if not each.startswith("data:image/png")] == []


def loss_of(page):
    return page.locator("figure.live", has=page.locator("figcaption", has_text="loss")).first


def place_of(page, figure, share):
    box = figure.locator(".frame").bounding_box()
    left, right = box["x"] + 58, box["x"] + box["width"] - 14
    return left + share * (right - left), box["y"] + box["height"] / 2


def test_hovering_reads_the_value_of_the_nearest_step(file, visit, run):
    page = visit(file)
    figure = loss_of(page)
    figure.scroll_into_view_if_needed()
    steps, values = run.series("loss")
    assert figure.locator(".value").inner_text() == as_number(values[-1])
    page.mouse.move(*place_of(page, figure, 10 / steps[-1]))
    assert figure.locator(".readout").text_content() == "step 10"
    assert figure.locator(".value").inner_text() == as_number(values[10])


def test_arrow_keys_read_values_aloud(file, visit, run):
    page = visit(file)
    figure = loss_of(page)
    figure.locator(".frame").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    said = figure.locator("[role=status]").text_content()
    assert said == f"step 1: loss {as_number(run.series('loss')[1][1])}"


def test_the_axis_turns_logarithmic_and_back(file, visit):
    page = visit(file)
    figure = loss_of(page)
    button = figure.get_by_role("button", name="log", exact=True)
    before = figure.locator("path.line").get_attribute("d")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert figure.locator("path.line").get_attribute("d") != before
    button.click()
    assert figure.locator("path.line").get_attribute("d") == before


def test_a_line_hides_and_returns(file, visit):
    page = visit(file)
    figure = (
        page.locator("figure.live")
        .filter(has=page.locator(".entry:nth-child(2)"))
        .filter(has=page.locator("path.line"))
        .first
    )
    lines = figure.locator("path.line").count()
    entry = figure.locator(".entry").first
    entry.click()
    assert figure.locator("path.line").count() == lines - 1
    assert entry.get_attribute("aria-pressed") == "false"
    entry.click()
    assert figure.locator("path.line").count() == lines


def test_dragging_zooms_and_a_button_leads_back(file, visit):
    page = visit(file)
    figure = loss_of(page)
    figure.scroll_into_view_if_needed()
    whole = figure.get_by_role("button", name="Whole run")
    assert whole.is_hidden()
    before = figure.locator("path.line").get_attribute("d")
    page.mouse.move(*place_of(page, figure, 0.25))
    page.mouse.down()
    page.mouse.move(*place_of(page, figure, 0.75), steps=4)
    page.mouse.up()
    assert whole.is_visible()
    assert figure.locator("path.line").get_attribute("d") != before
    ticks = [text for text in figure.locator(".tick[text-anchor=middle]").all_text_contents() if text]
    assert ticks
    assert all(7 <= float(tick) <= 22 for tick in ticks)
    whole.click()
    assert figure.locator("path.line").get_attribute("d") == before
    assert whole.is_hidden()


def test_tables_sort_by_numbers_and_words_and_filter(visit, tmp_path, wide):
    page = visit(export(wide, tmp_path / "a.html"))
    table = page.locator("section[aria-label=Parameters] .tm-scroll").first
    column = lambda index: table.locator(f"tbody tr > :nth-child({index})").all_text_contents()  # noqa: E731
    heads = table.locator("thead th").all_text_contents()
    norm = heads.index("grad norm") + 1
    came = column(1)
    table.get_by_role("button", name="grad norm").click()
    falling = column(norm)
    assert falling == sorted(falling, key=lambda text: -float(text.replace(",", "")))
    assert falling != sorted(falling, reverse=True)  # as words they would stand otherwise
    assert table.locator("thead th").nth(norm - 1).get_attribute("aria-sort") == "descending"
    table.get_by_role("button", name="grad norm").click()
    assert column(norm) == falling[::-1]
    table.get_by_role("button", name="grad norm").click()
    assert column(1) == came
    box = page.locator("section[aria-label=Parameters] .filter").first
    box.fill("layer7 bias")
    assert column(1) == ["net.layer7.bias"]
    assert page.locator("section[aria-label=Parameters] .count").first.inner_text() == "1 of 24 rows"


def test_without_a_script_pictures_and_tables_stand_there(file, visit):
    page = visit(file, java_script_enabled=False)
    pictures = page.locator("main section > figure img, main section section > figure img")
    assert pictures.count() > 1
    assert pictures.first.is_visible()
    assert page.locator("section[aria-label=Parameters] tbody tr").first.is_visible()
    assert page.locator(".frame").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_reader_and_a_button_turns_it(scheme, file, visit):
    page = visit(file, color_scheme=scheme)
    bright = "getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'"
    assert page.evaluate(bright) is (scheme == "light")
    page.locator(".theme").click()
    assert page.evaluate(bright) is (scheme == "dark")
    page.locator(".theme").click()
    assert page.evaluate(bright) is (scheme == "light")


def test_paper_has_everything_and_no_buttons(file, visit):
    page = visit(file, color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("nav").is_hidden()
    assert page.locator(".tools").first.is_hidden()
    assert page.locator("main details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in {
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    }


def test_a_page_fits_a_telephone(file, visit):
    page = visit(file)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_hostile_names_are_words_in_the_page(harmful, named, visit, tmp_path):
    listed = [named(word, run_id=f"id{number}") for number, word in enumerate(harmful)]
    page = visit(export(listed[:6], tmp_path / "a.html"))
    page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    assert page.locator("script").count() == 2
    assert page.locator("img:not([src^='data:image/png'])").count() == 0
    assert page.locator("figure.live").count() > 6
    assert page.locator(".run h2", has_text="<img src=x").count() == 1
