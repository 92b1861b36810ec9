// Gives the browser's history one entry for each action of the reader, so that Back undoes the action.
// Streamlit replaces the address when a widget changes, and adds an entry when Python writes into
// the address. Here the first change of the query after the reader's last action adds an entry, and
// all further changes replace this entry. On Back and Forward, Streamlit itself only replaces the
// address.
if (!window.sampledashAddress) {
  window.sampledashAddress = true;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let acted = false;
  for (const kind of ["pointerdown", "keydown", "drop"])
    window.addEventListener(kind, () => { acted = true; }, true);
  window.addEventListener("popstate", () => { acted = false; }, true);
  const write = (state, title, url) => {
    const to = new URL(url, location.href);
    if (to.pathname !== location.pathname) return push(state, title, url);
    if (to.search === location.search) return;
    (acted ? push : replace)(state, title, url);
    acted = false;
  };
  history.pushState = write;
  history.replaceState = (state, title, url) => {
    const widget = /^https?:/.test(url ?? "");  // Streamlit gives the whole address for a widget
    return widget ? write(state, title, url) : replace(state, title, url);
  };
}
