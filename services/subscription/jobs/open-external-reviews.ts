import { formatDecimal, usd } from "#kernel/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import {
  closeCase,
  listUndecided,
  lockUndecidedCase,
  openCase,
  type NewCase,
  renewCase,
} from "#kernel/review/cases.ts";
import { isProposedFor, isUpTo, ON_INVESTOR, ON_MASTER } from "../processes/review/external-funds.ts";
import type { Deps } from "../deps.ts";
import { type ExternalFunds, resetAcknowledgedFunds, listExternalFunds } from "../store/external-funds.ts";

/** Reviews of one kind per run; further external funds get a review after operators have decided some of these. */
const CASES_PER_RUN = 1_000;

/**
 * Keeps a review open for external funds as long as they exist and no operator has decided. It reads the amounts, not the
 * events that brought them, so that none is missed.
 */
export async function openExternalReviews(deps: Deps): Promise<boolean> {
  const { pool } = deps;
  await resetAcknowledgedFunds(pool);
  const wanted = new Map((await listExternalFunds(pool, CASES_PER_RUN)).map((money) => [subjectOf(money), money]));
  const cases = [
    ...(await listUndecided(pool, ON_INVESTOR, CASES_PER_RUN)),
    ...(await listUndecided(pool, ON_MASTER, CASES_PER_RUN)),
  ];
  // When a run cannot read all external funds, a case without funds in this run may belong to funds that were not read.
  const isWhole = wanted.size < CASES_PER_RUN;
  for (const reviewCase of cases) {
    const money = wanted.get(reviewCase.subject);
    if (money !== undefined || isWhole) await updateCase(deps, reviewCase, money);
    wanted.delete(reviewCase.subject);
  }
  for (const money of wanted.values()) {
    await inTransaction(pool, (tx) => openCase(tx, newCaseOf(money), deps.now()));
  }
  return false;
}

async function updateCase(deps: Deps, reviewCase: ReviewCase, money: ExternalFunds | undefined): Promise<void> {
  if (money !== undefined && isSame(reviewCase, money)) return;
  await inTransaction(deps.pool, async (tx) => {
    const locked = await lockUndecidedCase(tx, reviewCase.subject);
    if (locked === undefined) return;
    if (money === undefined) await closeCase(tx, locked, deps.now());
    // It may have been proposed since, for what is there now.
    else if (!isSame(locked, money)) await renewCase(tx, locked, newCaseOf(money), deps.now());
  });
}

function isSame(reviewCase: ReviewCase, money: ExternalFunds): boolean {
  const { amount, actions, progress } = reviewCase;
  if (actions.join() !== newCaseOf(money).actions.join()) return false;
  if (money.kind === "master") return amount === money.amount && isUpTo(reviewCase, money.movedNumber);
  return isProposedFor(reviewCase, money) && (progress.state === "PROPOSED" || amount === money.amount);
}

function subjectOf({ kind, login }: ExternalFunds): string {
  return `${kind === "investor" ? ON_INVESTOR : ON_MASTER}${login}`;
}

function newCaseOf(money: ExternalFunds): NewCase {
  const { kind, login, amount, ownCapital, masterLogin, shortfall, movedNumber, undecided, undecidedSince } = money;
  const canCompensate = shortfall > 0n && ownCapital >= shortfall;
  return {
    subject: subjectOf(money),
    reason: kind === "investor" ? "external_funds_on_investor" : "external_funds_on_master",
    login,
    amount,
    dealId: money.movedDealId,
    evidence: {
      master: masterLogin,
      below_zero_in_pool: formatDecimal(usd(shortfall)),
      moved_log_number: String(movedNumber),
      ...(kind === "master"
        ? { own_capital: formatDecimal(usd(ownCapital)), undecided: formatDecimal(usd(undecided)) }
        : {}),
    },
    actions:
      kind === "investor"
        ? ["adopt", "acknowledge"]
        : [
            "acknowledge",
            // What an account had before the service, entry 0 of its log, is no result of it.
            ...(undecided !== 0n && undecidedSince > 0n ? ["allocate"] : []),
            ...(canCompensate ? ["compensate_deficit"] : []),
          ],
  };
}
