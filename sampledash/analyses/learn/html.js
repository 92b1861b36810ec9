// Shows the lesson whose number is in the address, the replies to its answers, and its picture.
const config = { displayModeBar: false, responsive: true };
const night = matchMedia("(prefers-color-scheme: dark)");
const { body } = document;
const lessons = [...document.querySelectorAll(".lesson")];
const links = [...document.querySelectorAll("nav a")];
const present = document.querySelector("#present");
const ways = { ArrowLeft: "lesson_back", ArrowRight: "lesson_next" };
const button = (way) => document.querySelector(`.st-key-${way} button`);
const at = () => Math.max(0, links.findIndex(({ hash }) => hash === location.hash));
// Returns the index of the chosen metric or picture (of LOOKS in lesson.py), 0 if none is chosen.
const look = (lesson) => Math.max(0, [...lesson.querySelectorAll(".looks button")]
  .findIndex((choice) => choice.getAttribute("aria-pressed") === "true"));
const press = (group, place) =>
  [...group.children].forEach((choice, i) => choice.setAttribute("aria-pressed", i === place));
const only = (parts, place) => parts.forEach((part, i) => { part.hidden = i !== place; });
// Returns a copy of ``old`` with ``change`` applied. A change, made by ``changes`` in html.py, maps
// keys (of an object) or indices (of an array) to new values.
const changed = (old, change) => {
  if (!change || !old || typeof change !== "object" || Array.isArray(change)) return change;
  const copy = Array.isArray(old) ? [...old] : { ...old };
  for (const key of Object.keys(change)) copy[key] = changed(old[key], change[key]);
  return copy;
};
const draw = () => {
  const lesson = lessons[at()], graph = lesson.querySelector(".graph");
  const answered = lesson.classList.contains("answered");
  const large = body.matches(".projected") && innerWidth > 640;  // a phone is too narrow
  const source = lesson.querySelectorAll("script")[answered ? 1 + look(lesson) : 0];
  const variants = JSON.parse(source.textContent);
  let figure = variants.light;
  if (night.matches) figure = changed(figure, variants.dark);
  if (large) figure = changed(figure, variants.large);
  const { data, layout, frames = [] } = figure, [slider] = layout.sliders ?? [];
  // If a picture is drawn again, larger or in other colours, its slider stays where it was.
  const frame = graph.source === source && frames[graph.layout.sliders?.[0].active];
  if (frame) {
    // Copied, because Plotly writes the titles of later steps into the title object of the layout.
    // Without the copy, layout and frame would share this object.
    const { traces, data: moved, layout: head } = structuredClone(frame);
    traces.forEach((trace, i) => { data[trace] = { ...data[trace], ...moved[i] }; });
    Object.assign(layout, head);
    slider.active = frames.indexOf(frame);
  }
  graph.source = source;
  if (large) {  // the picture fills the window; the title stays near the top
    graph.style.height = 0;
    const least = layout.height, rest = body.offsetHeight;
    layout.height = Math.max(0.7 * least, innerHeight - rest);
    for (const { title } of [layout, ...frames.map((step) => step.layout)]) {
      title.y = 1 - (1 - title.y) * least / layout.height;
    }
  }
  graph.style.height = `${layout.height}px`;
  // Screen readers skip the content of an "img", but a slider has to be announced.
  graph.setAttribute("role", slider ? "group" : "img");
  graph.setAttribute("aria-label", source.dataset.words);
  Plotly.newPlot(graph, { data, layout, frames, config });
};
const show = () => {
  const now = at();
  only(lessons, now);
  links.forEach((link, i) => i === now
    ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current"));
  button("lesson_back").disabled = now === 0;
  button("lesson_next").disabled = now === links.length - 1;
  document.title = lessons[now].querySelector("h2 .asks").textContent;
  draw();
};
// Calls ``does`` with the index of a button in the group whenever the button is pressed.
const choosing = (group, does) => [...group?.children ?? []].forEach((choice, i) => {
  choice.addEventListener("click", () => { press(group, i); does(i); });
});
for (const lesson of lessons) {
  const looks = lesson.querySelector(".looks"), explained = lesson.querySelectorAll(".why");
  if (looks) press(looks, 0);
  choosing(lesson.querySelector(".choices"), (i) => {
    lesson.classList.add("answered");
    only(lesson.querySelectorAll(".reply"), i);
    only(explained, look(lesson));
    draw();
  });
  choosing(looks, (i) => { only(explained, i); draw(); });
  for (const offer of lesson.querySelectorAll(".offer")) {
    const answers = offer.querySelectorAll("[role=status] > div");
    choosing(offer.querySelector(".sizes"), (i) => only(answers, i));
  }
}
button("lesson_back").addEventListener("click", () => { location.hash = at(); });
button("lesson_next").addEventListener("click", () => { location.hash = at() + 2; });
present.addEventListener("click", () => {
  present.setAttribute("aria-pressed", body.classList.toggle("projected"));
  present.blur();  // otherwise the space bar would end the presentation
  draw();
});
addEventListener("hashchange", show);
addEventListener("resize", () => { if (body.matches(".projected")) draw(); });
night.addEventListener("change", draw);
// Arrow keys on a slider do not reach this listener: ``pressed`` below handles them.
addEventListener("keydown", (event) => {
  const { altKey, ctrlKey, metaKey, shiftKey, key } = event;
  const presents = body.matches(".projected");
  if (!altKey && !ctrlKey && !metaKey && (/^p$/i.test(key) || (key === "Escape" && presents))) present.click();
  if (ways[key] && !altKey && !ctrlKey && !metaKey && !shiftKey) button(ways[key]).click();
});
show();
// Adds arrow keys and accessibility roles to Plotly's sliders.
(() => {
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
  new MutationObserver(scan).observe(document.body, { childList: true, subtree: true });
  scan();
})();
