"""Reports in Chromium: they open from disk, load nothing else, and do what they show.

Skipped where playwright or a browser is missing; with LXCIM_BROWSER set that is a failure.
"""

import os
import shutil

import numpy as np
import pytest

import lxcim_xp as lx

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for found in map(shutil.which, NAMES) if found), None)
# It runs as root in containers, without a GPU, and has nothing to look for on the network.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
if os.environ.get("LXCIM_BROWSER"):
    assert CHROMIUM, f"LXCIM_BROWSER is set, and none of {NAMES} is here"
    from playwright.sync_api import sync_playwright
else:
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    if CHROMIUM is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed", allow_module_level=True)
    pytest.importorskip("jinja2")
    pytest.importorskip("pandas")

import pandas as pd  # noqa: E402

from lxcim_xp import report  # noqa: E402

N = 300
EVIL = "</script><script>document.title='broken'</script><b>"


def table():
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 1, N)
    key = np.asarray([10.0, 9.0, 100.0, np.nan])[np.arange(N) % 4]
    given = pd.DataFrame({"y": truth > 0, "s": np.round(truth + rng.normal(0, 1, N), 1)})
    return given.assign(t=truth + rng.normal(0, 2, N), k=key, name=np.where(key > 50, EVIL, "b"))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    page = report.html(
        table(),
        label="y",
        scores=["s", "t"],
        by=["k", "name"],
        title="A report",
        command="lxcim report " + "a_long_name_" * 20,
    )
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def long_address(tmp_path_factory):
    """Return a page of twelve models and 500 subgroups."""
    rng = np.random.default_rng(4)
    truth = rng.normal(0, 1, 2000)
    given = pd.DataFrame({"y": truth > 0, "k": [f"group {k % 500}" for k in range(2000)]})
    models = {f"m{k}": truth + rng.normal(0, 0.5 + k * 5 % 12 / 6, 2000) for k in range(12)}
    page = report.html(given.assign(**models), label="y", scores=list(models), by="k")
    path = tmp_path_factory.mktemp("long") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, address):
    """Open the page with any options; afterwards it must have loaded itself only, and in peace."""
    contexts, asked, troubles, opened = [], [], [], set()

    def open_page(address=address, **options):
        opened.add(address)
        context = chromium.new_context(**{"viewport": {"width": 1100, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    assert {url for url in asked if not url.startswith("data:,")} == opened


def read_out(page, model=0):
    """Return the numbers that are shown at the cursor."""
    row = page.locator("#readout tbody tr").nth(model)
    return {
        name: float(row.locator(f"[data-of={name}]").get_attribute("data-value"))
        for name in ("cumulative", "accuracy", "local", "reached")
    }


def rate_of(page):
    return float(page.locator("#status").get_attribute("data-rate"))


def assert_read_out_is_the_librarys(page):
    given, rate = table(), rate_of(page)
    for model, name in enumerate(("s", "t")):
        samples = (given["y"].to_numpy(), given[name].to_numpy())
        found = read_out(page, model)
        for key, make in (
            ("cumulative", lx.cumulative_accuracy_curve),
            ("accuracy", lx.accuracy_rate_curve),
        ):
            assert found[key] == pytest.approx(lx.interpolate(make(*samples), rate), abs=1e-12)
        point = lx.accuracy_at(*samples, rate)
        assert found["reached"] == pytest.approx(point.rate, abs=1e-12)
        cells = page.locator("#readout tbody tr").nth(model).locator("td").all_text_contents()
        assert cells[0] == f"{found['cumulative']:.3f}"
        assert cells[3] == f"{point.confidence:.4g}"
        assert cells[4] == f"≥ {point.confidence:.4g} or ≤ \N{MINUS SIGN}{point.confidence:.4g}"


def test_the_chart_is_drawn(opened):
    page = opened()
    lines = page.locator("path.curve")
    assert lines.count() == 2
    plot = page.locator("#plot").bounding_box()
    for k in range(2):
        box = lines.nth(k).bounding_box()
        assert box["width"] == pytest.approx(plot["width"], abs=4)  # with its stroke
        assert 0.5 * plot["height"] < box["height"] < plot["height"]
    colours = {lines.nth(k).evaluate("line => getComputedStyle(line).stroke") for k in range(2)}
    dashes = {
        lines.nth(k).evaluate("line => getComputedStyle(line).strokeDasharray") for k in range(2)
    }
    assert len(colours) == len(dashes) == 2


def test_the_pointer_moves_the_cursor(opened):
    page = opened()
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    for share in (0.3, 0.8):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 30)
        assert rate_of(page) == pytest.approx(share, abs=1e-9)
        cursor = page.locator("#cursor").bounding_box()
        assert cursor["x"] == pytest.approx(box["x"] + share * box["width"], abs=2)
        assert_read_out_is_the_librarys(page)
    dot = page.locator("#cursor .dot").first.bounding_box()
    height = box["y"] + box["height"] * (1 - read_out(page)["cumulative"])
    assert dot["y"] + dot["height"] / 2 == pytest.approx(height, abs=2)


def test_a_finger_moves_the_cursor(opened):
    page = opened(has_touch=True)
    page.locator("#plot").scroll_into_view_if_needed()
    box = page.locator("#plot").bounding_box()
    page.touchscreen.tap(box["x"] + 0.25 * box["width"], box["y"] + 50)
    assert rate_of(page) == pytest.approx(0.25)


def test_keys_move_the_cursor(opened):
    page = opened()
    plot = page.locator("#plot")
    plot.focus()
    assert plot.evaluate("plot => getComputedStyle(plot).outlineStyle") == "solid"
    for key, rate in (
        ("ArrowRight", 0.505),
        ("ArrowLeft", 0.5),
        ("ArrowUp", 0.505),
        ("ArrowDown", 0.5),
        ("PageUp", 0.6),
        ("PageDown", 0.5),
        ("End", 1.0),
        ("ArrowRight", 1.0),
        ("Home", 0.0),
        ("ArrowLeft", 0.0),
    ):
        page.keyboard.press(key)
        assert rate_of(page) == pytest.approx(rate)
        assert float(plot.get_attribute("aria-valuenow")) == pytest.approx(100 * rate)
    assert "nothing is decided" in page.locator("#readout tbody tr").first.inner_text()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert_read_out_is_the_librarys(page)
    status = page.locator("#status")
    assert status.get_attribute("aria-live") == "polite"
    assert status.inner_text().startswith("At decision rate 20 %. s: cumulative accuracy 0.")
    assert plot.get_attribute("aria-valuetext") == status.inner_text()


def column(page, name):
    cells = page.locator(f"#subgroups tbody [data-name={name}]")
    return [cell.get_attribute("data-value") for cell in cells.all()]


def keys(page):
    return [row.locator("th").inner_text() for row in page.locator("#subgroups tbody tr").all()]


def test_subgroups_are_sorted_by_mouse_and_by_key(opened):
    page = opened()
    head = page.locator("#subgroups th", has_text="LxCIM")
    before = column(page, "lxcim")
    assert head.get_attribute("aria-sort") is None
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, "lxcim") == sorted(before, key=float)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, "lxcim") == sorted(before, key=float, reverse=True)
    other = page.locator("#subgroups th", has_text="Samples")
    other.locator("button").focus()
    page.keyboard.press("Space")
    assert other.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") is None
    # Each subgroup has two models and so the same number of rows: what was before stays before.
    assert column(page, "lxcim") == sorted(before, key=float, reverse=True)


