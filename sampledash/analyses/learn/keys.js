// Keys that change the lesson. The dashboard and the file of all lessons contain this script.
(() => {
  if (window.sampledashLessonKeys) return;
  window.sampledashLessonKeys = true;
  // In a group of choices, the left and right arrow keys change the lesson if the reader last used
  // the pointer. If the reader last used Tab, the arrow keys move within the group. PageUp and
  // PageDown, the keys of a presenter's remote control, change the lesson, but not in a text field.
  // If the reader last used Tab, these two keys do not change the lesson on a slider either.
  const turns = {
    ArrowLeft: "lesson_back", ArrowRight: "lesson_next",
    PageUp: "lesson_back", PageDown: "lesson_next",
  };
  const FIELDS = 'input:not([type="radio"], [type="checkbox"]), textarea, [contenteditable="true"]';
  const free = (event) => {
    const on = (places) => event.target.closest?.(places);
    if (!event.key.startsWith("Page")) return byPointer && on('[role="radiogroup"]');
    return !on(FIELDS) && (byPointer || !on('[role="slider"]'));
  };
  // Whether the reader last used the pointer, not Tab. At first true, because the reader may have
  // clicked before this script was loaded.
  let byPointer = true;
  window.addEventListener("pointerdown", () => { byPointer = true; }, true);
  window.addEventListener("keydown", (event) => {
    if (event.key === "Tab") byPointer = false;
    const turn = document.querySelector(`.st-key-${turns[event.key]} button`);
    if (!turn || !free(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    turn.click();  // does nothing at the first and the last lesson, whose button is disabled
  }, true);
})();
