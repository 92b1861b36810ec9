// Puts the frame of a slider's step into the pictures as Plotly drew them; see live.py.
// One for the window, however often this is loaded. ``told``: what the elements of the page tell,
// by whom it is of: "answer" and "below" their number, a number its version and, once asked for,
// its frames; ``hand``: number and step of the slider under the hand.
const first = !window.sampledashLive;
const told = window.sampledashTold ??= new Map();
const live = window.sampledashLive ??= { hand: null, look() {} };
const BELOW = ".st-key-below", PARTS = "[role=tabpanel], details[open]";
const REST = 120;  // milliseconds without a hand, before anything is asked for
const write = (node, pieces) => window.sampledashWrite(node, pieces);  // of picture.js
const styled = new Map();  // elements whose style the hand has changed -> what it was
const draw = ({ name, text }) => {
  const frame = told.get(name)?.frames?.[text];
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
// What is only convenient is asked for while no hand is down and nothing runs. It may come with a
// change in one message all the same: where each is asked from, that message is the change's.
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
  // A picture that is drawn anew under the hand is of before.
  live.resume = () => { if (live.hand) draw(live.hand); };
  let due = null;
  live.move = (name, text) => {
    live.hand = { name, text };
    due ??= requestAnimationFrame(() => { due = null; live.resume(); });
  };
  // What the hand did last is drawn before it counts as lifted; a next touch goes on.
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
// What stands below the answer is late until it is drawn of the same; looked at, it is asked for.
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
  live.near();  // a hand that is there already
};
export default function ({ setTriggerValue }) {
  live.look = () => setTriggerValue("looked", told.get("answer").number);
  live.hear();
}
