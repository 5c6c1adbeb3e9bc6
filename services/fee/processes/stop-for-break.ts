import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import { lockUndecidedCase, type NewCase, openCase, renewCase } from "#kernel/review/cases.ts";
import type { Deps } from "../deps.ts";
import { hasCaseAbout, listMastersOfAccounts, stopForBreak as markStopped } from "../store/masters.ts";
import { callContext } from "#kernel/contract/context.ts";
import { doesStop } from "#catalogue/checks.ts";
import { listBreaks } from "#kernel/reconcile/list-breaks.ts";
import type { BreakSource } from "#kernel/reconcile/stop-on-breaks.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";

/** A page of breaks is read by an index. */
const CALL_MS = 5_000;

/**
 * A break of the books of fee, of the profit that fees follow from, or on a payment account, stops the fees of its Master and of no other. The
 * breaks of fee come first, so that they stop a Master also while another service is unreachable.
 */
export function stoppingBreaks(deps: Deps): readonly BreakSource[] {
  const { pool, platform, subscriptions } = deps;
  return [
    {
      service: "fee",
      list: (request) => listBreaks(pool, request),
      mastersOf: async (page) => page.map(({ masterLogin }) => (masterLogin === "" ? [] : [masterLogin])),
      stop: (tx, login, found) => stop(tx, deps, login, found),
    },
    {
      service: "platform",
      list: (request) => platform.listBreaks(request, callContext({ caller: "fee", withinMs: CALL_MS })),
      async mastersOf(page) {
        const accounts = page.map((found) => (doesStop(found.check, "fees") ? accountsOf(found) : []));
        const masters = Map.groupBy(await listMastersOfAccounts(pool, accounts.flat()), ({ account }) => account);
        return accounts.map((own) => own.flatMap((account) => (masters.get(account) ?? []).map(({ login }) => login)));
      },
      async stop(tx, login, found) {
        // The log of the payment account had the deal before the check found it.
        const isReviewed = found.check === "deal_matching" && (await isKnown(tx, login, found.dealIds));
        if (!isReviewed) await stop(tx, deps, login, found);
      },
    },
    {
      service: "subscription",
      list: (request) => subscriptions.listBreaks(request, callContext({ caller: "fee", withinMs: CALL_MS })),
      mastersOf: async (page) => page.map(({ check, masterLogin }) => (doesStop(check, "fees") ? [masterLogin] : [])),
      stop: (tx, login, found) => stop(tx, deps, login, found),
    },
  ];
}

/** A break names the account of the first leg; the payment account of a fee is that of the second. */
function accountsOf({ login, evidence }: Break): string[] {
  const { legs = [] } = JSON.parse(evidence) as { legs?: readonly { readonly login?: string | null }[] };
  return [login, ...legs.flatMap((leg) => leg.login ?? [])];
}

async function stop(tx: Transaction, deps: Deps, login: string, found: Break): Promise<void> {
  await stopForBreak(tx, deps, login, {
    reason: `${found.check}: ${found.message}`,
    account: found.login,
    at_risk_minor: String(found.atRisk?.minorUnits ?? 0n),
    deal_ids: found.dealIds.map(String),
    operation_ids: found.operationIds,
    compared: JSON.parse(found.evidence),
  });
}

/** Prefix of the subject of every break review; the login of the Master follows. */
const BREAK = "break:";
/** Mismatches shown in a review; ListBreaks has all of them. */
const MAX_SHOWN = 20;

/** A mismatch, as the evidence of the review has it. */
export type Mismatch = {
  /** The check or log entry that found it, and its message. */
  readonly reason: string;
  /** The account with the mismatch. */
  readonly account: string;
  /** Cents, never negative; null while it is not computed. */
  readonly at_risk_minor: string | null;
  readonly deal_ids: readonly string[];
  readonly operation_ids: readonly string[];
  /** The compared values, as JSON. */
  readonly compared: unknown;
};
type Evidence = { readonly why: string; readonly deal_ids: readonly string[]; readonly breaks: readonly Mismatch[] };

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
    await openCase(tx, newCaseOf(login, [seen]), now());
    return afterCommit(tx, () => log.error("fees of Master stopped, manual review required", { login, reason }));
  }
  // Another transaction may have stopped it since, because of another break.
  reviewCase ??= await lockUndecidedCase(tx, BREAK + login);
  if (reviewCase !== undefined) await extendCase(tx, reviewCase, seen, now());
}

/** Whether a review already shows one of the deals: a deal found by the log and by a check is reviewed once. */
async function isKnown(tx: Transaction, login: string, dealIds: readonly bigint[]): Promise<boolean> {
  return dealIds.length > 0 && (await hasCaseAbout(tx, BREAK + login, dealIds));
}

async function extendCase(tx: Transaction, reviewCase: ReviewCase, seen: Mismatch, at: Date): Promise<void> {
  const { breaks } = JSON.parse(reviewCase.evidence) as Evidence;
  if (breaks.length >= MAX_SHOWN) return;
  await renewCase(tx, reviewCase, newCaseOf(reviewCase.login, [...breaks, seen]), at);
}

function newCaseOf(login: string, breaks: readonly Mismatch[]): NewCase {
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
