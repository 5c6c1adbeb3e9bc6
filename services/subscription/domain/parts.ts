import { MAX_AMOUNT } from "#kernel/values/money.ts";

/** Splits a signed amount into parts of at most one transfer; no parts for 0. */
export function inParts(amount: bigint): bigint[] {
  const sign = amount < 0n ? -1n : 1n;
  const parts: bigint[] = [];
  for (let rest = amount * sign; rest > 0n; rest -= MAX_AMOUNT.minor) {
    parts.push(sign * (rest < MAX_AMOUNT.minor ? rest : MAX_AMOUNT.minor));
  }
  return parts;
}

/** The longest run of first flows whose net fits into one transfer; each flow fits by itself. */
export function takeWhatFits<Flow extends { readonly amount: bigint }>(flows: readonly Flow[]): Flow[] {
  const taken: Flow[] = [];
  let net = 0n;
  for (const flow of flows) {
    net += flow.amount;
    if (net > MAX_AMOUNT.minor || net < -MAX_AMOUNT.minor) break;
    taken.push(flow);
  }
  return taken;
}
