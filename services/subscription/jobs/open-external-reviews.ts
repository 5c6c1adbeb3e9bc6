import { formatMinor } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";
import {
  closeCase,
  listUndecided,
  listUndecidedOf,
  lockUndecidedCase,
  openCase,
  type NewCase,
  renewCase,
} from "#kernel/review/cases.ts";
import type { Action } from "#kernel/review/catalogue.ts";
import { isUpTo, ON_INVESTOR, ON_MASTER } from "../processes/review/external-funds.ts";
import type { Deps } from "../deps.ts";
import {
  type ExternalFunds,
  type FundsPart,
  listOnInvestors,
  listOnMasters,
  resetAcknowledgedFunds,
} from "../store/external-funds.ts";
import { adoptCharges } from "../processes/adopt-external-funds.ts";

/** Accounts, and reviews, that are read at once. */
const PAGE = 1_000;

/** A kind of external funds: the prefix of the subjects of its reviews, and how it is listed. */
type Kind = {
  readonly prefix: string;
  readonly list: (db: Queryable, part: FundsPart) => Promise<readonly ExternalFunds[]>;
};

const KINDS: readonly Kind[] = [
  { prefix: ON_INVESTOR, list: listOnInvestors },
  { prefix: ON_MASTER, list: listOnMasters },
];

/**
 * Keeps a review open for external funds as long as they exist and no operator has decided. It reads the amounts, not the
 * events that brought them, so that none is missed. What is adopted by rule gets none.
 */
export async function openExternalReviews(deps: Deps): Promise<boolean> {
  await adoptCharges(deps);
  await resetAcknowledgedFunds(deps.pool);
  for (const kind of KINDS) {
    await openCases(deps, kind);
    await closeCases(deps, kind);
  }
  return false;
}

async function openCases(deps: Deps, { prefix, list }: Kind): Promise<void> {
  const { pool } = deps;
  for (let after = ""; ;) {
    const page = await list(pool, { after, limit: PAGE });
    const subjects = page.map(({ login }) => prefix + login);
    const cases = new Map((await listUndecidedOf(pool, subjects)).map((each) => [each.subject, each]));
    for (const money of page) {
      const reviewCase = cases.get(prefix + money.login);
      if (reviewCase !== undefined) await updateCase(deps, reviewCase, money);
      else await inTransaction(pool, (tx) => openCase(tx, newCaseOf(money), deps.now()));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.login;
  }
}

async function closeCases(deps: Deps, { prefix, list }: Kind): Promise<void> {
  for (let after = 0n; ;) {
    const page = await listUndecided(deps.pool, prefix, { after, limit: PAGE });
    const found = await list(deps.pool, { logins: page.map(({ login }) => login) });
    const logins = new Set(found.map(({ login }) => login));
    for (const reviewCase of page) if (!logins.has(reviewCase.login)) await updateCase(deps, reviewCase, undefined);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
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
  // A proposal is about what is there when it is confirmed: an Investor's own trades may change the amount, and results own capital.
  const mayChange = progress.state === "PROPOSED";
  return isUpTo(reviewCase, money.movedNumber) && (mayChange || amount === money.amount);
}

function subjectOf({ kind, login }: ExternalFunds): string {
  return `${kind === "investor" ? ON_INVESTOR : ON_MASTER}${login}`;
}

function newCaseOf(money: ExternalFunds): NewCase {
  const { kind, login, amount, ownCapital, masterLogin, shortfall, movedNumber, cause } = money;
  const { undecided } = money;
  return {
    subject: subjectOf(money),
    reason: kind === "investor" ? "external_funds_on_investor" : "external_funds_on_master",
    login,
    amount,
    cause,
    dealId: money.movedDealId,
    evidence: {
      master: masterLogin,
      below_zero_in_pool: formatMinor(shortfall),
      moved_log_number: String(movedNumber),
      ...(kind === "master" ? { own_capital: formatMinor(ownCapital), undecided: formatMinor(undecided) } : {}),
    },
    actions: kind === "investor" ? ["adopt", "acknowledge"] : actionsOnMaster(money),
  };
}

function actionsOnMaster({ undecided, undecidedSince, ...money }: ExternalFunds): Action[] {
  const { ownCapital, shortfall, isLacking, isAcknowledged, isMadeUp } = money;
  // What an account had before the service, entry 0 of its log, is no result of it.
  const canAllocate =
    undecided !== 0n ? undecidedSince > 0n && !isMadeUp : ownCapital < 0n ? isLacking : !isAcknowledged;
  const actions: Action[] = [];
  // Once the movements are decided, money of Investors lacks until it is paid in, or they bear it.
  if (undecided !== 0n || !isLacking) actions.push("acknowledge");
  if (canAllocate) actions.push("allocate");
  if (shortfall > 0n && ownCapital >= shortfall) actions.push("compensate_deficit");
  return actions;
}
