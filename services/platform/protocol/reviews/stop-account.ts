import { moneyFromProto } from "#kernel/contract/money.ts";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import { lockUndecidedCase, type NewCase, openCase, renewCase } from "#kernel/review/cases.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import type { Deps } from "../../deps.ts";
import { ACCOUNT_STOPPED, DATABASE_BEHIND, reviewActions } from "../../domain/review-actions.ts";
import { legNumber } from "../../domain/leg-number.ts";
import { stopAccount } from "../../store/account-stops.ts";
import { readClock } from "../../store/clock.ts";
import { lockAccountAndLeg, recordEvent } from "../record.ts";
import { stopAllPermits } from "./stop-for-lost-commits.ts";

/** Prefix of the subject of the review; the login follows. */
const SUBJECT = `${ACCOUNT_STOPPED}:`;
/** Breaks that a review shows; ListBreaks has all of them. */
const MAX_SHOWN = 20;

type Shown = {
  readonly check: string;
  readonly message: string;
  readonly deal_ids: readonly string[];
  readonly compared: Readonly<Record<string, unknown>>;
};
/** `transfers` are accepted when the review is decided: they are no break any more. */
type Evidence = { readonly why: string; readonly transfers: readonly string[]; readonly breaks: readonly Shown[] };

/**
 * Stops an account for a break until operators decide. A further break is added to an undecided review, which voids its proposal:
 * both approvals must be for the same evidence. The case is locked before the account, as in decideReview.
 */
export async function stopForBreak(
  tx: Transaction,
  { log, settings: { server } }: Pick<Deps, "log" | "settings">,
  login: string,
  found: Break,
): Promise<void> {
  await openOrExtend(tx, login, found, new Date(await readClock(tx)));
  await stopAccount(tx, login, `${found.check}: ${found.message}`);
  await refuseUnsent(tx, server, login, found);
  if (resumedPermits(found)) await stopAllPermits(tx, { login, evidence: { why: found.message } });
  const { message: reason } = found;
  afterCommit(tx, () => log.error("account stopped, manual review required", { login, reason }));
}

/** Whether the break is a decision, without valid votes, to grant permits again. */
function resumedPermits({ evidence }: Break): boolean {
  return (JSON.parse(evidence) as { readonly reason?: unknown }).reason === DATABASE_BEHIND;
}

async function openOrExtend(tx: Transaction, login: string, found: Break, at: Date): Promise<void> {
  const known = await lockUndecidedCase(tx, SUBJECT + login);
  if (known !== undefined) {
    const { breaks, transfers } = JSON.parse(known.evidence) as Evidence;
    return await renewCase(tx, known, newCaseOf(login, breaks, found, transfers), at);
  }
  const opened = await openCase(tx, newCaseOf(login, [], found), at);
  // Another replica has opened it meanwhile, because of another break.
  if (opened === undefined) await openOrExtend(tx, login, found, at);
}

function newCaseOf(login: string, breaks: readonly Shown[], found: Break, transfers: readonly string[] = []): NewCase {
  const compared = JSON.parse(found.evidence) as Shown["compared"];
  const shown = [
    ...breaks,
    { check: found.check, message: found.message, deal_ids: found.dealIds.map(String), compared },
  ];
  const { transfer_id: transferId } = compared;
  const evidence: Evidence = {
    why: shown[0]?.message ?? "",
    transfers: typeof transferId === "string" ? [...new Set([...transfers, transferId])] : transfers,
    breaks: shown.slice(0, MAX_SHOWN),
  };
  return {
    subject: SUBJECT + login,
    reason: ACCOUNT_STOPPED,
    login,
    amount: moneyFromProto(found.atRisk).minor,
    dealId: found.dealIds[0],
    evidence,
    actions: reviewActions(ACCOUNT_STOPPED, undefined),
  };
}

/** What was not sent of a transfer that no service requested is never sent, also when operators resume the account. */
async function refuseUnsent(tx: Transaction, server: string, login: string, { operationIds }: Break): Promise<void> {
  for (const id of operationIds) {
    const locked = await lockAccountAndLeg(tx, login, legNumber(BigInt(id)));
    const { status, ordinal } = locked.leg;
    if (locked.leg.login !== login || ordinal !== 1 || status.state !== "INTENT" || status.attempt > 0) continue;
    await recordEvent(tx, locked, { type: "given_up", reason: "decided" }, { server });
  }
}
