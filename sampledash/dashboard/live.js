// Puts the frame of a slider's step into the pictures as Plotly drew them; see live.py.
// One for the window, however often this is loaded. ``followed``: name of a number -> its version
// and, once asked for, its frames; ``hand``: the number whose slider is under the hand;
// ``answered`` and ``drawn``: numbers of the answer and of the one that stands below.
const first = !window.sampledashLive;
const live = window.sampledashLive ??= {
  followed: new Map(), ask() {}, hand: null, answered: 0, drawn: 0, look() {},
  resume() {  // a picture drawn anew under the hand is of before
    const slider = live.hand !== null && document.querySelector(`${sliders(live.hand)} [aria-valuetext]`);
    if (slider) draw(slider);
  },
};
const sliders = (name) => `.st-key-${name}_ladder`;
const numberOf = (target) => {
  for (const name of live.followed.keys())
    if (target.closest?.(sliders(name))) return name;
  return null;
};
const leaves = (node) => {
  const found = [], walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (walk.currentNode.data) found.push(walk.currentNode);
  return found;
};
// The text nodes stay, so that the page finds them as it left them.
const write = (node, pieces) => {
  const all = leaves(node);
  const fits = all.length === pieces.length;
  if (fits) all.forEach((leaf, i) => { if (leaf.data !== pieces[i]) leaf.data = pieces[i]; });
  return fits;
};
const line = (X, Y, x, y) =>
  "M" + x.map((v, i) => `${X(v).toFixed(2)},${Y(y[i]).toFixed(2)}`).join("L");
