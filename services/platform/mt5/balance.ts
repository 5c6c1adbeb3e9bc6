import assert from "node:assert/strict";
import { classifyCommandAnswer } from "./classify.ts";
import type { MoneyOutcome } from "./classify.ts";
import { formatMinor } from "./decimal.ts";
import type { Exchanged } from "./exchanged.ts";
import type { Lease } from "./session-pool.ts";
import type { ToldTickets } from "./told-tickets.ts";

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
export async function changeBalance(lease: Lease, order: BalanceOrder, told: ToldTickets): Promise<MoneyOutcome> {
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
  const exchanged = await lease.call({ method: "POST", path: "trade/balance", query }, { mayWrite });
  return await believed(classifyCommandAnswer(exchanged), { exchanged, lease, told });
}

type Circumstances = { readonly exchanged: Exchanged; readonly lease: Lease; readonly told: ToldTickets };

/**
 * HTTP does not say which command an answer belongs to, and one that was sent twice is read as the next command's. So a
 * ticket counts once, and a refusal counts when nothing stands behind it: the true answer may say that it was executed.
 */
async function believed(outcome: MoneyOutcome, { exchanged, lease, told }: Circumstances): Promise<MoneyOutcome> {
  switch (outcome.kind) {
    case "applied":
      return told.isFirst(outcome.ticket) ? outcome : { kind: "unknown", reason: "contradictory" };
    case "refused": {
      const isLastWord = exchanged.kind === "answered" && !exchanged.answer.keepsAlive;
      if (isLastWord || (await lease.isInStep())) return outcome;
      return { kind: "unknown", reason: "contradictory", code: outcome.code };
    }
    default:
      return outcome;
  }
}
