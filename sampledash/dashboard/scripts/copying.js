// A button that copies a text or the link to the page, and says so; see page.code and page.copy_link.
const SAID = 2500;  // milliseconds for which the button says that it has copied
const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // A page that another machine serves over http has no ``navigator.clipboard``.
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
};
const built = (parent) => {
  const place = parent.appendChild(document.createElement("div"));
  place.className = "sampledash-copy";
  const shown = place.appendChild(document.createElement("pre"));
  shown.tabIndex = 0;  // so that keys can scroll a long text
  const button = place.appendChild(document.createElement("button"));
  button.setAttribute("aria-live", "polite");
  return place;
};
export default function ({ data, parentElement }) {
  const place = parentElement.querySelector(".sampledash-copy") ?? built(parentElement);
  const { label, copied, link, text, height } = data;
  const [shown, button] = place.children;
  shown.hidden = text === undefined;
  shown.textContent = text ?? "";
  if (height) shown.style.maxHeight = `${height}px`;
  button.textContent = label;
  button.onclick = async () => {
    await copy(text ?? location.origin + location.pathname + link);
    button.textContent = copied;
    setTimeout(() => { button.textContent = label; }, SAID);
  };
}
