import { leaves } from "./leaving.js";
// Puts the frame (page content) of a slider's step into the pictures that Plotly drew; see live.py.
// The objects ``told``, ``frames`` and ``live`` belong to ``window``, so that they exist only once,
// however often this script is loaded.
// ``told`` maps names to data from Python. The upper part of the page has the name "answer", the
// lower part the name "below". Results are numbered 1, 2, ...; the data of a part say which result
// the part shows. Every other name is that of a slider; its data hold the version of its frames.
// ``frames`` maps a version to the frames that have arrived.
// ``live.hand`` is the slider that the reader drags: its name, and the value that it now has.
// ``live.look`` lets Python draw the whole page, and ``live.asks`` is called after each request.
const first = !window.sampledashLive;
const told = window.sampledashTold ??= new Map(), frames = window.sampledashFrames ??= new Map();
const live = window.sampledashLive ??= { hand: null, look() {} };
const BELOW = ".st-key-below", PARTS = "[role=tabpanel], details[open]";
const REST = 120;  // milliseconds without an action of the reader before anything is requested
const AGAIN = 3000;  // milliseconds after which an unanswered request is repeated
const write = (node, pieces) => window.sampledashWrite(node, pieces);  // from picture.js
const texts = new Map();  // elements whose texts dragging has changed -> their texts before
const moved = new Map();  // pictures that dragging has changed -> the data of their figure
const styled = new Map();  // elements whose style dragging has changed -> their style before
// Forgets the old text of an element once the page itself has written a new text.
const watch = new MutationObserver((changes) => notice(changes));
const notice = (changes) => {
  for (const { target } of changes)
    for (const node of texts.keys()) if (node.contains(target)) texts.delete(node);
};
// Undoes what dragging has changed. This is also needed after a new answer, because the page writes
// only texts and figures that differ from those of the answer before.
const restore = () => {
  notice(watch.takeRecords());
  watch.disconnect();
  for (const [node, pieces] of texts) write(node, pieces);
  for (const [picture, data] of moved) if (picture.data === data) picture.back();
  for (const all of [texts, moved]) all.clear();
};
// ``frames`` has a frame for some values of the slider, and ``number`` is the value to which it is
// dragged. Returns the frame for the nearest value on a logarithmic scale. A frame for 0, which has
// no position on this scale, is returned only if ``number`` is 0.
const nearest = (frames, number) => {
  let best = null, least = Infinity;
  for (const key of Object.keys(frames)) {
    const away = Number(key) === number ? 0 : Math.abs(Math.log(key / number));
    if (away < least) [best, least] = [key, away];
  }
  return frames[best];
};
// ``axes`` says whether axes are drawn too.
const draw = ({ name, number }, axes = false) => {
  const known = frames.get(told.get(name)?.version);
  if (!known) return;
  const frame = nearest(known.frames, number);
  if (!frame) return;  // there is no frame for 0
  for (const [key, moving] of Object.entries(frame.pictures)) {
    const at = key.replace(/[^\w-]/g, "-");  // Streamlit writes the key like this in a class name
    const graph = document.querySelector(`.st-key-${at} .js-plotly-plot`);
    if (!graph) continue;
    moved.set(graph.sampledash, graph.sampledash.data);
    graph.sampledash[axes ? "moveAll" : "move"](moving);
  }
  notice(watch.takeRecords());
  for (const [where, pieces] of Object.entries(frame.texts))
    document.querySelectorAll(where).forEach((node, i) => {
      if (!texts.has(node)) texts.set(node, window.sampledashRead(node));
      write(node, [pieces[i]].flat());
      watch.observe(node, { subtree: true, characterData: true, childList: true });
    });
  watch.takeRecords();  // ignores what this frame has written
  for (const [where, style] of Object.entries(frame.styles))
    document.querySelectorAll(where).forEach((node) => {
      if (!styled.has(node)) styled.set(node, node.style.cssText);
      Object.assign(node.style, style);
    });
};
// ``wish`` delays a request until no key or button is pressed and Python is not running. Even so, a
// request and a change of a setting may be in one message. Python must not lose the change, so it
// matters which element sends the request; see listen and follow in live.py.
let pressed = false;
// After Back or Forward, the browser holds the settings from before until Python has run the whole
// page. A request would send these old settings. ``back`` is the time of the last Back or Forward,
// and ``target`` is the address to which it led: an answer for another address does not count.
const RETURN = 10_000;  // milliseconds that Python is given to run the whole page
let back = -Infinity, target = "";
const running = () => leaves() || performance.now() - back < RETURN
  || document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning";
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
// The frames of a slider are requested once the slider has appeared, so that they are there at its
// first touch. When another setting has changed, the frames are out of date. New ones are requested
// once the pointer or the focus is on the slider; on a touch screen, which has no pointer, at once.
const opened = new Set(), asked = new Map(), requested = {}, touch = matchMedia("(hover: none)");
const sliderOf = (name) => document.querySelector(`.sampledash-cell[data-name="${name}"]`);
const lacking = () => [...told.values()].find(({ of, version }) =>
  version && !frames.has(version)
  && !(performance.now() - asked.get(version) < AGAIN)
  && sliderOf(of)
  && (!opened.has(of) || touch.matches || sliderOf(of).matches(":hover, :focus-within")
    || document.querySelector(`.st-key-${of}:is(:hover, :focus-within)`)));
