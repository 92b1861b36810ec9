// Adds arrow keys and accessibility roles to Plotly's sliders, and keys that change the lesson. The
// dashboard (page.moving in page.py) and the file of all lessons contain this script.
(() => {
  if (window.sampledashSliders) return;
  const RAIL = ".slider-rail-touch-rect";
  const figure = (group) => group.closest(".js-plotly-plot");
  const slider = (group) => group.__data__;  // D3, used by Plotly, stores the slider here
  const steps = (group) => slider(group).steps.filter((step) => step.visible !== false);
  const tell = (group) => {
    const all = steps(group), now = slider(group).active;
    group.setAttribute("aria-valuemin", 0);
    group.setAttribute("aria-valuemax", all.length - 1);
    group.setAttribute("aria-valuenow", now);
    group.setAttribute("aria-valuetext", all[now].label);
  };
  const move = (group, to) => {
    const rail = group.querySelector(RAIL).getBoundingClientRect();
    const last = steps(group).length - 1;
    const at = Math.min(Math.max(to, 0), last);
    const where = {
      bubbles: true, cancelable: true, view: window,
      clientX: rail.left + 10 + (rail.width - 20) * at / last, clientY: rail.top + rail.height / 2,
    };
    group.querySelector(RAIL).dispatchEvent(new MouseEvent("mousedown", where));
    figure(group).dispatchEvent(new MouseEvent("mouseup", where));
    tell(group);
  };
  const pressed = (event) => {
    const group = event.currentTarget, now = slider(group).active, last = steps(group).length - 1;
    const to = {
      ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1,
      PageUp: now + 3, PageDown: now - 3, Home: 0, End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(group, to);
  };
  const scan = () => {
    for (const group of document.querySelectorAll("g.slider-group:not([role])")) {
      if (!figure(group)?._fullLayout?.sliders?.length) continue;
      group.setAttribute("role", "slider");
      group.setAttribute("tabindex", "0");
      const prefix = slider(group).currentvalue.prefix.replace(/[=:]\s*$/, "").trim();
      group.setAttribute("aria-label", prefix);
      group.addEventListener("keydown", pressed);
      figure(group).on?.("plotly_sliderchange", () => tell(group));
      tell(group);
    }
  };
  window.sampledashSliders = new MutationObserver(scan);
  window.sampledashSliders.observe(document.body, { childList: true, subtree: true });
  scan();
  // In a group of choices, the left and right arrow keys change the lesson if the reader last used
  // the pointer. If the reader last used Tab, the arrow keys move within the group. PageUp and
  // PageDown, the keys of a presenter's remote control, change the lesson, but not in a text field.
  // If the reader last used Tab, these two keys do not change the lesson on a slider either.
  const turns = {
    ArrowLeft: "lesson_back", ArrowRight: "lesson_next",
    PageUp: "lesson_back", PageDown: "lesson_next",
  };
  const FIELDS = 'input:not([type="radio"], [type="checkbox"]), textarea, [contenteditable="true"]';
  const free = (event) => {
    const on = (places) => event.target.closest?.(places);
    if (!event.key.startsWith("Page")) return byPointer && on('[role="radiogroup"]');
    return !on(FIELDS) && (byPointer || !on('[role="slider"]'));
  };
  // Whether the reader last used the pointer, not Tab. At first true, because the reader may have
  // clicked before this script was loaded.
  let byPointer = true;
  window.addEventListener("pointerdown", () => { byPointer = true; }, true);
  window.addEventListener("keydown", (event) => {
    if (event.key === "Tab") byPointer = false;
    const turn = document.querySelector(`.st-key-${turns[event.key]} button:enabled`);
    if (!turn || !free(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    turn.click();
  }, true);
})();
