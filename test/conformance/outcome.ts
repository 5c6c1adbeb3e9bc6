/** What a sentence needs beside accounts of its own; without it, it is not tested. */
export type Need = "money" | "simulator" | "week";

/** What was observed is not what the specification says. */
export class Differs extends Error {
  override readonly name = "Differs";
}

export class NotTested extends Error {
  override readonly name = "NotTested";
}

export function hold(isTrue: boolean, observed: string): void {
  if (!isTrue) throw new Differs(observed);
}