const LEFT = { left: 0, center: 0.5, right: 1 }, DOWN = { top: 0, middle: 0.5, bottom: 1 };
const share = (of, anchor) => of[anchor] ?? 0.5;
const picture = (graph, frame) => {
  // An axis by its short name: of a panel "x2", of the whole height of a panel "y2 domain".
  const axis = (name) => graph._fullLayout[`${name[0]}axis${name.slice(1).split(" ")[0]}`];
  // Pixels from one place on an axis to another; what refers to none stays.
  const way = (ref, to, from, at) => axis(ref) ? axis(ref)[to](at) - axis(ref)[to](from) : 0;
  const groups = graph.querySelectorAll(".scatterlayer .trace");
  frame.traces.forEach((moving, i) => {
    if (!moving) return;
    const [x, y] = moving;
    const group = groups[i], { xaxis, yaxis, fill: area } = graph._fullData[i];
    const X = (v) => axis(xaxis).d2p(v), Y = (v) => axis(yaxis).d2p(v);
    const drawn = group?.querySelector(".js-line");
    if (drawn) drawn.setAttribute("d", line(X, Y, x, y));
    group?.querySelectorAll(".points .point").forEach((point, j) => {
      point.style.visibility = j < x.length ? "" : "hidden";
      if (j < x.length) point.setAttribute("transform", `translate(${X(x[j])},${Y(y[j])})`);
    });
    const fill = area === "toself" && group.querySelector(".js-fill");
    if (fill) fill.setAttribute("d", `${line(X, Y, x, y)}Z`);
  });
  const from = graph.layout;
  graph.querySelectorAll(".shapelayer path").forEach((path) => {
    const i = path.dataset.index;
    if (!frame.shapes[i]) return;
    const [x, fill, edge] = frame.shapes[i], { xref = "x", x0 } = from.shapes[i];
    path.closest(".shape-group").setAttribute("transform", `translate(${way(xref, "d2p", x0, x)},0)`);
    if (fill) Object.assign(path.style, { fill, fillOpacity: 1 });
    if (edge) path.style.stroke = edge;
  });
  graph.querySelectorAll(".annotation").forEach((group, i) => {
    const was = from.annotations[i], now = frame.names[i];
    const fits = now && write(group.querySelector("text"), now.text.split(/<[^>]*>/).filter(Boolean));
    group.style.visibility = fits ? "" : "hidden";
    if (!fits) return;
    const box = group.querySelector("text").getBBox();
    const { xref = "x", yref = "y" } = was;
    // A logarithmic axis has its names at logarithms.
    const dx = way(xref, "r2p", was.x, now.x) + now.xshift - (was.xshift ?? 0)
      - (share(LEFT, now.xanchor) - share(LEFT, was.xanchor)) * box.width;
    const dy = way(yref, "r2p", was.y, now.y) - now.yshift + (was.yshift ?? 0)
      - (share(DOWN, now.yanchor) - share(DOWN, was.yanchor)) * box.height;
    group.setAttribute("transform", `translate(${dx},${dy})`);
  });
};
const styled = new Map();  // elements whose style the hand has changed -> what it was
const draw = (slider) => {
  const frame = live.followed.get(live.hand)?.frames?.[slider.getAttribute("aria-valuetext")];
  if (!frame) return;
  for (const [key, moving] of Object.entries(frame.pictures)) {
    const at = key.replace(/[^\w-]/g, "-");  // as Streamlit writes it
    const graph = document.querySelector(`.st-key-${at} .js-plotly-plot`);
    if (graph?._fullLayout) picture(graph, moving);
  }
  for (const [where, texts] of Object.entries(frame.texts))
    document.querySelectorAll(where).forEach((node, i) => write(node, [texts[i]].flat()));
  for (const [where, style] of Object.entries(frame.styles))
    document.querySelectorAll(where).forEach((node) => {
      if (!styled.has(node)) styled.set(node, node.style.cssText);
      Object.assign(node.style, style);
    });
};
// What the hand did last is drawn before it counts as lifted; touches: a next one goes on.
let touches = 0;
const lift = (touch) => {
  if (touch !== touches) return;
  live.resume();
  live.hand = null;
  for (const [node, was] of styled) node.style.cssText = was;
  styled.clear();
};
// Frames are asked for while the hand is near and does nothing yet: a run of a fragment that came
// together with a change would have both in one message.
const near = (event) => {
  if (event.buttons || live.hand !== null) return;
  const name = numberOf(event.target), wanted = live.followed.get(name);
  if (wanted && !wanted.frames) live.ask({ name, version: wanted.version });
};
if (first) {
  for (const kind of ["pointermove", "focusin"]) window.addEventListener(kind, near, true);
  for (const kind of ["pointerdown", "keydown"])
    window.addEventListener(kind, (event) => {
      live.hand = numberOf(event.target);
      touches += 1;
    }, true);
  for (const kind of ["pointerup", "pointercancel", "keyup"])
    window.addEventListener(kind, () => {
      const touch = touches;
      requestAnimationFrame(() => requestAnimationFrame(() => lift(touch)));
    }, true);
  let moved = null;
  new MutationObserver((changes) => {
    const last = changes.findLast((one) => live.hand !== null && numberOf(one.target) === live.hand);
    if (!last) return;
    if (moved === null) requestAnimationFrame(() => { draw(moved); moved = null; });
    moved = last.target;
  }).observe(document.body, { subtree: true, attributeFilter: ["aria-valuetext"] });
}
// What stands below the answer is late until it is drawn of the same; looked at, it is asked for.
const sight = live.sight ??= new IntersectionObserver((seen) => {
  if (seen.some((one) => one.isIntersecting)) live.look();
});
const BELOW = ".st-key-below", PARTS = "[role=tabpanel], details[open]";
const compare = () => {
  const below = document.querySelector(BELOW), late = live.drawn < live.answered;
  sight.disconnect();
  if (!below) return;
  below.setAttribute("aria-busy", late);
  for (const part of below.querySelectorAll(PARTS)) {
    part.style.opacity = late ? 0.4 : 1;
    if (late) sight.observe(part);
  }
};
if (first)
  for (const kind of ["pointerover", "focusin"])
    window.addEventListener(kind, (event) => {
      if (live.drawn < live.answered && event.target.closest?.(BELOW)) live.look();
    }, true);
export default function ({ data, setStateValue, setTriggerValue }) {
  if ("drawn" in data) {
    live.drawn = data.drawn;
    let asked = 0;
    live.look = () => {
      if (asked === live.answered) return;
      asked = live.answered;
      setTriggerValue("looked", asked);
    };
    compare();
    return;
  }
  live.answered = data.answered;
  compare();
  live.followed.clear();
  for (const { name, version, frames } of data.follows)
    live.followed.set(name, { version, frames });
  let asked = null;
  live.ask = (wanted) => {
    if (asked === wanted.version) return;
    asked = wanted.version;
    setStateValue("asked", wanted);
  };
  return () => live.followed.clear();
}
