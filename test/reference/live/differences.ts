import { dollars } from "../engine/cents.ts";

/** What an amount is otherwise than by the reference; undefined when it is equal. */
export function unequal(what: string, real: bigint, exact: bigint): string | undefined {
  return real === exact ? undefined : `${what} is ${dollars(real)}, and ${dollars(exact)} by the reference`;
}

/** The same for lists, in their order. */
export function unlike(what: string, real: readonly string[], exact: readonly string[]): string | undefined {
  const [left, right] = [real.join("; "), exact.join("; ")];
  return left === right ? undefined : `${what} are ${left || "none"}, and ${right || "none"} by the reference`;
}

/** The same for lists whose order says nothing. */
export function unlikeSorted(what: string, real: readonly string[], exact: readonly string[]): string | undefined {
  return unlike(what, real.toSorted(), exact.toSorted());
}
