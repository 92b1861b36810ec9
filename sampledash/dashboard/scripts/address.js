// Gives the browser's history one entry for each action of the reader, so that Back undoes the action.
// Streamlit replaces the address when a widget changes, and adds an entry when Python writes into
// the address. With this script, the first change of the address after an action of the reader adds
// an entry, and all further changes replace this entry. On Back and Forward, Streamlit itself only
// replaces the address.
if (!window.sampledashAddress) {
  window.sampledashAddress = true;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let acted = false, added = false;
  window.sampledashAct = () => { [acted, added] = [true, false]; };
  for (const kind of ["pointerdown", "keydown", "drop"])
    window.addEventListener(kind, window.sampledashAct, true);
  window.addEventListener("popstate", () => { acted = added = false; }, true);
  const write = (state, title, url) => {
    const to = new URL(url, location.href), leaves = to.pathname !== location.pathname;
    if (!leaves && to.search === location.search) return;
    // Before Streamlit opens another page, it changes the settings in the address of the old page.
    // This change adds an entry to the history; the new page then replaces the entry.
    const adds = acted || (leaves && !added);
    (adds ? push : replace)(state, title, url);
    [acted, added] = [false, !leaves && (adds || added)];
  };
  history.pushState = write;
  history.replaceState = (state, title, url) => {
    const widget = /^https?:/.test(url ?? "");  // for a widget, Streamlit gives a full URL
    return widget ? write(state, title, url) : replace(state, title, url);
  };
}
