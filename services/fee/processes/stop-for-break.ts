import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { lockUndecidedCase, openCase, type NewCase, renewCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { stopForBreak as markStopped } from "../store/masters.ts";
import { hasCaseAbout } from "../store/stop-cases.ts";

/** Prefix of the subject of every break review; the login of the Master follows. */
const BREAK = "break:";
/** Mismatches shown in a review; ListBreaks has all of them. */
const MAX_SHOWN = 20;

/** A mismatch, as the review shows it. */
export type Mismatch = {
  /** The check or log entry that found it, and its message. */
  readonly reason: string;
  /** The account with the mismatch. */
  readonly account: string;
  /** Cents, never negative; undefined while it is not computed. */
  readonly atRisk: bigint | undefined;
  readonly dealIds: readonly bigint[];
  readonly operationIds: readonly string[];
  /** The compared values, as JSON. */
  readonly compared: unknown;
};

type Shown = {
  readonly reason: string;
  readonly account: string;
  readonly at_risk_minor: string | null;
  readonly deal_ids: readonly string[];
  readonly operation_ids: readonly string[];
  readonly compared: unknown;
};
type Evidence = { readonly why: string; readonly deal_ids: readonly string[]; readonly breaks: readonly Shown[] };

/**
 * Stops the fees of a Master until the manual review is decided. A further mismatch is added to an undecided review, which
 * voids its proposal: both approvals must be for the same evidence. The case is locked before the Master, as in decideReview.
 */
export async function stopForBreak(
  tx: Transaction,
  { log, now }: Pick<Deps, "log" | "now">,
  login: string,
  seen: Mismatch,
): Promise<void> {
  let reviewCase = await lockUndecidedCase(tx, BREAK + login);
  const { reason } = seen;
  if (reviewCase === undefined && (await markStopped(tx, login, reason))) {
    await openCase(tx, newCaseOf(login, [shown(seen)]), now());
    return afterCommit(tx, () => log.error("fees of Master stopped, manual review required", { login, reason }));
  }
  // Another transaction may have stopped it since, because of another break.
  reviewCase ??= await lockUndecidedCase(tx, BREAK + login);
  if (reviewCase !== undefined) await extendCase(tx, reviewCase, seen, now());
}

/** Whether a review already shows one of the deals: a deal found by the log and by a check is reviewed once. */
export async function isKnown(tx: Transaction, login: string, dealIds: readonly bigint[]): Promise<boolean> {
  return dealIds.length > 0 && (await hasCaseAbout(tx, BREAK + login, dealIds));
}

async function extendCase(tx: Transaction, reviewCase: ReviewCase, seen: Mismatch, at: Date): Promise<void> {
  const { breaks } = JSON.parse(reviewCase.evidence) as Evidence;
  if (breaks.length >= MAX_SHOWN) return;
  await renewCase(tx, reviewCase, newCaseOf(reviewCase.login, [...breaks, shown(seen)]), at);
}

function newCaseOf(login: string, breaks: readonly Shown[]): NewCase {
  const evidence: Evidence = {
    why: breaks[0]?.reason ?? "",
    deal_ids: [...new Set(breaks.flatMap((each) => each.deal_ids))],
    breaks,
  };
  const atRisk = breaks.reduce((sum, each) => sum + BigInt(each.at_risk_minor ?? 0), 0n);
  return {
    subject: BREAK + login,
    reason: "fees_do_not_tie",
    login,
    amount: atRisk === 0n ? undefined : atRisk,
    dealId: BigInt(evidence.deal_ids[0] ?? 0),
    evidence,
    actions: ["resume"],
  };
}

function shown({ reason, account, atRisk, dealIds, operationIds, compared }: Mismatch): Shown {
  return {
    reason,
    account,
    at_risk_minor: atRisk === undefined ? null : String(atRisk),
    deal_ids: dealIds.map(String),
    operation_ids: operationIds,
    compared,
  };
}
