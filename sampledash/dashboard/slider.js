// A slider whose steps are round numbers. The slider shows the value of the number field beside it,
// and changes the field as if the reader had typed. Only the field sends the number to Python, so
// that no message with an old number can undo a change; see sliders.py.
const live = () => window.sampledashLive;
const STEP = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 3, PageDown: -3 };
const ECHO = 2000;  // milliseconds after a change in which the server may still send the old number
const fieldOf = (name) => document.querySelector(`.st-key-${name} input`);
// Sets the field's text with the browser's own setter, because React would not notice another way.
const type = (field, text) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
};
let made = 0;
class Slider {
  constructor(root) {
    this.rail = Object.assign(document.createElement("input"), { type: "range", min: 0, step: "any" });
    this.bubble = document.createElement("output");
    this.head = document.createElement("label");
    this.more = Object.assign(document.createElement("button"), { type: "button", textContent: "?" });
    this.help = document.createElement("div");
    this.help.popover = "auto";
    this.help.id = `sampledash-help-${made += 1}`;
    this.more.setAttribute("popovertarget", this.help.id);
    const line = document.createElement("div");
    line.append(this.head, this.more, this.bubble);
    root.classList.add("sampledash-slider");
    root.replaceChildren(line, this.rail, this.help);
    this.held = false;  // whether the reader is moving the slider
    this.sent = null;  // {before, at}: number before the last change, and time of this change
    this.rail.addEventListener("input", () => this.move(Math.round(this.rail.value)));
    this.rail.addEventListener("change", () => this.commit());
    this.rail.addEventListener("keydown", (event) => this.pressed(event));
    for (const kind of ["keyup", "blur"]) this.rail.addEventListener(kind, () => this.commit());
    for (const kind of ["pointermove", "focusin", "pointerleave"])
      root.addEventListener(kind, () => live()?.near(this.name));
  }
  // Returns the position of a number: step i has position i, with a logarithmic scale in between.
  place(number) {
    const { steps } = this, last = steps.length - 1, down = steps[0] > steps[last];
    const beyond = (step) => down ? step <= number : step >= number;
    const i = steps.findIndex(beyond);
    if (i <= 0) return i < 0 ? last : 0;
    const [a, b] = [steps[i - 1], steps[i]];
    const scale = a > 0 && b > 0 ? Math.log : (x) => x;
    return i - 1 + (scale(number) - scale(a)) / (scale(b) - scale(a));
  }
  put(number, text) {
    this.number = number;
    this.rail.value = this.place(number);
    this.rail.setAttribute("aria-valuetext", text);
    this.rail.style.setProperty("--share", `${100 * this.rail.value / (Number(this.rail.max) || 1)}%`);
    this.bubble.textContent = this.held ? text : "";  // at rest, the field shows the number
  }
  show({ name, label, help, steps, texts, number, text, above }) {
    Object.assign(this, { name, steps, texts, above });
    this.head.textContent = label;
    this.rail.setAttribute("aria-label", label);
    this.more.setAttribute("aria-label", `About ${label}`);
    this.help.textContent = help;
    this.rail.max = steps.length - 1;
    const { sent } = this;
    const echo = sent && number === sent.before && performance.now() - sent.at < ECHO;
    if (this.held || echo) return;
    this.sent = null;
    this.put(number, text);
  }
  move(place) {
    const to = Math.min(Math.max(place, 0), this.steps.length - 1);
    if (!this.held) this.before = this.number;
    this.held = true;
    const least = this.above === null ? NaN : Number(fieldOf(this.above)?.value) + 1;
    const low = this.steps[to] < least;
    this.put(low ? least : this.steps[to], low ? least.toLocaleString("en-US") : this.texts[to]);
    live()?.move(this.name, this.texts[to]);
  }
  pressed(event) {
    const here = this.place(this.number), by = STEP[event.key];
    const next = by > 0 ? Math.floor(here + 1e-9) + by : Math.ceil(here - 1e-9) + by;
    const to = { Home: 0, End: this.steps.length - 1 }[event.key] ?? (by && next);
    if (to === undefined) return;
    event.preventDefault();
    this.move(to);
  }
  commit() {
    if (!this.held) return;
    this.held = false;
    live()?.lift();
    if (this.number === this.before) return;
    this.sent = { before: this.before, at: performance.now() };
    type(fieldOf(this.name), String(this.number));
  }
}
export default function ({ data, parentElement }) {
  parentElement.slider ??= new Slider(parentElement);
  parentElement.slider.show(data);
}
