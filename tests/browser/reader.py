"""Actions of a reader in a browser: go to a page, wait until it has settled, upload a file."""

from playwright.sync_api import expect

# Wait until nothing has changed for 0.3 seconds and all fonts are loaded.
STILL = """() => new Promise((done) => {
  const seen = new MutationObserver(() => again()), about = { subtree: true, childList: true };
  const rest = () => { seen.disconnect(); document.fonts.ready.then(() => done()); };
  let due = null;
  const again = () => { clearTimeout(due); due = setTimeout(rest, 300); };
  seen.observe(document.body, { ...about, attributes: true, characterData: true });
  again();
})"""

# Holds back all messages to the server, until ``letGo`` is called.
HOLD = """() => {
  const { send } = WebSocket.prototype, held = window.held = [];
  WebSocket.prototype.send = function (data) { held.push(() => send.call(this, data)); };
  window.letGo = () => { WebSocket.prototype.send = send; held.forEach((each) => each()); };
}"""


def visit(page, path):
    page.goto(f"{page.start}/{path}")
    headline(page).first.wait_for()
    rest(page)


def rest(page):
    """Wait until the run of the page has ended and its layout is stable, so that clicks hit."""
    finished(page)
    page.evaluate(STILL)
    finished(page)


def finished(page):
    app = page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning")


def phone(page):
    page.set_viewport_size({"width": 390, "height": 900})
    rest(page)


def headline(page):
    return page.get_by_role("heading", level=3)


def says(page, text):
    # While a page runs, its old elements may still be there beside the new elements.
    expect(headline(page).filter(has_text=text).first).to_be_visible()
    finished(page)


def go(page, name):
    if page.viewport_size["width"] > 600:
        page.get_by_test_id("stTopNavLink").filter(has_text=name).click()
        return
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()


def upload(page, path, text):
    path.write_text(text)
    page.locator("input[type=file]").set_input_files(path)


def strip(page, label):
    return page.get_by_test_id("stMetric").filter(has_text=label)
