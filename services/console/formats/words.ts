/** A code of the API as words: `not_executed` is `not executed`. */
export function words(code: string): string {
  const plain = code.replaceAll(/[_-]/g, " ").toLowerCase();
  return plain.replaceAll(/\b(?:master|investor)s?\b/g, (term) => term.charAt(0).toUpperCase() + term.slice(1));
}

/** The same, as the beginning of a line. */
export function sentence(code: string): string {
  const text = words(code);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
