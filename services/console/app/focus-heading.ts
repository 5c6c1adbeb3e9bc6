/** Signs that the person has gone on before the page was there. */
const OWN_MOVES = ["pointerdown", "keydown"] as const;

/**
 * A change of the page is spoken: the focus moves to its heading, as soon as this is there. Returns the function that gives up. The
 * parts of a page keep the focus on their link.
 */
export function focusHeading(main: HTMLElement): () => void {
  const observer = new MutationObserver(() => focus());
  const stop = (): void => {
    observer.disconnect();
    for (const move of OWN_MOVES) removeEventListener(move, stop, { capture: true });
  };
  function focus(): void {
    const heading = main.querySelector("h1");
    if (heading === null) return;
    stop();
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  for (const move of OWN_MOVES) addEventListener(move, stop, { capture: true });
  observer.observe(main, { childList: true, subtree: true });
  focus();
  return stop;
}
