// Puts the frame of a slider's step into the pictures that Plotly drew; see live.py.
// The window has one such object, however often this script is loaded. ``told`` holds the data of
// the page's elements by name: "answer" and "below" have a run number, the name of a slider has a
// version and, once asked for, frames. ``hand`` is name and step of the slider being dragged.
const first = !window.sampledashLive;
const told = window.sampledashTold ??= new Map();
const live = window.sampledashLive ??= { hand: null, look() {} };
const BELOW = ".st-key-below", PARTS = "[role=tabpanel], details[open]";
const REST = 120;  // milliseconds without an action of the reader before anything is requested
const write = (node, pieces) => window.sampledashWrite(node, pieces);  // from picture.js
const styled = new Map();  // elements whose style dragging has changed -> their style before
const draw = ({ name, text }) => {
  const frame = told.get(name)?.frames?.[text];
  if (!frame) return;
  for (const [key, moving] of Object.entries(frame.pictures)) {
    const at = key.replace(/[^\w-]/g, "-");  // the key as Streamlit writes it in a class name
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
// Optional requests wait until nothing is pressed and no run is active. A request may still share a
// message with a change; each is sent from an element where the message counts as the change's.
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
  // A picture that Plotly redraws during dragging shows an old step: put the current frame in.
  live.resume = () => { if (live.hand) draw(live.hand); };
  let due = null;
  live.move = (name, text) => {
    live.hand = { name, text };
    due ??= requestAnimationFrame(() => { due = null; live.resume(); });
  };
  // On release the last step is drawn first. If dragging goes on meanwhile, nothing is reset.
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
// Details below the answer are outdated until drawn for the same answer: dim them, watch for looks.
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
  live.near();  // the pointer may already be near a slider
};
export default function ({ setTriggerValue }) {
  live.look = () => setTriggerValue("looked", told.get("answer").number);
  live.hear();
}