def test_numbers_sort_as_numbers_and_missing_keys_come_last(opened):
    page = opened()
    button = page.locator("#subgroups thead button").first
    missing = ["\N{EN DASH}"] * 2
    button.click()
    assert keys(page) == ["9.0"] * 2 + ["10.0"] * 2 + ["100.0"] * 2 + missing
    button.click()
    assert keys(page) == ["100.0"] * 2 + ["10.0"] * 2 + ["9.0"] * 2 + missing


def height(page):
    return page.locator("footer").evaluate("node => node.getBoundingClientRect().bottom")


def test_many_subgroups_of_many_models_make_a_page_of_a_few_screens(opened, long_address):
    page = opened(long_address)
    assert page.locator("#subgroups tbody tr").count() == 6000
    assert height(page) < 12_000
    assert height(opened(long_address, java_script_enabled=False)) < 20_000
    # The head stays in sight while the rows below it move.
    box, head = page.locator("#subgroups .tall"), page.locator("#subgroups thead")
    page.locator("#subgroups").scroll_into_view_if_needed()
    box.evaluate("box => box.scrollTo(0, 5000)")
    assert box.evaluate("box => box.scrollTop") == 5000
    assert head.locator("th").first.bounding_box()["y"] == pytest.approx(
        box.bounding_box()["y"], abs=2
    )


