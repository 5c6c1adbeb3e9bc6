import { column, type Fragment, fragment, type Queryable, sql } from "#kernel/postgres/query.ts";
import { type Check, described } from "#kernel/reconcile/check.ts";
import { MAX_OPEN_ROWS, selectIds } from "#kernel/reconcile/table-walk.ts";
import { type Walk, walkTables } from "#kernel/reconcile/walk.ts";
import type { Deps } from "../deps.ts";
import { CREDIT, listBrokenPayments, listOrphanCredits, PAYMENT } from "./find-payments.ts";
import { listBrokenRuns, listPaidTwice, RUN, TWICE } from "./find-runs.ts";

const CHECK = described("fee_payments");
const TABLES = {
  // Each is examined with all its payments; a large pool has thousands.
  run: { name: "fee_run", rows: fragment`fee_run`, id: fragment`id`, pageRows: 100 },
  payment: { name: "fee_payment", rows: fragment`fee_payment`, id: fragment`id` },
  credit: { name: "payment_credit", rows: fragment`payment_credit`, id: fragment`id` },
};

/**
 * fee_payments. Fee runs equal their payments, each executed payment has one credit and each credit one payment, and no
 * Investor pays twice for one week. All rows are committed together, so one snapshot is enough.
 */
export function payments({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...CHECK,
    run: (request) => walkTables({ pool, tables: TABLES, everyMs: CHECK.everyMs, examine }, request),
  };
}

const examine: Walk<keyof typeof TABLES>["examine"] = async (db, pages, { broken, open }) => {
  const closed = await listClosedRuns(db, open("run"));
  const runs = selectIds(pages.run, [...broken(RUN), ...broken(TWICE), ...closed]);
  const paid = selectIds(pages.payment, [...broken(PAYMENT), ...open("payment")]);
  const credits = selectIds(pages.credit, broken(CREDIT));
  const found = [
    ...(await listBrokenRuns(db, runs)),
    ...(await listPaidTwice(db, runs)),
    ...(await listBrokenPayments(db, paid)),
    ...(await listOrphanCredits(db, credits)),
  ];
  const openRuns = await listOpenRuns(db, selectIds(pages.run, open("run")));
  return { findings: async () => found, open: { run: openRuns, payment: await listOpenPayments(db, paid) } };
};

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
