import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { JournalPart } from "../../domain/journal.ts";
import { decideWeek, type Week, type WeekPair } from "../../domain/weeks.ts";
import { type Pair, savePairs } from "../../store/pairs.ts";
import { extendRun } from "../../store/runs.ts";
import { type Books, openBooks } from "./open-books.ts";
import { countDue, type InvestorDue, recordDue, recordPayments, type RunDue } from "./record-due.ts";

const SUFFIX = "W";

export type ClosedWeek = Week & { readonly number: bigint };

/** The Investors of a closed week that one transaction decides. */
export type WeekPage = {
  readonly holdings: readonly JournalPart[];
  /** Other Investors of the week are decided already. */
  readonly isContinued: boolean;
  /** No Investors of the week remain. */
  readonly isLast: boolean;
};

/**
 * Decides a week as of its own end, for the Investors of the pool in the sequence of the journal. All pages have one run. The
 * Master must be locked.
 */
export async function decideClosedWeek(tx: Transaction, week: ClosedWeek, page: WeekPage, at: Date): Promise<void> {
  const { masterLogin, periodStart, cutOff: periodEnd, markedAt } = week;
  const investors = await decideHoldings(tx, week, page.holdings);
  const run = { kind: "WEEKLY", masterLogin, key: undefined, periodStart, periodEnd, markedAt } as const;
  const due: RunDue = { run: { ...run, isDecided: page.isLast }, suffix: SUFFIX, investors };
  const runId = page.isContinued ? await extendRun(tx, { ...due.run, payments: countDue(due) }) : undefined;
  if (runId === undefined) await recordDue(tx, [due], at);
  else await recordPayments(tx, [{ ...due, runId }], at);
}

async function decideHoldings(
  tx: Transaction,
  week: ClosedWeek,
  holdings: readonly JournalPart[],
): Promise<InvestorDue[]> {
  const { masterLogin, number: throughNumber } = week;
  const floating = new Map(holdings.map((holding) => [holding.investorLogin, holding.floating]));
  const opened = await openBooks(
    tx,
    [...floating.keys()].map((investorLogin) => ({ investorLogin, masterLogin, throughNumber })),
  );
  const books = new Map(opened.map((own) => [own.investorLogin, own]));
  const decided = decideWeek(
    week,
    opened.map((own) => weekPair(own, floating.get(own.investorLogin) ?? 0n)),
  );
  const saved: Pair[] = [];
  const chargeable: InvestorDue[] = [];
  for (const { investorLogin, earnings, due } of decided) {
    const { pair, terms } = books.get(investorLogin) ?? {};
    if (pair !== undefined) {
      saved.push({ ...pair, earnings, crystallisedAt: crystallisedAt(pair, earnings, week.cutOff) });
    }
    if (due.length > 0 && terms !== undefined) {
      chargeable.push({ investorLogin, investorId: terms.investorId, due });
    }
  }
  await savePairs(tx, saved);
  return chargeable;
}

function weekPair({ investorLogin, pair, debts, terms }: Books, floating: bigint): WeekPair {
  if (pair === undefined) throw new Error(`Investor ${investorLogin} was in the pool and has no pair.`);
  return { investorLogin, earnings: pair.earnings, debts, versions: terms?.versions ?? [], floating };
}

function crystallisedAt(before: Pair, after: Pair["earnings"], at: Date): Date | undefined {
  return after.mark === before.earnings.mark ? before.crystallisedAt : at;
}
