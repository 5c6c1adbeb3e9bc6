import type { Earnings } from "../domain/fees/layers.ts";
import type { DecidedFee } from "../store/fee-decisions.ts";
import type { Pair } from "../store/pairs.ts";
import { DEBT_SUFFIX, type Due, type Occasion, paymentKey } from "../domain/fees/due.ts";

/** What is due of an Investor as it is recorded, in the sequence of collection. `suffix` is that of its fee. */
export function decidedFees(
  due: readonly Due[],
  {
    investorLogin,
    suffix,
    occasion,
  }: { readonly investorLogin: string; readonly suffix: string; readonly occasion: Occasion },
): DecidedFee[] {
  return due.map(({ masterLogin: owedTo, ...fee }) => {
    const own = fee.kind === "PF_DEBT" ? DEBT_SUFFIX : suffix;
    const key = paymentKey(occasion, { investorLogin, masterLogin: owedTo, suffix: own });
    return { ...fee, investorLogin, owedTo, suffix: own, key };
  });
}

/** The pair after a decision at an instant. */
export function decidedPair(pair: Pair, earnings: Earnings, at: Date): Pair {
  return { ...pair, earnings, crystallisedAt: earnings.mark === pair.earnings.mark ? pair.crystallisedAt : at };
}
