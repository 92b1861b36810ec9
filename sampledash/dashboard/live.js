// While the reader drags a slider, puts the frame of its step into the pictures; see live.py.
// ``live`` and ``told`` exist once per window, even if this script is loaded again. ``told`` holds
// the data that Python sent, by name: "answer" and "below" have a run number; the name of a slider
// has a version and, once the browser has asked for them, frames. ``live.hand`` holds the name of
// the slider that the reader is dragging, and the text of its step.
const first = !window.sampledashLive;
const told = window.sampledashTold ??= new Map();
const live = window.sampledashLive ??= { hand: null, look() {} };
const BELOW = ".st-key-below", PARTS = "[role=tabpanel], details[open]";
const REST = 120;  // milliseconds to wait before the browser requests anything
const write = (node, pieces) => window.sampledashWrite(node, pieces);  // in picture.js
const styled = new Map();  // element whose style a frame has changed -> its style before
const draw = ({ name, text }) => {
  const frame = told.get(name)?.frames?.[text];
  if (!frame) return;
  for (const [key, moving] of Object.entries(frame.pictures)) {
    const at = key.replace(/[^\w-]/g, "-");  // Streamlit writes the key like this in a class name
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
// ``wish`` delays a request until no key or button is pressed and Python is not running. A request
// may still share a message with a change of a setting. Each request is therefore sent from an
// element that lets Streamlit treat such a message as the message of the change; see live.py.
let pressed = false;
const running = () =>
  document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning";
const wish = (wanted, send) => {
  let due = null;
  const later = () => {
    clearTimeout(due);
    due = setTimeout(() => {
      if (!wanted()) return;
      if (pressed || live.hand || running()) later();
      else send();
    }, REST);
  };
  return later;
};
const late = () => told.get("below")?.number < told.get("answer")?.number;
const lacking = () => [...told.values()].find(({ of, frames }) =>
  frames === null && document.querySelector(`.st-key-${of}_slider :is(:hover, :focus)`));
const seen = new Set();  // parts below the answer that are in sight
if (first) {
  // When Plotly redraws a picture while the reader drags, the picture shows an old step. ``resume``
  // then puts the current frame into the picture.
  live.resume = () => { if (live.hand) draw(live.hand); };
  let due = null;
  live.move = (name, text) => {
    live.hand = { name, text };
    due ??= requestAnimationFrame(() => { due = null; live.resume(); });
  };
  // When the reader releases the slider, draws the last step and then restores all styles. Does
  // nothing if the reader has begun to drag again in the meantime.
  live.lift = () => {
    const last = live.hand;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (live.hand !== last) return;
      live.resume();
      live.hand = null;
      for (const [node, was] of styled) node.style.cssText = was;
      styled.clear();
    }));
  };
  live.near = wish(lacking, () => {
    const { of, version, ask } = lacking();
    ask({ of, version });
  });
  const look = () => seen.size || document.querySelector(`${BELOW}:is(:hover, :focus-within)`);
  live.looked = wish(() => late() && look(), () => live.look());
  live.sight = new IntersectionObserver((parts) => {
    for (const { target, isIntersecting } of parts)
      if (isIntersecting) seen.add(target); else seen.delete(target);
    live.looked();
  });
  for (const kind of ["pointerdown", "keydown", "pointerup", "pointercancel", "keyup"])
    window.addEventListener(kind, () => { pressed = kind.endsWith("down"); }, true);
  for (const kind of ["pointerover", "focusin"])
    window.addEventListener(kind, (event) => {
      if (late() && event.target.closest?.(BELOW)) live.looked();
    }, true);
}
// Dims the details below the answer while they belong to an earlier answer, and watches meanwhile
// whether the reader looks at them.
const compare = () => {
  const below = document.querySelector(BELOW);
  live.sight.disconnect();
  seen.clear();
  below?.setAttribute("aria-busy", late());
  for (const part of below?.querySelectorAll(PARTS) ?? []) {
    part.style.opacity = late() ? 0.4 : 1;
    if (late()) live.sight.observe(part);
  }
};
live.hear ??= () => {
  compare();
  live.near();  // the pointer may already be on a slider
};
export default function ({ setTriggerValue }) {
  live.look = () => setTriggerValue("looked", told.get("answer").number);
  live.hear();
}
