// One entry of the browser's history for each thing that the reader does, so that Back undoes it.
// Streamlit replaces the address when a widget changes, and adds an entry when Python writes into
// the address. Here the first change of the query after the reader's last action adds an entry, and
// all further changes replace this entry. On Back and Forward Streamlit itself only replaces.
if (!window.sampledashAddress) {
  window.sampledashAddress = true;
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let acted = false, page = location.pathname, query = null;
  for (const kind of ["pointerdown", "keydown", "drop"])
    window.addEventListener(kind, () => { acted = true; }, true);
  // Back to another page: Streamlit opens the page without its query. The query is therefore put
  // back once the page is there, as if the reader went Back within the page.
  window.addEventListener("popstate", () => {
    acted = false;
    query = location.pathname === page ? null : location.search;
    page = location.pathname;
  }, true);
  const restore = () => {
    const state = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
    if (state !== "notRunning") return setTimeout(restore, 50);
    const search = query;
    query = null;
    if (!search || location.pathname !== page || location.search === search) return;
    replace({}, "", page + search);
    window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  };
  const write = (state, title, url) => {
    const to = new URL(url, location.href);
    if (to.pathname !== location.pathname) {
      acted = false;
      page = to.pathname;
      return push(state, title, url);
    }
    // Before Streamlit changes the page, it empties the query of the page that is left. A page never
    // does so itself, because its version stays.
    if (to.search === location.search || !to.search) return;
    (acted ? push : replace)(state, title, url);
    acted = false;
  };
  history.pushState = write;
  history.replaceState = (state, title, url) => {
    const widget = /^https?:/.test(url ?? "");  // Streamlit gives the whole address for a widget
    if (widget) return write(state, title, url);
    replace(state, title, url);
    if (query) setTimeout(restore, 50);
  };
}
