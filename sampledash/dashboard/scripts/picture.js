// Draws a figure with Plotly, and redraws it in place when a new figure comes; see page.picture.
// If only lines, points, shapes and annotations have moved, the script moves them in the SVG that
// Plotly drew, which takes a tenth of the time. Plotly redraws such a figure when the pointer
// enters the figure.
// app.py starts to load Plotly. On a busy machine, this script can run before that, and then waits.
const plotly = (async () => {
  while (!window.sampledashPlotly) await new Promise((next) => setTimeout(next, 10));
  return window.sampledashPlotly;
})();
// Returns the data from which page.packed made these bytes.
const unpack = window.sampledashUnpack ??= (bytes) => {
  const { readable, writable } = new DecompressionStream("deflate"), writer = writable.getWriter();
  writer.write(bytes);  // a Blob is slower: another process reads it
  writer.close();
  return new Response(readable).json();
};
const CONFIG = { displayModeBar: false };
const CAPTION = 24;  // height in pixels of the caption below a downloaded picture
const leaves = (node) => {
  const found = [], walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (walk.currentNode.data) found.push(walk.currentNode);
  return found;
};
window.sampledashRead ??= (node) => leaves(node).map(({ data }) => data);
// Writes texts into the text nodes of an element, if there are as many nodes as texts. Does not
// replace the nodes, because other code of the page refers to them.
const write = window.sampledashWrite ??= (node, pieces) => {
  const all = leaves(node);
  const fits = all.length === pieces.length;
  if (fits) all.forEach((leaf, i) => { if (leaf.data !== pieces[i]) leaf.data = pieces[i]; });
  return fits;
};
const hundredths = (pixels) => Math.round(100 * pixels) / 100 || 0;  // never -0
// An unchanged attribute is not written: the browser would draw the picture again.
const put = (node, name, value) => {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
};
// Lines whose points are nearer to each other than SAME pixels look the same.
const SAME = 0.5;
const clamp = (share) => Math.min(Math.max(share, 0), 1);
const distance = ([x, y], [u, v], [w, z]) => {  // of a point from the line between two points
  const [right, down] = [w - u, z - v], square = right ** 2 + down ** 2;
  const along = square && clamp(((x - u) * right + (y - v) * down) / square);
  return Math.hypot(x - u - along * right, y - v - along * down);
};
// Returns whether two lines look the same: the points of each line lie on the other line, in order.
const alike = (points, drawn) => {
  let i = 0;  // number of points of ``drawn`` that the other line has passed
  return points.every((point, j) => {
    const before = Math.max(i - 1, 0), last = points[Math.max(j - 1, 0)];
    while (i < drawn.length && distance(drawn[i], last, point) <= SAME) i += 1;
    return drawn.slice(before, i + 1).some((end, k, some) =>
      distance(point, some[Math.max(k - 1, 0)], end) <= SAME);
  }) && i === drawn.length;
};
// Draws a line through points, in pixels, unless the line drawn before looks the same. The points
// in ``base`` close an area below the line, and Plotly begins with them.
const drawLine = (node, points, base = [], end = "") => {
  const drawn = node.getAttribute("d")?.slice(1).replace("Z", "").split("L").slice(base.length);
  if (drawn && alike(points, drawn.map((pair) => pair.split(",").map(Number)))) return;
  const path = [...base, ...points].map((each) => each.map(hundredths));
  node.setAttribute("d", `M${path.join("L")}${end}`);
};
const LEFT = { left: 0, center: 0.5, right: 1 }, DOWN = { top: 0, middle: 0.5, bottom: 1 };
const share = (of, anchor) => of[anchor] ?? 0.5;
const EDGE = 3;  // pixels by which Plotly's box of an annotation exceeds the size of its text
// Plotly for Python writes numbers as a list, or as base64 bytes of one of these array types.
const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array,
  u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
const values = (given) => {
  if (given?.bdata === undefined) return given;
  const text = atob(given.bdata), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return Array.from(new KINDS[given.dtype](bytes.buffer));
};
// ``moving`` returns the parts of a figure that this script can move, in the form that live.py
// sends. A trace that the script cannot move is null.
const MODES = ["lines", "markers", "lines+markers"], FILLS = [undefined, "none", "toself", "tozeroy"];
const movable = ({ type, mode, fill, line, error_x, error_y, visible = true }) =>
  type === "scatter" && MODES.includes(mode) && FILLS.includes(fill) && visible
  && (line?.shape ?? "linear") === "linear" && !error_x && !error_y;
