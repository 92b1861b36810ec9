// Lets the Tab key reach the sliders in few steps. The menu is one step, with arrow keys inside.
// The key "?" opens the help of the control that has the focus.
const LINKS = "[data-testid=stTopNavLink]";
const PASSED = [
  "[data-testid=stMain]",  // skipped by Tab: keys scroll the page from any control in it
  "[aria-label='Navigate to home page']",  // skipped by Tab: the menu leads there too
  "[aria-label='Link to heading']",
  "[class*=st-key-above] [aria-label^='Help for']",
  "[class*=st-key-fields_] input",  // skipped by Tab: digits typed on a slider go to its field
].join();
const links = () => [...document.querySelectorAll(LINKS)];
export const stops = () => {
  const all = links();
  const now = all.find((link) => link.pathname === location.pathname) ?? all[0];
  for (const link of all) link.tabIndex = link === now ? 0 : -1;
  const menu = document.querySelector("[data-testid=stSidebar]");  // the menu on a phone
  if (menu) menu.inert = menu.dataset.collapsed === "true";
  for (const passed of document.querySelectorAll(PASSED)) passed.tabIndex = -1;
};
const pressed = (event) => {
  const { target, key } = event, step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step && target.matches?.(LINKS)) {
    const all = links();
    all.at((all.indexOf(target) + step) % all.length).focus();
    event.stopImmediatePropagation();
  }
  const typing = target.matches?.("input:not([type=radio], [type=checkbox]), textarea");
  if (key === "?" && !typing)
    target.closest?.("[data-testid=stElementContainer]")
      ?.querySelector("[aria-label^='Help for']")?.focus();
};
if (!window.sampledashKeys) {
  window.sampledashKeys = true;
  window.addEventListener("keydown", pressed, true);
}
