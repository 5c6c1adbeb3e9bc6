import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { JournalPart } from "../../domain/journal.ts";
import { decideWeek, type Week, type WeekPair } from "../../domain/weeks.ts";
import { type Pair, savePairs } from "../../store/pairs.ts";
import { type Books, openBooks } from "./open-books.ts";
import { type InvestorDue, recordDue } from "./record-due.ts";

/** Investors whose results are folded per statement; the whole pool is decided in one transaction. */
const HOLDINGS_PER_STEP = 500;
const SUFFIX = "W";

export type ClosedWeek = Week & { readonly number: bigint };

/** Decides a week as of its own end, for all Investors who were in the pool. The Master must be locked. */
export async function decideClosedWeek(
  tx: Transaction,
  week: ClosedWeek,
  holdings: readonly JournalPart[],
  at: Date,
): Promise<void> {
  // All transactions lock Investors in this sequence.
  const sorted = holdings.toSorted((left, right) => (left.investorLogin < right.investorLogin ? -1 : 1));
  const chargeable: InvestorDue[] = [];
  for (let start = 0; start < sorted.length; start += HOLDINGS_PER_STEP) {
    chargeable.push(...(await decideHoldings(tx, week, sorted.slice(start, start + HOLDINGS_PER_STEP))));
  }
  const { masterLogin, periodStart, cutOff: periodEnd, markedAt } = week;
  const run = {
    kind: "WEEKLY",
    masterLogin,
    key: undefined,
    periodStart,
    periodEnd,
    markedAt,
    suffix: SUFFIX,
  } as const;
  await recordDue(tx, run, chargeable, at);
}

async function decideHoldings(
  tx: Transaction,
  week: ClosedWeek,
  holdings: readonly JournalPart[],
): Promise<InvestorDue[]> {
  const { masterLogin, number: throughNumber } = week;
  const floating = new Map(holdings.map((holding) => [holding.investorLogin, holding.floating]));
  const opened = await openBooks(tx, { masterLogin, throughNumber }, [...floating.keys()]);
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
