// Keeps late messages of a page from the page that the reader opens by a link.
// A message that reaches Python after the change of the page still names the old page. Streamlit
// then clears the new page, which stays blank. Two kinds of message can be late: the number of a
// field, which Streamlit sends soon after the field has lost the focus, and whatever the old page
// sends before the server has answered the click.
const SENDING = [300, 1000];  // shortest and longest wait for a field's number, in milliseconds
const ANSWER = 10_000;  // milliseconds that the server is given to open the new page
const part = (name) => document.querySelector(`[data-testid=${name}]`);
let left = -Infinity;  // when a field with a new number lost the focus
export const sending = () => { left = performance.now(); };
// Follows a link once Python runs, and so has the number of the field.
const follow = (link) => {
  const waited = performance.now() - left;
  const runs = waited > SENDING[0] && part("stApp")?.dataset.testScriptState !== "notRunning";
  if (!runs && waited < SENDING[1]) return setTimeout(() => follow(link), 20);
  left = -Infinity;
  window.sampledashAct();  // the number and the new page are two entries of the history
  link.click();
};
// Ends the drag of a slider, and lets the old page take no action until the address is that of the
// new page.
const leave = ({ pathname }) => {
  for (const { slider } of document.querySelectorAll(".sampledash-cell")) slider.drop();
  const main = part("stMain"), last = performance.now() + ANSWER;
  const arrive = () => {
    main.inert = location.pathname !== pathname && performance.now() < last;
    if (main.inert) setTimeout(arrive, 20);
  };
  arrive();
};
export const leaves = () => Boolean(part("stMain")?.inert);
window.addEventListener("click", (event) => {
  const { target } = event, link = target.closest?.("a");
  if (link && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
  const types = link && performance.now() - left < SENDING[1];
  if (types || window.sampledashLive?.asking) {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (types) follow(link);
    else setTimeout(() => target.dispatchEvent(new MouseEvent("click", event)));  // see live.js
  } else if (link?.origin === location.origin && !link.target && !link.download)
    leave(link);
}, true);
