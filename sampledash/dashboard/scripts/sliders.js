import { sending } from "./leaving.js";
// Draws sliders on a logarithmic or a linear scale, each with its number above it.
// The number is in a field of Streamlit, into which the reader can type, and whose value is in the
// address. The slider shows the number of the field, and writes into the field as a reader would
// type. Only the field holds the number, so that no late message from Python can undo a change.
// A picture that holds its own steps (:func:`sliders.moving`) has a slider without a field.
const live = () => window.sampledashLive;
const ECHO = 2000;  // milliseconds in which the server may still send the old number
let back = -Infinity;  // time of the last Back or Forward, after which the old number is right
window.addEventListener("popstate", () => { back = performance.now(); }, true);
const EDGE = 8;  // pixels from the end of the rail to the middle of the thumb at this end
const SCROLL = 6;  // pixels that a finger moves along the rail before the thumb follows
const GRIP = 14;  // pixels; a press nearer to the thumb does not move the thumb to the pointer
const NOUGHT = 0.06;  // share of the slider's length from 0 to the next number, if the number can be 0
const STEPS = [1, 2, 5];
const FINE = 0.01;  // smallest step of a number on a linear scale
const fieldOf = (name) => document.querySelector(`.st-key-${name} input`);
const enter = (field, text) => {  // uses the native setter, or else React sees no change
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const press = (field) => {
  for (const kind of ["keydown", "keyup"])  // after keydown alone, live.js would wait for keyup
    field.dispatchEvent(new KeyboardEvent(kind, { key: "Enter", bubbles: true }));
};
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const tidy = (value) => Number(value.toPrecision(12));
// Small numbers are written as Python writes them (report.numbers.gamma).
const small = (x) => x && Math.abs(x) < 1e-4 ? x.toExponential() : String(x);
const written = { count: (x) => x.toLocaleString("en-US"), gamma: small, even: String };
// Returns the number with the fewest digits between two positive numbers.
const roundest = (low, high) => {
  for (let power = Math.floor(Math.log10(high)); ; power -= 1) {
    const unit = 10 ** power, number = tidy(Math.ceil(tidy(low / unit)) * unit);
    if (number <= high || power < -12) return number;
  }
};
// Returns the next round number (1, 2 or 5 times a power of ten) above or below a positive number.
const next = (number, up) => {
  const power = Math.floor(Math.log10(number)), round = [];
  for (let e = power - 1; e <= power + 1; e += 1)
    round.push(...STEPS.map((x) => tidy(x * 10 ** e)));
  return up
    ? round.find((x) => x > number * (1 + 1e-9))
    : round.findLast((x) => x < number * (1 - 1e-9));
};
const made = (kind, options = {}) => Object.assign(document.createElement(kind), options);
// An unchanged text is not written: the browser would lay the page out again.
const say = (node, text) => { if (node.textContent !== text) node.textContent = text; };
let helps = 0;
class Slider {
  constructor(root) {
    this.head = made("span");
    this.more = made("button", { type: "button", textContent: "?" });
    this.help = made("div", { popover: "auto", id: `sampledash-help-${helps += 1}` });
    this.more.setAttribute("popovertarget", this.help.id);
    this.more.tabIndex = -1;  // the key "?" on the slider opens the help too
    this.late = made("small");
    this.shown = made("output");
    this.rail = made("div", { className: "sampledash-rail", tabIndex: 0 });
    this.rail.setAttribute("role", "slider");
    this.rail.setAttribute("aria-describedby", this.help.id);
    this.thumb = made("div");
    this.rail.append(this.thumb);
    const line = made("div");
    line.append(this.head, this.more, this.late, this.shown);
    this.text = made("p");  // stands in place of the rail if the data give the number
    root.replaceChildren(line, this.rail, this.text, this.help);
    this.held = false;  // whether the reader is moving the thumb
    this.sent = null;  // {before, at}: old number and time of the last change
    const on = (kind, does) => this.rail.addEventListener(kind, does);
    on("pointerdown", (event) => this.grasp(event));
    on("pointermove", (event) => this.drag(event));
    on("pointerup", (event) => this.release(event));
    on("pointercancel", () => this.drop());  // the finger scrolls the page instead
    on("keydown", (event) => this.pressed(event));
    on("keyup", () => this.commit());
    on("blur", () => this.commit());
  }
  // Moves the thumb to what the reader types into the field.
  typed(text) {
    const number = this.kind === "count" ? Math.trunc(Number(text)) : Number(text);
    const inside = number >= this.low && number <= this.high;
    if (this.held || text === "" || number === this.number || !inside) return;
    this.sent = { before: this.number, at: performance.now() };
    this.put(number);
  }
  // Returns the share of the rail that lies to the left of a number.
  place(number) {
    const { low, high } = this;
    if (high <= low) return 0.5;
    if (this.kind === "even") return (clamp(number, low, high) - low) / (high - low);
    const start = low > 0 ? 0 : NOUGHT, least = low > 0 ? low : this.least;
    if (number < least) return 0;
    const share = Math.log(clamp(number, least, high) / least) / Math.log(high / least);
    return start + (1 - start) * share;
  }
  // Returns the number at a position (0 to 1) on the rail. On a linear scale, this is the nearest
  // multiple of FINE; on a logarithmic scale, it is the roundest number within half a pixel.
  at(share) {
    const { low, high } = this, start = low > 0 ? 0 : NOUGHT, least = low > 0 ? low : this.least;
    if (share <= 0 || share < start / 2) return low;
    if (share >= 1) return high;
    if (this.kind === "even") return tidy(Math.round((low + share * (high - low)) / FINE) * FINE);
    const half = 0.5 / (this.rail.clientWidth - 2 * EDGE);
    const number = (x) => least * (high / least) ** ((clamp(x, start, 1) - start) / (1 - start));
    const [from, to] = [number(share - half), number(share + half)];
    if (this.kind !== "count") return clamp(roundest(from, to), least, high);
    const whole = Math.floor(to) > from;  // whether a whole number lies between ``from`` and ``to``
    const nearest = whole ? roundest(Math.max(from, 1), to) : Math.round(number(share));
    return clamp(nearest, low, high);
  }
  write(number) { return written[this.kind](number); }
  put(number) {
    const text = this.write(number), share = this.place(number);
    this.number = number;
    this.thumb.style.left = `calc(${EDGE}px + ${share} * (100% - ${2 * EDGE}px))`;
    this.rail.style.setProperty("--share", `${100 * share}%`);
    this.rail.setAttribute("aria-valuenow", number);
    this.rail.setAttribute("aria-valuetext", text);
    say(this.shown, text);
  }
  show({ name, label, help, kind, low, high, least, late, number, locked = "" }) {
    Object.assign(this, { name, kind, low, high, least });
    say(this.head, label);
    this.more.setAttribute("aria-label", `About ${label}`);
    say(this.help, help);
    this.more.hidden = !help;
    say(this.text, locked);
    this.rail.hidden = Boolean(locked);
    this.text.hidden = !locked;
    if (locked) this.shown.textContent = this.late.textContent = "";
    if (locked) return;
    this.rail.setAttribute("aria-label", label);
    this.rail.setAttribute("aria-valuemin", low);
    this.rail.setAttribute("aria-valuemax", high);
    say(this.late, late);
    const { sent } = this;
    const echo = sent && number === sent.before && performance.now() - sent.at < ECHO
      && sent.at > back;
    if (this.held || echo) return;
    this.sent = null;
    this.put(number);
  }
  share({ clientX }) {
    const { left, width } = this.rail.getBoundingClientRect();
    return (clientX - left - EDGE) / (width - 2 * EDGE);
  }
  grasp(event) {
    if (event.button) return;
    const wide = this.rail.clientWidth - 2 * EDGE;
    const off = this.place(this.number) - this.share(event);
    this.off = Math.abs(off * wide) < GRIP ? off : 0;
    this.rail.setPointerCapture(event.pointerId);
    this.hold();
    this.from = event.pointerType === "touch" ? event : null;  // a finger may want to scroll
    if (!this.off && this.from === null) this.move(this.at(this.share(event)));
  }
  drag(event) {
    if (!this.held || !this.rail.hasPointerCapture(event.pointerId)) return;
    if (this.from && Math.abs(event.clientX - this.from.clientX) < SCROLL) return;
    this.from = null;
    this.move(this.at(this.share(event) + this.off));
  }
  release(event) {
    const tap = this.from && Math.abs(event.clientY - this.from.clientY) < SCROLL;
    if (this.held && tap && !this.off) this.move(this.at(this.share(event)));
    this.from = null;
    this.commit();
  }
  hold() {
    if (!this.held) this.before = this.number;
    this.held = true;
  }
  move(number) {
    this.hold();
    this.put(number);
    live()?.move(this.name, number);
  }
  pressed(event) {
    const { low, high } = this, { key } = event, field = fieldOf(this.name);
    if (field && (/^[\d.]$/.test(key) || key === "Enter")) {  // the reader types into the field
      field.focus();
      field.select();
      return;
    }
    if (key === "?" && !this.more.hidden) this.help.togglePopover();
    if (!/^(Arrow|Page|Home$|End$)/.test(key)) return;
    event.preventDefault();
    event.stopPropagation();  // the same arrow keys change the lesson elsewhere
    if (key === "Home" || key === "End") return this.move(key === "Home" ? low : high);
    const up = ["ArrowRight", "ArrowUp", "PageUp"].includes(key);
    this.move(this.after(up, key.startsWith("Page"), event.shiftKey));
  }
  // Returns the number to which a key leads: one step up or down, according to ``up``. A step is
  // large for ``page``, which stands for the keys PageUp and PageDown, and small with ``shift``.
  after(up, page, shift) {
    const { low, high, least, number, kind } = this;
    if (kind === "even") {
      const step = FINE * (shift ? 1 : page ? 25 : 5) * (up ? 1 : -1);
      return clamp(tidy(Math.round((number + step) / FINE) * FINE), low, high);
    }
    if (number <= 0) return up ? least : number;
    if (!up && number <= least && low === 0) return 0;
    const one = shift && kind === "count" && !page;
    const far = page ? tidy(number * (up ? 10 : 0.1)) : next(number, up);
    const to = one ? number + (up ? 1 : -1) : far;
    return clamp(kind === "count" ? Math.round(to) : to, low || least, high);
  }
  drop() {
    if (!this.held) return;
    this.held = false;
    this.put(this.before);
    live()?.drop();
  }
  commit() {
    const field = fieldOf(this.name);
    if (!field || this.number === this.before) return this.drop();
    if (!this.held) return;
    this.held = false;
    live()?.lift();
    this.sent = { before: this.before, at: performance.now() };
    enter(field, String(this.number));
    press(field);
  }
}
// A slider for the steps of a picture. The browser holds all steps, so no change is sent to Python.
const FAR = 3;  // number of steps of the keys PageUp and PageDown
// For each slider, the text of its step: the slider may be drawn anew, as by the toggle "Present".
const stood = window.sampledashSteps ??= new Map();
class Steps extends Slider {
  place(step) { return step / this.high; }
  at(share) { return Math.round(clamp(share, 0, 1) * this.high); }
  write(step) { return this.texts[step]; }
  after(up, page) { return clamp(this.number + (page ? FAR : 1) * (up ? 1 : -1), 0, this.high); }
  // If the picture changes, the slider stays at the step with the same text.
  show({ texts, number, ...shown }) {
    const same = texts.indexOf(stood.get(this.name = shown.name));
    this.texts = texts;
    const ends = { low: 0, high: texts.length - 1 }, none = { help: "", late: "" };
    super.show({ ...shown, ...ends, ...none, number: same < 0 ? number : same });
    this.tell();
  }
  tell() {
    stood.set(this.name, this.texts[this.number]);
    for (const { sampledash } of document.querySelectorAll(".sampledash-graph"))
      if (sampledash.key === this.name) sampledash.step(this.number);
  }
  move(step) {
    this.hold();
    this.put(step);
    this.tell();
  }
  drop() {
    if (this.held) this.move(this.before);
    this.held = false;
  }
  commit() { this.held = false; }
}
const sliderOf = ({ target }) => {
  const field = target.closest?.("[class*=st-key-fields_] input");
  const [key] = field?.closest("[class*=st-key-]")?.className.match(/(?<=st-key-)\w+/) ?? [];
  return key && document.querySelector(`.sampledash-cell[data-name="${key}"]`)?.slider;
};
window.addEventListener("input", (event) => sliderOf(event)?.typed(event.target.value), true);
let committed = "";  // the number that Escape brings back
// Streamlit reads "1e3" as 1. So all digits are written before Streamlit reads the field.
for (const kind of ["keydown", "focusout"])
  window.addEventListener(kind, (event) => {
    const { target, key = "Enter" } = event, slider = sliderOf(event);
    if (!slider) return;
    if (key === "Enter") {
      if (/\de/i.test(target.value))
        enter(target, String(Math.min(Number(target.value), Number.MAX_SAFE_INTEGER)));
      if (kind === "focusout" && target.value !== committed) sending();
      committed = target.value;
    } else if (key === "Escape") {
      enter(target, committed);
      slider.rail.focus();
    }
  }, true);
for (const kind of ["focusin", "focusout"])
  window.addEventListener(kind, (event) => {
    if (kind === "focusin") committed = event.target.value;
    sliderOf(event)?.shown.classList.toggle("typed", kind === "focusin");
  }, true);
export default function ({ data, parentElement }) {
  const bar = parentElement.querySelector(".sampledash-bar")
    ?? parentElement.appendChild(made("div", { className: "sampledash-bar" }));
  const names = data.map(({ name }) => name);
  for (const cell of [...bar.children]) if (!names.includes(cell.dataset.name)) cell.remove();
  data.forEach((shown, i) => {
    let cell = bar.querySelector(`:scope > [data-name="${shown.name}"]`);
    if (!cell) {
      cell = made("div", { className: "sampledash-cell" });
      cell.dataset.name = shown.name;
      cell.slider = new (shown.kind === "steps" ? Steps : Slider)(cell);
    }
    // Moving a cell would end the drag of its slider, so only a cell at a wrong place is moved.
    if (bar.children[i] !== cell) bar.insertBefore(cell, bar.children[i] ?? null);
    cell.slider.show(shown);
  });
  live()?.near?.();  // a new slider needs its frames
}
