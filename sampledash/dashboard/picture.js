// Draws a figure with Plotly and, when another one comes, redraws it in place; see page.picture.
const plotly = window.sampledashPlotly;
const CONFIG = { displayModeBar: false };
// What is out of sight is drawn when it comes into sight, or when there is nothing else to do.
const sight = window.sampledashSight ??= new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    target.sampledash.inSight = isIntersecting;
    if (isIntersecting) target.sampledash.draw();
  }
});
const width = window.sampledashWidth ??= new ResizeObserver((sized) => {
  for (const { target } of sized) target.sampledash.fit();
});
class Picture {
  constructor(graph) {
    this.graph = graph;
    this.inSight = null;  // until the first look
    this.next = null;
    sight.observe(graph);
    width.observe(graph);
  }
  show(next) {
    this.next = next;
    if (this.inSight) this.draw();
    else window.requestIdleCallback(() => this.draw(), { timeout: 2000 });
  }
  async draw() {
    const Plotly = await plotly;
    if (!this.next || !this.graph.isConnected) return;
    const { data, layout, frames } = this.next;
    this.next = null;
    await Plotly.react(this.graph, { data, layout, frames, config: CONFIG });
    if (this.drawn) return;
    this.drawn = true;
    this.graph.on("plotly_click", ({ points }) => this.clicked?.(points[0].customdata));
    this.graph.on("plotly_afterplot", () => window.sampledashLive?.resume());
  }
  async fit() {
    const wide = this.graph.clientWidth;
    if (!this.drawn || !wide || wide === this.graph._fullLayout.width) return;
    (await plotly).Plots.resize(this.graph);
  }
  async take(format) {
    const Plotly = await plotly;
    const { name, alt } = this;
    const size = { width: this.graph.clientWidth, height: this.graph.clientHeight };
    const link = document.createElement("a");
    link.download = `${name}.${format}`;
    link.href = await Plotly.toImage(this.graph, { format, scale: 2, ...size });
    if (format === "svg") {
      const title = new Option(alt).innerHTML;
      const svg = decodeURIComponent(link.href.split(",").slice(1).join(","));
      const said = svg.replace(/<svg[^>]*>/, (tag) => `${tag}<title>${title}</title>`);
      link.href = URL.createObjectURL(new Blob([said], { type: "image/svg+xml" }));
    }
    link.click();
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
export default function ({ data, parentElement, setTriggerValue }) {
  const { figure, alt, name, dim, hears } = JSON.parse(new TextDecoder().decode(data));
  const graph = parentElement.querySelector(".sampledash-graph") ?? built(parentElement);
  const picture = graph.sampledash;
  // What is inside of an image is not told, and a slider is to be.
  graph.setAttribute("role", figure.layout.sliders ? "group" : "img");
  graph.setAttribute("aria-label", alt);
  graph.style.height = `${figure.layout.height}px`;
  graph.style.opacity = dim ? 0.3 : 1;
  graph.classList.toggle("hears", hears);
  Object.assign(picture, { alt, name });
  picture.clicked = hears && ((what) => setTriggerValue("picked", what));
  picture.show(figure);
}
