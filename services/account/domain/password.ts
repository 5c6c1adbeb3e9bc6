/** The platform asks for 8 to 16 characters of four classes. Signs that its query language gives a meaning are left out. */
const CLASSES = ["abcdefghijkmnopqrstuvwxyz", "ABCDEFGHJKLMNPQRSTUVWXYZ", "23456789", "!#@_.-:"] as const;
const LENGTH = 16;

/** A number from 0 up to, without, the bound; from a cryptographic source. */
export type RandomBelow = (bound: number) => number;

/** A password of about 90 bits that the platform accepts. */
export function generatePassword(randomBelow: RandomBelow): string {
  const all = CLASSES.join("");
  const signs = [...CLASSES, ...Array.from({ length: LENGTH - CLASSES.length }, () => all)].map((from) =>
    from.charAt(randomBelow(from.length)),
  );
  return shuffle(signs, randomBelow).join("");
}

/** Fisher and Yates: every order is equally likely. */
function shuffle<T>(items: readonly T[], randomBelow: RandomBelow): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const chosen = randomBelow(last + 1);
    [shuffled[last], shuffled[chosen]] = [shuffled[chosen] as T, shuffled[last] as T];
  }
  return shuffled;
}
