// Loads Plotly's script once. app.py sends this to the browser before Python imports the page's
// modules, so that loading and importing go on at the same time.
window.sampledashPlotly ??= new Promise((loaded, failed) => {
  const root = document.querySelector('script[src*="/static/js/"]').src.split("/static/js/")[0];
  const script = document.createElement("script");
  Object.assign(script, { src: `${root}/component/PLOTLY/plotly.min.js`, onerror: failed });
  script.onload = () => loaded(window.Plotly);
  document.head.append(script);
});
