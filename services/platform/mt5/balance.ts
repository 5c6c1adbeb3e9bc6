import assert from "node:assert/strict";
import { classifyCommandAnswer } from "./classify.ts";
import type { MoneyOutcome } from "./classify.ts";
import { formatMinor } from "./decimal.ts";
import type { Lease } from "./session-pool.ts";

export type BalanceOrder = {
  readonly login: string;
  /** Signed change of the balance, not the new one. */
  readonly amountMinor: bigint;
  /** At most 31 characters; the platform cuts the rest without a word. */
  readonly comment: string;
  /** Whether a debit above the free margin is refused. */
  readonly checkMargin: boolean;
  /** Asked once, right before the bytes leave; false means that none does. */
  readonly mayWrite: () => boolean;
};

/** The platform's own limit, in minor units. */
export const MAX_AMOUNT_MINOR = 1_000_000_000_00n;
export const MAX_COMMENT_LENGTH = 31;
const BALANCE_TYPE = "2";
/** Printable ASCII without what any way to the platform could misread. */
const SAFE_COMMENT = /^[A-Za-z0-9 _.:#@!-]*$/;

/**
 * Moves money: written at most once, whatever happens, and the outcome says what is known of it. A POST with everything
 * in the query, so that nothing between us and the platform counts it as safe to repeat.
 */
export async function changeBalance(lease: Lease, order: BalanceOrder): Promise<MoneyOutcome> {
  const { login, amountMinor, comment, checkMargin, mayWrite } = order;
  const size = amountMinor < 0n ? -amountMinor : amountMinor;
  assert(size > 0n && size <= MAX_AMOUNT_MINOR, "the amount is zero or above the platform's limit");
  assert(comment.length <= MAX_COMMENT_LENGTH && SAFE_COMMENT.test(comment), "the platform would change this comment");
  const query = {
    login,
    type: BALANCE_TYPE,
    balance: formatMinor(amountMinor),
    comment,
    check_margin: checkMargin ? "1" : "0",
  };
  return classifyCommandAnswer(await lease.call({ method: "POST", path: "trade/balance", query }, { mayWrite }));
}
