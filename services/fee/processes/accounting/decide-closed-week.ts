import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { JournalPart } from "../../domain/journal.ts";
import { decideWeek, type Week, type WeekPair } from "../../domain/weeks.ts";
import { type Pair, savePairs } from "../../store/pairs.ts";
import { extendRun } from "../../store/runs.ts";
import { type Books, changedPairs, openBooks, type Opening } from "./open-books.ts";
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
 * The books of the Investors of a page, with all results before the week. Undefined when there are too many for this transaction,
 * which then saves what it has added, and the next one continues. The Master must be locked, and all entries before the week are recorded.
 */
export async function openWeek(
  tx: Transaction,
  { masterLogin, number, cutOff: at }: Pick<ClosedWeek, "masterLogin" | "number" | "cutOff">,
  holdings: readonly JournalPart[],
  opening: Opening,
): Promise<Books[] | undefined> {
  const investorLogins = [...new Set(holdings.map(({ investorLogin }) => investorLogin))];
  // A pair that is folded and not decided yet must not be beyond the last recorded entry.
  const throughNumber = number - 1n;
  const opened = await openBooks(
    tx,
    investorLogins.map((investorLogin) => ({ investorLogin, masterLogin, throughNumber, at })),
    opening,
  );
  if (opened.every(({ isFolded }) => isFolded)) return opened;
  await savePairs(tx, changedPairs(opened));
  return undefined;
}

/**
 * Decides a week as of its own end, for the Investors of the pool in the sequence of the journal. All pages have one run. The
 * Master must be locked.
 */
export async function decideClosedWeek(
  tx: Transaction,
  week: ClosedWeek,
  page: WeekPage & { readonly books: readonly Books[] },
  at: Date,
): Promise<void> {
  const { masterLogin, periodStart, cutOff: periodEnd, markedAt } = week;
  const investors = await decideHoldings(tx, week, page);
  const run = { kind: "WEEKLY", masterLogin, key: undefined, periodStart, periodEnd, markedAt } as const;
  const due: RunDue = { run: { ...run, isDecided: page.isLast }, suffix: SUFFIX, investors };
  const runId = page.isContinued ? await extendRun(tx, { ...due.run, payments: countDue(due) }) : undefined;
  if (runId === undefined) await recordDue(tx, [due], at);
  else await recordPayments(tx, [{ ...due, runId }], at);
}

async function decideHoldings(
  tx: Transaction,
  week: ClosedWeek,
  { holdings, books: opened }: WeekPage & { readonly books: readonly Books[] },
): Promise<InvestorDue[]> {
  const floating = new Map(holdings.map((holding) => [holding.investorLogin, holding.floating]));
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
      const at = crystallisedAt(pair, earnings, week.cutOff);
      saved.push({ ...pair, foldedNumber: week.number, earnings, crystallisedAt: at });
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
  const { earnings, crystallisedAt: since } = pair;
  return { investorLogin, earnings, debts, versions: terms?.versions ?? [], floating, since };
}

function crystallisedAt(before: Pair, after: Pair["earnings"], at: Date): Date | undefined {
  return after.mark === before.earnings.mark ? before.crystallisedAt : at;
}
