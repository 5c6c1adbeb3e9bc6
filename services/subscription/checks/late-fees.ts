import { HOUR_MS } from "#kernel/duration.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { type Check, described, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";

/** The fees of a week are usually decided within minutes, also those of a large pool. */
const LATE_AFTER_MS = HOUR_MS;
/** Tries in a row, over minutes, after which a decision that `fee` has not recorded is a break. */
const MIN_TRIES = 20;

type Row = { readonly master: string; readonly since: Date; readonly reason: string | null };

/** undecided_fees: the fees of closed weeks are decided, and `fee` has recorded what is decided. */
export function lateFees({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...described("undecided_fees"),
    async run() {
      const findings = await inSnapshot(pool, async (db) => [
        ...(await listUndecided(db)).map(undecided),
        ...(await listUnrecorded(db)).map(unrecorded),
      ]);
      return { findings, covers: () => true, nextCursor: "", endsPass: true };
    },
  };
}

function listUndecided(db: Queryable): Promise<Row[]> {
  return many<Row>(
    db,
    sql`select week.master_login as master, min(entry.created_at) as since, min(week.reason) as reason
        from open_week as week
             join allocation_entry as entry on entry.master_login = week.master_login and entry.number = week.number
        where entry.created_at < clock_timestamp() - ${LATE_AFTER_MS} * interval '1 millisecond'
        group by week.master_login
        order by week.master_login
        limit ${MAX_FINDINGS}`,
  );
}

function listUnrecorded(db: Queryable): Promise<Row[]> {
  return many<Row>(
    db,
    sql`select master_login as master, min(period_end) as since, min(reason) as reason
        from fee_decision
        where recorded_at is null and tries >= ${MIN_TRIES}
        group by master_login
        order by master_login
        limit ${MAX_FINDINGS}`,
  );
}

function undecided({ master, since, reason }: Row): Finding {
  const message = `Fees of a week of Master ${master} are not decided since ${since.toISOString()}.`;
  // A fee that is not decided yet is not owed.
  return { ...aboutMaster(master, `undecided:${master}`), message, evidence: { since: since.toISOString(), reason } };
}

function unrecorded({ master, since, reason }: Row): Finding {
  const message = `Decided fees of Master ${master} are not recorded by the service for fees.`;
  return { ...aboutMaster(master, `unrecorded:${master}`), message, evidence: { since: since.toISOString(), reason } };
}

/** Names no Master to stop: the work is late, not wrong, and a stop would delay it further. */
function aboutMaster(login: string, key: string) {
  return { login, masterLogin: "", key, atRiskMinor: 0n };
}
