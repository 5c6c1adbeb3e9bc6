/**
 * MetaTrader 5 requires 8 to 16 characters of four classes. Left out are characters with a meaning in the Web API's query
 * text, and letters and digits that look alike.
 */
const CLASSES = ["abcdefghijkmnopqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789", "!#@_.-:"] as const;
const LENGTH = 16;

/** A random integer from 0 (inclusive) to `bound` (exclusive), from a cryptographic source. */
export type RandomBelow = (bound: number) => number;

/** A password of about 90 bits with characters of all four classes. */
export function generatePassword(randomBelow: RandomBelow): string {
  const all = CLASSES.join("");
  const characters = [...CLASSES, ...Array.from({ length: LENGTH - CLASSES.length }, () => all)].map((from) =>
    from.charAt(randomBelow(from.length)),
  );
  return shuffle(characters, randomBelow).join("");
}

/** Fisher-Yates shuffle: every permutation is equally likely. */
function shuffle<T>(items: readonly T[], randomBelow: RandomBelow): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const chosen = randomBelow(last + 1);
    [shuffled[last], shuffled[chosen]] = [shuffled[chosen] as T, shuffled[last] as T];
  }
  return shuffled;
}
