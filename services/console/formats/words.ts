/** A code of the API as words: `not_executed` is `not executed`. */
export function words(code: string): string {
  return code.replaceAll(/[_-]/g, " ").toLowerCase();
}

/** The same, as the beginning of a line. */
export function sentence(code: string): string {
  const text = words(code);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
