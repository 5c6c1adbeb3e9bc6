import { type Check, inSnapshot, CHECK_EVERY_MS } from "#kernel/reconcile/check.ts";
import { idsOf, nextCursor, ROWS_PER_RUN } from "#kernel/reconcile/rows-per-run.ts";
import { type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { CREDIT, listBrokenPayments, listOrphanCredits, PAYMENT } from "./find-payments.ts";
import { listBrokenRuns, listPaidTwice, listRunsToExamine, RUN, FEE_RUNS_PER_RUN, TWICE } from "./find-runs.ts";
import { listBrokenPairs, listPairsFrom, recordMarks } from "./find-pairs.ts";

type Cursors = { readonly runs: bigint; readonly payments: bigint; readonly credits: bigint; readonly pair: string };

/**
 * fee_payments. Fee runs equal their payments, each executed payment has one credit and each credit one payment, no Investor
 * pays twice for one week, and no high-water mark decreases. All rows are committed together, so one snapshot is enough.
 */
export function payments({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "fee_payments",
    title:
      "Fee runs equal their payments, payments equal their credits, no week is charged twice, and no high-water mark decreases.",
    everyMs: CHECK_EVERY_MS,
    confirmations: 1,
    async run({ cursor, pendingBreaks }) {
      const from = cursorsOf(cursor);
      const ids = (kind: string): bigint[] => idsOf(pendingBreaks, kind);
      const { findings, pairs, next } = await inSnapshot(pool, async (db) => {
        const scanned = await listPairsFrom(db, from.pair, pendingBreaks);
        const runs = await listRunsToExamine(db, { after: from.runs, again: [...ids(RUN), ...ids(TWICE)] });
        const found = [
          ...(await listBrokenRuns(db, runs)),
          ...(await listPaidTwice(db, runs)),
          ...(await listBrokenPayments(db, { after: from.payments, again: ids(PAYMENT) })),
          ...(await listOrphanCredits(db, { after: from.credits, again: ids(CREDIT) })),
          ...(await listBrokenPairs(db, scanned.pairs)),
        ];
        return { findings: found, pairs: scanned.pairs, next: await cursorsAfter(db, from, scanned.next) };
      });
      await recordMarks(pool, pairs);
      return { findings, covers: () => true, nextCursor: next };
    },
  };
}

function cursorsOf(cursor: string): Cursors {
  const [runs = "0", paid = "0", credits = "0", pair = ""] = cursor.split(" ");
  return { runs: BigInt(runs || 0), payments: BigInt(paid), credits: BigInt(credits), pair };
}

/** A table whose end was reached stays there until the ends of all tables were reached: then the full pass ends. */
async function cursorsAfter(db: Queryable, from: Cursors, pair: string): Promise<string> {
  const [skip, skipRuns] = [ROWS_PER_RUN - 1, FEE_RUNS_PER_RUN - 1];
  const runs = await nextCursor(
    db,
    sql`select id from fee_run where id > ${from.runs} order by id offset ${skipRuns} limit 1`,
  );
  const paid = await nextCursor(
    db,
    sql`select id from fee_payment where id > ${from.payments} order by id offset ${skip} limit 1`,
  );
  const credits = await nextCursor(
    db,
    sql`select id from payment_credit where id > ${from.credits} order by id offset ${skip} limit 1`,
  );
  if (runs === "" && paid === "" && credits === "" && pair === "") return "";
  return [runs || from.runs, paid || from.payments, credits || from.credits, pair || from.pair].join(" ");
}
