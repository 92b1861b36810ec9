// A button that copies the link to the page, and says so; see page.copy_link.
const SAID = 2500;  // milliseconds
const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");  // over http a browser offers no clipboard
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
};
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button") ?? document.createElement("button");
  const { label, copied, link } = data;
  parentElement.classList.add("sampledash-copy");
  parentElement.append(button);
  button.textContent = label;
  button.setAttribute("aria-live", "polite");
  button.onclick = async () => {
    await copy(location.origin + location.pathname + link);
    button.textContent = copied;
    setTimeout(() => { button.textContent = label; }, SAID);
  };
}