SHOWN = """() => [...document.querySelectorAll("#subgroups tbody tr")]
  .filter(row => row.getClientRects().length)
  .map(row => [row.cells[1].textContent, row.querySelector("[data-name=lxcim]").dataset.value])
"""


def test_rows_are_found_by_their_names(opened, long_address):
    page = opened(long_address)
    said = page.locator("#subgroups output")
    search = page.locator("#subgroups").get_by_label("Show rows with")
    assert said.inner_text() == "6,000 of 6,000 rows"
    search.fill("GROUP 17 m3")
    assert said.inner_text() == "15 of 6,000 rows"  # 17, 117 to 417, 170 to 179
    found = page.evaluate(SHOWN)
    assert [model for model, _ in found] == ["m3"] * 15
    search.fill("0.")  # numbers are no names
    assert said.inner_text() == "0 of 6,000 rows"
    search.fill("group 42")
    page.get_by_role("button", name="Worst LxCIM first").click()
    values = [float(value) for _, value in page.evaluate(SHOWN)]
    assert len(values) == 180
    assert values == sorted(values)
    page.emulate_media(media="print")  # what is found is printed, without the search
    assert len(page.evaluate(SHOWN)) == 180
    assert not search.is_visible()
    page.emulate_media(media="screen")
    search.fill("")
    assert said.inner_text() == "6,000 of 6,000 rows"
    assert len(page.evaluate(SHOWN)) == 6000


def test_differences_sort_by_their_numbers(opened, long_address):
    page = opened(long_address)
    page.get_by_role("button", name="Difference").click()
    values = page.evaluate(
        "[...document.querySelectorAll('#models [data-name=difference]')]"
        ".map(cell => Number(cell.dataset.value))"
    )
    assert len(values) == 66
    assert values == sorted(values)
    assert min(values) < 0 < max(values)


HEIGHTS = "[...document.querySelectorAll('table.stops')].map(table => table.offsetHeight)"


def test_the_tables_of_many_models_are_folded_and_printed_as_a_whole(opened, long_address):
    page = opened(long_address)
    stops = page.locator("table.stops")
    assert [stops.nth(k).is_visible() for k in range(12)] == [True] + [False] * 11
    page.locator("summary").nth(5).click()
    assert stops.nth(5).is_visible()
    page.emulate_media(media="print")
    assert min(page.evaluate(HEIGHTS)) > 200
    assert len(page.evaluate(SHOWN)) == 6000


def test_without_scripts_nothing_is_folded(opened, long_address):
    page = opened(long_address, java_script_enabled=False)
    assert all(page.locator("table.stops").nth(k).is_visible() for k in range(12))
    assert not page.locator(".tools").first.is_visible()


def test_a_small_table_has_no_search(opened):
    page = opened()
    assert page.locator(".tools, .tall").count() == 0
    assert page.locator("table.stops:visible").count() == 2


def test_hostile_keys_do_nothing(opened):
    page = opened()
    assert page.title() == "A report: LxCIM report"
    assert page.locator("#subgroups tbody", has_text="</script>").count() == 1
    assert page.locator("b").count() == 0