const titleOf = ({ title }) => title?.text ?? "";
const SIGNS = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
const piecesOf = (text) => text.split(/<[^>]*>/).filter(Boolean)
  .map((piece) => piece.replace(/&(amp|lt|gt);/g, (code) => SIGNS[code]));
const axesOf = (layout) => Object.keys(layout).filter((key) => /^[xy]axis/.test(key));
const ends = ({ range, tickvals, ticktext }) => ({ range, tickvals, ticktext });
const moving = ({ data, layout }) => ({
  traces: data.map((trace) => {
    const both = movable(trace) && [values(trace.x), values(trace.y)];
    return both && both.every((each) => each.every(Number.isFinite)) ? both : null;
  }),
  shapes: (layout.shapes ?? []).map(({ x0, fillcolor, line }) => [x0, fillcolor, line?.color]),
  names: layout.annotations ?? [],
  title: titleOf(layout),
  axes: Object.fromEntries(axesOf(layout).map((name) => [name, ends(layout[name])])),
});
// Returns, as a text, the parts of a figure that this script cannot move. Two figures with the same
// text differ only in parts that the script can move.
const rest = ({ data, layout }, { traces }) => JSON.stringify([
  data.map(({ name, hovertemplate, customdata, ...trace }, i) => {
    const { x, y, text, ...kept } = trace, points = kept.mode === "lines" ? 0 : traces[i]?.[0].length;
    return [layout.showlegend && name, traces[i] ? [points, kept] : trace];
  }),
  titleOf(layout).match(/<[^>]*>/g),
  { ...layout, title: { ...layout.title, text: "" }, ...Object.fromEntries(axesOf(layout).map((name) =>
      [name, { ...layout[name], range: 0, tickvals: 0, ticktext: 0 }])),
    shapes: (layout.shapes ?? []).map(({ x0, x1, fillcolor, line, ...kept }) =>
      [x0 === x1 || [x0, x1], !fillcolor, { ...line, color: !line?.color }, kept]),
    annotations: (layout.annotations ?? []).map(
      ({ x, y, xanchor, yanchor, xshift, yshift, text, ...kept }) => kept) },
]);
const ranged = ({ layout }) => axesOf(layout).every((name) => layout[name].range);
// A picture that is out of sight is drawn once it is in sight, or when the browser is idle.
const sight = window.sampledashSight ??= new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    target.sampledash.inSight = isIntersecting;
    if (isIntersecting) target.sampledash.draw();
  }
});
const width = window.sampledashWidth ??= new ResizeObserver((sized) => {
  for (const { target } of sized) target.sampledash.fit();
});
// Pictures that change together are drawn one by one, so that the browser shows each picture before
// it draws the next.
const turns = window.sampledashTurns ??= [];
const inTurn = async (draw) => {
  if (turns.push(draw) > 1) return;
  for (; turns.length; turns.shift()) {
    turns[0]();
    await new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)));
  }
};
// Height in pixels that a figure with steps reserves for Plotly's slider. It is subtracted from the
// height of the figure, because a slider of sampledash replaces Plotly's.
const RAIL = 64;
const BELOW = 120;  // height in pixels of the choices below a picture on a projector
// Returns the height of a picture. On a projector, it fills the window down to the choices.
const heightOf = (graph, least) => {
  if (innerWidth <= 640 || !graph.closest(".st-key-projected")) return least;
  return Math.max(least, Math.round(innerHeight - graph.getBoundingClientRect().top - BELOW));
};
class Picture {
  constructor(graph) {
    this.graph = graph;
    this.inSight = null;  // whether the picture is in sight; null if not known yet
    this.next = null;
    this.whole = null;  // the figure with all its steps; see ``step``
    sight.observe(graph);
    width.observe(graph);
  }
  show(next) {
    this.next = next;
    if (this.inSight) inTurn(() => this.draw());
    else window.requestIdleCallback(() => this.draw(), { timeout: 2000 });
  }
  // Shows a step of a figure that has frames, one for each step of a slider.
  step(number) {
    const { data, layout, frames } = this.whole ?? {}, frame = frames?.[number];
    if (!frame) return;
    const { traces, data: moved, layout: head } = frame, all = [...data];
    traces.forEach((trace, i) => { all[trace] = moved[i]; });
    this.next = { data: all, layout: { ...layout, ...head } };
    this.draw();
  }
  // Returns the slider of the steps, or undefined.
  get slider() {
    return document.querySelector(`.sampledash-cell[data-name="${this.key}"]`)?.slider;
  }
  // Returns name and caption of a downloaded picture that shows a step: they tell the step, and not
  // the settings of the other pages.
  get stepped() {
    const { slider } = this;
    if (!this.whole || !slider) return null;
    const [label, step] = [slider.head.textContent, slider.shown.textContent];
    const name = `sampledash-${this.key}-${label}-${step}`.replaceAll(",", "").replaceAll(" ", "-");
    return { name, caption: `sampledash: ${label} = ${step}` };
  }
  async draw() {
    const { next, graph } = this;
    await plotly;
    if (!next || next !== this.next || !graph.isConnected) return;
    this.next = null;
    this.last = next;
    const frame = moving(next), kept = ranged(next) && rest(next, frame);
    const still = kept && kept === this.kept && !graph.matches(":hover");
    this.kept = kept;
    if (!still || !this.moveAll(frame)) return this.plot(next);
    this.late = next;
    window.sampledashLive?.resume();
  }
  async plot({ data, layout }) {
    this.late = null;
    // Plotly gets a copy of the layout, because ``moveAll`` changes the axes in it.
    const shown = structuredClone(layout);
    await (await plotly).react(this.graph, { data, layout: shown, config: CONFIG });
    if (this.drawn) return;
    this.drawn = true;
    this.graph.on("plotly_click", ({ points }) => this.clicked?.(points[0].customdata));
    this.graph.on("plotly_afterplot", () => window.sampledashLive?.resume());
  }
  // Shows the last figure again after frames of a slider were shown.
  back() {
    if (this.last) this.plot(this.last);
  }
  // Lets Plotly redraw a figure that this script has moved: hover labels and downloads need this.
  async settle() {
    if (this.late) await this.plot(this.late);
  }
  // Lets Plotly draw the axes of ``frame`` if they differ from those of the picture; then moves the
  // other parts. Returns whether this worked. While the reader drags, only ``move`` is called:
  // drawing axes takes longer than the time between two refreshes of the screen.
  moveAll(frame) {
    const { graph } = this, changes = {};
    for (const [name, axis] of Object.entries(frame.axes))
      for (const [key, value] of Object.entries(axis))
        if (JSON.stringify(graph.layout?.[name]?.[key]) !== JSON.stringify(value))
          changes[`${name}.${key}`] = value;
    if (this.drawn && Object.keys(changes).length) window.Plotly.relayout(graph, changes);
    return this.move(frame);
  }
  // Moves the parts in ``frame`` within the picture that Plotly drew. Returns whether this worked:
  // Plotly must have drawn the picture, with as many traces and shapes as the frame has, and the texts
  // of annotations must have as many pieces as before.
  move(frame) {
    const { graph } = this, from = graph.layout, count = (list) => list?.length ?? 0;
    if (!this.drawn || count(graph._fullData) !== count(frame.traces)
      || count(from.shapes) !== count(frame.shapes)) return false;
    let all = true;
    // Returns the axis that Plotly calls by this name, such as "x2". The name "x2 domain" stands for
    // the same axis, and says that positions are shares of the axis's length.
    const axis = (name) => graph._fullLayout[`${name[0]}axis${name.slice(1).split(" ")[0]}`];
    // Returns the pixels between two values on an axis, or 0 if ``ref`` names no axis. ``to`` names
    // Plotly's conversion from values to pixels.
    const way = (ref, to, from, at) => axis(ref) ? axis(ref)[to](at) - axis(ref)[to](from) : 0;
    frame.traces.forEach((moving, i) => {
      if (!moving) return;
      const [x, y] = moving;
      const { xaxis, yaxis, fill: area, uid } = graph._fullData[i];
      const group = graph.querySelector(`.scatterlayer .trace${uid}`);
      const X = (v) => axis(xaxis).d2p(v), Y = (v) => axis(yaxis).d2p(v);
      const drawn = group?.querySelector(".js-line");
      const points = x.map((v, j) => [X(v), Y(y[j])]);
      if (drawn) drawLine(drawn, points);
      group?.querySelectorAll(".points .point").forEach((point, j) => {
        point.style.visibility = j < x.length ? "" : "hidden";
        if (j < x.length) put(point, "transform", `translate(${points[j].map(hundredths)})`);
      });
      const fill = area !== "none" && group?.querySelector(".js-fill");
      const base = area === "tozeroy" ? [x.at(-1), x[0]].map((v) => [X(v), Y(0)]) : [];
      if (fill) drawLine(fill, points, base, "Z");
    });
    graph.querySelectorAll(".shapelayer path").forEach((path) => {
      const i = path.dataset.index;
      if (!frame.shapes[i]) return;
      const [x, fill, edge] = frame.shapes[i], { xref = "x", x0 } = from.shapes[i];
      const dx = hundredths(way(xref, "d2p", x0, x));
      put(path.closest(".shape-group"), "transform", `translate(${dx},0)`);
      if (fill) Object.assign(path.style, { fill, fillOpacity: 1 });
      if (edge) path.style.stroke = edge;
    });
    const title = frame.title && graph.querySelector(".gtitle");
    if (title) all &&= write(title, piecesOf(frame.title));
    // All texts are written before the first is measured, so that the browser lays them out once.
    const written = [...graph.querySelectorAll(".annotation")].map((group, i) => {
      const was = from.annotations[i], now = frame.names[i], text = group.querySelector("text");
      const fits = now && text && write(text, piecesOf(now.text));
      all &&= fits;
      return { group, was, now, text, fits, back: group.querySelector(".bg") };
    });
    for (const each of written) {
      if (!each.fits) continue;
      each.box = each.text.getBBox();
      each.group.drawn ??= each.back.getBBox();
    }
    for (const { group, was, now, fits, box, back } of written) {
      group.style.visibility = fits ? "" : "hidden";
      if (!fits) continue;
      const { drawn } = group, { xref = "x", yref = "y" } = was, across = axis(xref);
      const [first, last] = across?.range ?? [now.x, now.x];
      // A text whose position is beyond an end of the axis is hidden.
      if (now.x < first || now.x > last) group.style.visibility = "hidden";
      // On a logarithmic axis, Plotly gives the positions of annotations as logarithms.
      const dx = way(xref, "r2p", was.x, now.x) + (now.xshift ?? 0) - (was.xshift ?? 0)
        + share(LEFT, was.xanchor) * drawn.width - share(LEFT, now.xanchor) * (box.width + EDGE)
        + drawn.x + EDGE / 2 - box.x;
      const dy = way(yref, "r2p", was.y, now.y) - (now.yshift ?? 0) + (was.yshift ?? 0)
        + share(DOWN, was.yanchor) * drawn.height - share(DOWN, now.yanchor) * (box.height + EDGE)
        + drawn.y + EDGE / 2 - box.y;
      put(group, "transform", `translate(${hundredths(dx)},${hundredths(dy)})`);
      put(back, "x", hundredths(box.x - EDGE / 2));
      put(back, "width", hundredths(box.width + EDGE));
    }
    return all;
  }
  async fit() {
    const wide = this.graph.clientWidth;
    if (!this.drawn || !wide || wide === this.graph._fullLayout.width) return;
    await this.settle();
    this.graph.style.height = `${heightOf(this.graph, this.least)}px`;
    (await plotly).Plots.resize(this.graph);
  }
  // Downloads the picture with a caption. The caption lists the settings. If the reader has pinned
  // other settings to compare them, the caption also says which line style belongs to which pin.
  async take(format) {
    const Plotly = await plotly, { graph, alt } = this, { name, caption } = this.stepped ?? this;
    await this.settle();
    const { clientWidth: width, clientHeight: height } = graph;
    const drawn = await Plotly.toImage(graph, { format: "svg", width, height });
    const escaped = (text) => new Option(text).innerHTML, { meta = "" } = graph.layout;
    const high = height + CAPTION * (meta ? 1.7 : 1);
    const { color, fontFamily } = getComputedStyle(graph);
    const paper = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
    const font = escaped(fontFamily).replaceAll('"', "'");
    const below = `<text x="12" y="${height + 12}" fill="${color}" font-size="12" `
      + `font-family="${font}">${escaped(caption)}`
      + `${meta && `<tspan x="12" dy="16">${escaped(meta)}</tspan>`}</text></svg>`;
    const halo = `text[style*=text-shadow] { paint-order: stroke; stroke: ${paper}; `
      + "stroke-width: 4px; stroke-linejoin: round; }";
    const size = `width="${width}" height="${high}" viewBox="0 0 ${width} ${high}"`;
    const begin = (tag) => tag.replace(/ (width|height|viewBox)="[^"]*"/g, "")
      .replace(">", ` ${size}><title>${escaped(alt)}</title><style>${halo}</style>`
        + `<rect width="100%" height="100%" fill="${paper}"/>`);
    const svg = decodeURIComponent(drawn.slice(drawn.indexOf(",") + 1))
      .replace(/<svg[^>]*>/, begin)
      .replace(/<\/svg>\s*$/, below);
    const link = document.createElement("a");
    link.download = `${name}.${format}`;
    link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    if (format === "png") link.href = await pixels(link.href, width, high);
    link.click();
  }
}
// Returns a picture as PNG with twice its width and height.
const pixels = async (url, width, height) => {
  const image = Object.assign(new Image(), { src: url });
  await image.decode();
  const size = [2 * width, 2 * height], canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = size;
  canvas.getContext("2d").drawImage(image, 0, 0, ...size);
  return canvas.toDataURL("image/png");
};
// Lets the reader drag the upright line of a picture, which marks the value of a slider.
const NEAR = 9;  // largest distance in pixels at which the pointer can grasp the line
class Handle {
  constructor(graph) {
    this.graph = graph;
    this.held = null;  // while the line is dragged: its axis, and axis pixels minus window pixels
    const on = (kind, does) => graph.addEventListener(kind, does, true);
    on("pointerdown", (event) => this.grasp(event));
    on("pointermove", (event) => this.drag(event));
    for (const kind of ["pointerup", "pointercancel"]) on(kind, () => this.release());
  }
  get slider() {
    const { drags } = this.graph.sampledash;
    return drags && document.querySelector(`.sampledash-cell[data-name="${drags}"]`)?.slider;
  }
  // Returns the axis of the upright line near the pointer, and the line's middle in window pixels.
  line({ clientX, clientY }) {
    for (const path of this.graph.querySelectorAll(".shapelayer path")) {
      const { x0, x1, xref = "x" } = this.graph.layout.shapes[path.dataset.index] ?? {};
      const { left, right, top, bottom } = path.getBoundingClientRect();
      const middle = (left + right) / 2, axis = this.graph._fullLayout[`xaxis${xref.slice(1)}`];
      const near = Math.abs(clientX - middle) < NEAR && clientY >= top && clientY <= bottom;
      if (x0 === x1 && near) return { axis, middle };
    }
    return null;
  }
  grasp(event) {
    const mouse = event.button === 0 && event.pointerType !== "touch";
    const line = this.slider && mouse && this.line(event);
    if (!line) return;
    event.preventDefault();
    event.stopPropagation();
    this.graph.setPointerCapture(event.pointerId);
    const { axis, middle } = line;
    this.held = { axis, off: axis.d2p(this.slider.number) - middle };
  }
  drag(event) {
    this.graph.classList.toggle("grip", Boolean(this.held ?? (this.slider && this.line(event))));
    if (!this.held) return;
    const { axis, off } = this.held, { low, high } = this.slider;
    const number = Math.round(axis.p2d(event.clientX + off));
    this.slider.move(Math.min(Math.max(number, low), high));
  }
  release() {
    if (this.held) this.slider.commit();
    this.held = null;
  }
}
const built = (parent) => {
  const place = document.createElement("div");
  place.className = "sampledash-picture";
  const graph = document.createElement("div");
  graph.className = "sampledash-graph";
  const row = document.createElement("div");
  row.className = "sampledash-take";
  graph.sampledash = new Picture(graph);
  new Handle(graph);
  graph.onpointerenter = () => graph.sampledash.settle();
  for (const format of ["png", "svg"]) {
    const button = document.createElement("button");
    button.textContent = format.toUpperCase();
    button.setAttribute("aria-label", `Download the picture as ${button.textContent}`);
    button.onclick = () => graph.sampledash.take(format);
    row.append(button);
  }
  place.append(graph, row);
  parent.append(place);
  return graph;
};
export default async function ({ data, parentElement, setTriggerValue }) {
  const graph = parentElement.querySelector(".sampledash-graph") ?? built(parentElement);
  const picture = graph.sampledash;
  picture.data = data;
  const { figure, key, alt, name, dim, hears, drags, caption } = await unpack(data);
  if (picture.data !== data) return;  // a newer picture has come
  put(graph, "role", "img");
  put(graph, "aria-label", alt);
  // A slider of sampledash stands in place of Plotly's; see sliders.moving.
  const [own] = figure.layout.sliders ?? [];
  if (own) figure.layout.height -= RAIL;
  delete figure.layout.sliders;
  picture.whole = own ? figure : null;
  picture.least = figure.layout.height;
  figure.layout.height = heightOf(graph, picture.least);
  graph.style.height = `${figure.layout.height}px`;
  graph.style.opacity = dim ? 0.3 : 1;
  graph.classList.toggle("hears", hears);
  Object.assign(picture, { key, alt, name, drags, caption });
  picture.clicked = hears ? (what) => setTriggerValue("picked", what) : undefined;
  const slider = own && picture.slider;
  if (slider && slider.number !== own.active) picture.step(slider.number);
  else picture.show({ data: figure.data, layout: figure.layout });
}
