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
const write = (node, pieces) => window.sampledashWrite(node, pieces);  // of picture.js
const styled = new Map();  // elements whose style the hand has changed -> what it was
const draw = (slider) => {
  const frame = live.followed.get(live.hand)?.frames?.[slider.getAttribute("aria-valuetext")];
  if (!frame) return;
  for (const [key, moving] of Object.entries(frame.pictures)) {
    const at = key.replace(/[^\w-]/g, "-");  // as Streamlit writes it
    const graph = document.querySelector(`.st-key-${at} .js-plotly-plot`);
    graph?.sampledash.move(moving);
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
