import type { Clock } from "#kernel/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { type DecidedDue, decideLeaving } from "../../domain/due.ts";
import { NOTHING_EARNED } from "../../domain/layers.ts";
import { safetyStop } from "../../domain/safety-stop.ts";
import type { StepSizes } from "../../domain/step-sizes.ts";
import {
  completeCrystallisations,
  insertCrystallisations,
  type NewCrystallisation,
  withdrawCrystallisations,
} from "../../store/crystallisations.ts";
import { listOpenWeekly } from "../../store/due-payments.ts";
import { lockWithOwed } from "../../store/masters.ts";
import { type Pair, savePairs } from "../../store/pairs.ts";
import { requireKnownFees, type Searching } from "../lost-fees/require-known-fees.ts";
import { workTogether } from "../together.ts";
import { type Books, changedPairs, openBooks, type Opening } from "./open-books.ts";
import { recordDue, type RunDue } from "./record-due.ts";

/** Length of the period of a run without a known start; the period of a run must not be empty. */
const MIN_PERIOD_MS = 1;

export type RequestedCrystallisation = NewCrystallisation & {
  /** Last part of the unique keys of the payments. */
  readonly suffix: string;
  readonly periodStart: Date | undefined;
  /** It was decided before, and lost. */
  readonly isRepeated?: boolean;
};

/**
 * "decided": by this call or by an earlier one with the same key. "unread": the allocations of the Master are not read that far.
 * "folded": the Investor has more results than one transaction adds; some were added, and the same request continues.
 */
export type Decided = { readonly kind: "decided" | "unread" | "folded" };

type Decider = { readonly pool: Pool; readonly now: Clock; readonly steps: StepSizes } & Searching;

/**
 * Decides what some Investors owe, in one commit; the Investors are distinct. A key that is decided already stays as it is.
 * Nothing new is decided for a stopped Master.
 */
export async function crystalliseTogether(
  decider: Decider,
  requested: readonly RequestedCrystallisation[],
): Promise<(Decided | Error)[]> {
  const { pool, now, steps } = decider;
  return await workTogether(requested, (own) =>
    inTransaction(pool, async (tx) => {
      await requireKnownFees(tx, decider);
      return await decideOnce(tx, own, now(), steps.results);
    }),
  );
}

async function decideOnce(
  tx: Transaction,
  requested: readonly RequestedCrystallisation[],
  at: Date,
  maxResults: number,
): Promise<(Decided | Error)[]> {
  const masters = await lockWithOwed(
    tx,
    requested.flatMap(({ masterLogin }) => masterLogin ?? []),
    {
      investorLogins: requested.map(({ investorLogin }) => investorLogin),
      // Then each is decided alone: a busy Master delays only those who owe fees to it.
      whenBusy: requested.length === 1 ? "wait" : "fail",
    },
  );
  const isStopped = ({ masterLogin = "" }: RequestedCrystallisation): boolean =>
    masters.get(masterLogin)?.breakReason !== undefined;
  const isRead = ({ masterLogin, throughNumber }: RequestedCrystallisation): boolean =>
    masterLogin === undefined || (masters.get(masterLogin)?.read.number ?? -1n) >= throughNumber;
  const inserted = await insertCrystallisations(
    tx,
    requested.filter((each) => !isStopped(each) && isRead(each)),
    at,
  );
  const undecided = await decide(
    tx,
    requested.filter(({ key, investorLogin }) => inserted.get(key) === investorLogin),
    { at, masters, maxResults },
  );
  return requested.map((each) => {
    if (isStopped(each)) return safetyStop(each.masterLogin ?? "", "break");
    if (!isRead(each)) return { kind: "unread" };
    return { kind: undecided.has(each.key) ? "folded" : "decided" };
  });
}

/** Returns the keys of those that have further results to add before they can be decided. */
async function decide(
  tx: Transaction,
  requested: readonly RequestedCrystallisation[],
  { at, ...opening }: Opening & { readonly at: Date },
): Promise<ReadonlySet<string>> {
  if (requested.length === 0) return new Set();
  const books = await openBooks(tx, requested, opening);
  const opened = requested.map((own, index) => ({ own, books: books[index] as Books }));
  const undecided = opened.filter(({ books: { isFolded } }) => !isFolded);
  const keys = undecided.map(({ own }) => own.key);
  if (undecided.length > 0) {
    await savePairs(tx, changedPairs(undecided.map(({ books: own }) => own)));
    await withdrawCrystallisations(tx, keys);
  }
  await decideFolded(
    tx,
    opened.filter(({ books: { isFolded } }) => isFolded),
    at,
  );
  return new Set(keys);
}

type Opened = { readonly own: RequestedCrystallisation; readonly books: Books };

async function decideFolded(tx: Transaction, opened: readonly Opened[], at: Date): Promise<void> {
  if (opened.length === 0) return;
  const weekly = await listOpenWeekly(
    tx,
    opened.map(({ own: { investorLogin } }) => investorLogin),
  );
  const decided = opened.map(({ own, books }) => ({ own, books, ...decideInvestor(own, books) }));
  await savePairs(
    tx,
    decided.flatMap(({ own, books: { pair }, earnings }) =>
      pair === undefined ? [] : [{ ...pair, ...crystallised(own, pair, earnings) }],
    ),
  );
  const inserted = await recordDue(
    tx,
    decided.map(({ own, books, due }) => runOf(own, books, due)),
    at,
  );
  await completeCrystallisations(
    tx,
    decided.map(({ own: { key, investorLogin } }, index) => {
      const due = inserted[index] ?? [];
      // What imported fees had paid is not pending.
      const items = [...(weekly.get(investorLogin) ?? []), ...due.filter((payment) => payment.due > 0n)];
      return {
        key,
        pending: due.reduce((sum, payment) => sum + payment.due, 0n),
        items: items.map(({ id, due: amount }) => ({ paymentId: id, amount })),
      };
    }),
  );
}

function decideInvestor(
  { masterLogin, throughNumber, at }: RequestedCrystallisation,
  { pair, debts, terms }: Books,
): DecidedDue {
  const earnings = pair?.earnings ?? NOTHING_EARNED;
  const versions = terms?.versions ?? [];
  return decideLeaving({ masterLogin, earnings, versions, debts, throughNumber, since: pair?.crystallisedAt, at });
}

function crystallised({ at }: RequestedCrystallisation, before: Pair, earnings: DecidedDue["earnings"]) {
  return { earnings, crystallisedAt: earnings.mark === before.earnings.mark ? before.crystallisedAt : at };
}

function runOf(
  { key, masterLogin, at, periodStart, suffix }: RequestedCrystallisation,
  { investorLogin, pair, terms }: Books,
  due: DecidedDue["due"],
): RunDue {
  const starts = [pair?.crystallisedAt, periodStart].filter((start) => start !== undefined && start < at);
  const latest = starts.reduce<Date | undefined>(
    (left, right) => (left === undefined || (right !== undefined && right > left) ? right : left),
    undefined,
  );
  return {
    run: {
      kind: "ON_DEMAND",
      key,
      masterLogin: masterLogin ?? due[0]?.masterLogin ?? "",
      periodStart: latest ?? new Date(at.getTime() - MIN_PERIOD_MS),
      periodEnd: at,
      markedAt: undefined,
      isDecided: true,
    },
    suffix,
    investors: terms === undefined ? [] : [{ investorLogin, investorId: terms.investorId, due }],
  };
}
