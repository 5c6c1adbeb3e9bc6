/** Names that were folded: the rows of a list repeat a few dozen. */
const folded = new Map<string, string>();
const MAX_FOLDED = 1_000;
const MAX_FOLDED_LENGTH = 64;

/** The name in ASCII lower case: the platform's key case varies. */
export function foldName(name: string): string {
  const known = folded.get(name);
  if (known !== undefined) return known;
  const lower = name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (folded.size >= MAX_FOLDED || name.length > MAX_FOLDED_LENGTH) return lower;
  // Copies, because a part of an answer would keep the whole answer in memory.
  const [own, ownLower] = [Buffer.from(name).toString(), Buffer.from(lower).toString()];
  if (own === name) folded.set(own, ownLower);
  return lower;
}