def test_the_policy_lets_nothing_in_that_is_not_the_pages_own(chromium, address):
    page = chromium.new_page()
    blocked, failed = [], []
    page.on("console", lambda message: blocked.append(message.text))
    page.on("requestfailed", lambda request: failed.append(request.failure))
    page.goto(address)
    page.evaluate(
        """() => {
          const add = (tag, content) =>
            document.body.appendChild(Object.assign(document.createElement(tag), content));
          add("script", { textContent: "document.title = 'broken'" });
          add("script", { src: "https://example.org/a.js" });
          add("img", { src: "https://example.org/a.png" });
          add("style", { textContent: "body { display: none }" });
          add("iframe", { src: "https://example.org/" });
          add("button", { id: "evil" }).setAttribute("onclick", "document.title = 'broken'");
        }"""
    )
    page.locator("#evil").dispatch_event("click")
    page.evaluate("fetch('https://example.org/').catch(() => {})")
    assert page.title() == "A report: LxCIM report"
    assert page.locator("body").is_visible()
    assert set(failed) == {"csp"}  # no request left the browser
    assert len(blocked) >= 7
    assert all("Content Security Policy" in text for text in blocked)
    page.close()


@pytest.mark.parametrize("width", [390, 320, 1100])
def test_the_page_never_scrolls_sideways(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Wide tables scroll in a place of their own, which keys can reach.
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')]"
        ".filter(box => box.scrollWidth > box.clientWidth).map(box => box.tabIndex)"
    )
    assert set(wide) <= {0}
    if width < 400:
        assert wide


def luminance(colour):
    parts = np.asarray(colour) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


COLOURS = """selector => {
  const rgb = text => text.match(/[0-9.]+/g).map(Number);
  return [...document.querySelectorAll(selector)].map(node => {
    let back = node;
    while (rgb(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
    return [rgb(getComputedStyle(node).color), rgb(getComputedStyle(back).backgroundColor)];
  });
}"""
LINES = """() => {
  const rgb = text => text.match(/[0-9.]+/g).map(Number).slice(0, 3);
  const page = rgb(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('path.line')]
    .map(line => [rgb(getComputedStyle(line).stroke), page]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_apply_and_have_enough_contrast(opened, scheme):
    page = opened(color_scheme=scheme)
    text = "body, p, h1, h2, a, .small, dt, dd, caption, th, td, button, .notes strong, code"
    found = page.evaluate(COLOURS, text + ", .lead, .tick-x, .title-x")
    assert len(found) > 100
    for front, back in found:
        assert contrast(front[:3], back[:3]) >= 4.5
    assert (luminance(found[0][1][:3]) > 0.5) == (scheme == "light")
    for line, back in page.evaluate(LINES):
        assert contrast(line, back) >= 3


def test_all_lines_stand_out_in_both_schemes(chromium):
    for scheme in ("light", "dark"):
        page = chromium.new_page(color_scheme=scheme)
        given = table()
        models = [f"m{k}" for k in range(7)]
        given = given.assign(**{name: given["s"] + k for k, name in enumerate(models)})
        page.set_content(report.html(given, label="y", scores=models))
        for line, back in page.evaluate(LINES):
            assert contrast(line, back) >= 3
        page.close()


def test_without_scripts_the_chart_and_the_tables_are_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("path.curve").first.bounding_box()["height"] > 50
    assert page.locator("#subgroups tbody tr").count() == 8
    assert not page.locator("#cursor").is_visible()
    assert not page.locator("#readout").is_visible()


def test_it_prints(opened):
    page = opened(color_scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in ("#cursor", "#readout", "nav"):
        assert not page.locator(hidden).is_visible()
    assert page.locator("path.curve").first.is_visible()
    cut = "[...document.querySelectorAll('.scroll')].map(box => getComputedStyle(box).overflowX)"
    assert set(page.evaluate(cut)) == {"visible"}
    # The head of a long table is on each of its pages, which buttons in it prevent.
    shown = "getComputedStyle(document.querySelector('th button')).display"
    assert page.evaluate(shown) == "contents"