const seen = new Set();  // parts below the answer that are in sight
if (first) {
  // When Plotly redraws a picture while the reader drags, the picture shows an old step. ``resume``
  // then puts the current frame into the picture.
  live.resume = (axes) => { if (live.hand) draw(live.hand, axes); };
  let due = null;
  live.move = (name, number) => {
    live.hand = { name, number };
    due ??= requestAnimationFrame(() => { due = null; live.resume(); });
  };
  const plain = () => {
    for (const [node, was] of styled) node.style.cssText = was;
    styled.clear();
  };
  const end = () => {
    cancelAnimationFrame(due);
    due = live.hand = null;
  };
  // If dragging ends without a change of the slider's value, shows all as before.
  live.drop = () => {
    end();
    restore();
    plain();
  };
  // When the reader releases the slider, draws the last step before the change is sent. If it were
  // drawn later, it could replace the new answer. Then restores all styles, unless the reader has
  // begun to drag again in the meantime.
  live.lift = () => {
    try { live.resume(true); } catch (error) { reportError(error); }  // after an error, go on
    end();
    requestAnimationFrame(() => requestAnimationFrame(() => live.hand || plain()));
  };
  live.near = wish(lacking, () => {
    const { of, version, ask } = lacking();
    opened.add(of);
    asked.set(version, performance.now());
    requested[of] = version;
    ask({ ...requested });
  });
  // Streamlit would send a click right after a request in one message with the request, and rerun
  // only the part of the page that made the request. A second message, for the whole page, may stop
  // that rerun before it has begun; the click is then lost. So leaving.js repeats the click once the
  // request is sent.
  live.asks = () => {
    live.asking = true;
    setTimeout(() => { live.asking = false; });  // runs after the request is sent
  };
  const look = () => seen.size || document.querySelector(`${BELOW}:is(:hover, :focus-within)`);
  live.looked = wish(() => late() && look(), () => live.look());
  live.sight = new IntersectionObserver((parts) => {
    for (const { target, isIntersecting } of parts)
      if (isIntersecting) seen.add(target); else seen.delete(target);
    live.looked();
  });
  window.addEventListener("popstate", () => {
    [back, target] = [performance.now(), location.search.slice(1)];
  }, true);
  for (const kind of ["pointerdown", "keydown", "pointerup", "pointercancel", "keyup"])
    window.addEventListener(kind, () => { pressed = kind.endsWith("down"); }, true);
  for (const kind of ["pointerover", "focusin"])
    window.addEventListener(kind, (event) => {
      if (late() && event.target.closest?.(BELOW)) live.looked();
      if (event.target.closest?.(".sampledash-bar, [class*=st-key-fields_]")) live.near();
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
let answered, whole;  // runs of Python that drew what is shown: the answer, and the lower part
live.hear ??= () => {
  const { run } = told.get("answer") ?? {}, { run: below, address } = told.get("below") ?? {};
  if (run !== answered) restore();
  if (below !== whole && address === target) back = -Infinity;
  [answered, whole] = [run, below];
  live.resume?.();
  compare();
  live.near();  // the pointer may already be on a slider
};
export default function ({ setTriggerValue }) {
  live.look = () => setTriggerValue("looked", told.get("answer").number);
  live.hear();
}
