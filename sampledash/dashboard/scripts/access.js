import "./leaving.js";
import { stops } from "./keys.js";
// Adds headings for screen readers, sets what the Tab key reaches, and reruns the page when the
// reader changes the theme; see page.outline in page.py.
const scheme = () => getComputedStyle(document.querySelector(".stApp")).colorScheme;
let due = null;
const PLACES = ".katex-display, [data-testid=stMarkdownContainer]:has(> table)";
const reach = () => {
  due = null;
  stops();
  for (const place of document.querySelectorAll(PLACES)) {
    const more = place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight;
    if (more) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  }
};
// If another site embeds the page, style.css leaves only its sentence, picture and sliders.
const embedded = new URLSearchParams(location.search).get("embed") === "true";
document.body.classList.toggle("sampledash-embedded", embedded);
const later = () => { due ??= requestIdleCallback(reach, { timeout: 1000 }); };
export default function ({ data, parentElement, setTriggerValue }) {
  const titles = data.map((title, level) => {
    const heading = document.createElement(`h${level + 1}`);
    heading.textContent = title;
    return heading;
  });
  parentElement.replaceChildren(...titles);
  let was = scheme();
  const themed = new MutationObserver(() => {
    const now = scheme();
    if (now !== was) setTriggerValue("scheme", now);
    was = now;
  });
  themed.observe(document.querySelector(".stApp"), { attributeFilter: ["class"] });
  const grown = new MutationObserver(later);
  const changes = { childList: true, attributeFilter: ["data-collapsed"], subtree: true };
  grown.observe(document.body, changes);
  window.addEventListener("resize", later);
  document.fonts.addEventListener("loadingdone", later);  // a loaded font changes formula widths
  later();
  return () => {
    themed.disconnect();
    grown.disconnect();
    window.removeEventListener("resize", later);
    document.fonts.removeEventListener("loadingdone", later);
  };
}
