import { column, type Fragment, fragment, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { type Check, CHECK_EVERY_MS, type Finding, inSnapshot, type PendingBreak } from "#kernel/reconcile/check.ts";
import { MAX_OPEN_ROWS, type Page, selectIds } from "#kernel/reconcile/table-walk.ts";
import { type Examination, type Examined, walkTables } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";
import { listBrokenPairs, listPairsFrom, type PairName, recordMarks } from "./find-pairs.ts";
import { CREDIT, listBrokenPayments, listOrphanCredits, PAYMENT } from "./find-payments.ts";
import { listBrokenRuns, listPaidTwice, RUN, TWICE } from "./find-runs.ts";

const TABLES = {
  // Each is examined with all its payments; a large pool has thousands.
  run: { name: "fee_run", rows: fragment`fee_run`, id: fragment`id`, pageRows: 100 },
  payment: { name: "fee_payment", rows: fragment`fee_payment`, id: fragment`id` },
  credit: { name: "payment_credit", rows: fragment`payment_credit`, id: fragment`id` },
};
/** The parts of a cursor: that of the tables, that of the pairs, and which of the two have ended their pass. */
const SEPARATOR = "\n";
const TABLES_ENDED = "t";
const PAIRS_ENDED = "p";

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
      const [tables = "", pairs = "", ended = ""] = cursor.split(SEPARATOR);
      const walk = await walkTables(
        { pool, tables: TABLES, everyMs: CHECK_EVERY_MS, examine },
        { cursor: tables, pendingBreaks },
      );
      const scan = await scanPairs(pool, pairs, pendingBreaks);
      const haveEnded = {
        [TABLES_ENDED]: walk.endsPass || ended.includes(TABLES_ENDED),
        [PAIRS_ENDED]: scan.next === "" || ended.includes(PAIRS_ENDED),
      };
      const endsPass = Object.values(haveEnded).every(Boolean);
      const names = Object.entries(haveEnded).flatMap(([name, hasEnded]) => (hasEnded && !endsPass ? [name] : []));
      return {
        ...walk,
        findings: [...walk.findings, ...scan.findings],
        nextCursor: [walk.nextCursor, scan.next, names.join("")].join(SEPARATOR),
        endsPass,
      };
    },
  };
}

async function examine(
  db: Queryable,
  pages: Readonly<Record<keyof typeof TABLES, Page>>,
  { broken, open }: Examination,
): Promise<Examined<keyof typeof TABLES>> {
  const closed = await listClosedRuns(db, open("run"));
  const runs = selectIds(pages.run, [...broken(RUN), ...broken(TWICE), ...closed]);
  const paid = selectIds(pages.payment, [...broken(PAYMENT), ...open("payment")]);
  const credits = selectIds(pages.credit, broken(CREDIT));
  const findings = [
    ...(await listBrokenRuns(db, runs)),
    ...(await listPaidTwice(db, runs)),
    ...(await listBrokenPayments(db, paid)),
    ...(await listOrphanCredits(db, credits)),
  ];
  const openRuns = await listOpenRuns(db, selectIds(pages.run, open("run")));
  return { findings, open: { run: openRuns, payment: await listOpenPayments(db, paid) } };
}

/** A slice of all pairs of Investor and Master, and those with a break that is not closed. */
async function scanPairs(
  pool: Pool,
  after: PairName,
  pendingBreaks: readonly PendingBreak[],
): Promise<{ readonly findings: readonly Finding[]; readonly next: PairName }> {
  const { pairs, next, findings } = await inSnapshot(pool, async (db) => {
    const listed = await listPairsFrom(db, after, pendingBreaks);
    return { ...listed, findings: await listBrokenPairs(db, listed.pairs) };
  });
  await recordMarks(pool, pairs);
  return { findings, next };
}

/** A run is examined again when its last payment is settled. */
function listClosedRuns(db: Queryable, runs: readonly bigint[]): Promise<bigint[]> {
  return column<bigint>(db, sql`select id from fee_run where open_count = 0 and id = any (${runs}::bigint[])`);
}

function listOpenRuns(db: Queryable, runs: Fragment): Promise<bigint[]> {
  return column<bigint>(
    db,
    sql`select id from fee_run where open_count > 0 and id in ${runs} order by id limit ${MAX_OPEN_ROWS + 1}`,
  );
}

/** Payments that are not settled. */
function listOpenPayments(db: Queryable, paid: Fragment): Promise<bigint[]> {
  return column<bigint>(
    db,
    sql`select id
        from fee_payment
        where status in ('PENDING', 'EXECUTING') and id in ${paid}
        order by id
        limit ${MAX_OPEN_ROWS + 1}`,
  );
}
