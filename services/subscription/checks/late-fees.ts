import { HOUR_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { type Check, findsAll, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";

/** The fees of a week are usually decided within minutes, also those of a large pool. */
const LATE_AFTER_MS = HOUR_MS;
/** Tries in a row, over minutes, after which a decision that `fee` has not recorded is a break. */
const MIN_TRIES = 20;

type Row = {
  readonly kind: "undecided" | "unrecorded";
  readonly master: string;
  readonly since: Date;
  readonly reason: string | null;
};

/** undecided_fees: the fees of closed weeks are decided, and `fee` has recorded what is decided. */
export function lateFees({ pool }: Pick<Deps, "pool">): Check {
  return findsAll("undecided_fees", async () => (await many<Row>(pool, lateWork())).map(findingOf));
}

function lateWork() {
  return sql`
    with late as (
      select 'undecided' as kind, week.master_login as master, entry.created_at as since, week.reason
      from open_week as week
           join allocation_entry as entry on entry.master_login = week.master_login and entry.number = week.number
      where entry.created_at < clock_timestamp() - ${LATE_AFTER_MS} * interval '1 millisecond'
      union all
      select 'unrecorded', master_login, period_end, reason
      from fee_decision
      where recorded_at is null and tries >= ${MIN_TRIES}
    )
    select kind, master, min(since) as since, min(reason) as reason
    from late
    group by kind, master
    order by kind, master
    limit ${MAX_FINDINGS}`;
}

/** Names no Master to stop: the work is late, not wrong, and a stop would delay it further. A fee that is not decided yet is not owed. */
function findingOf({ kind, master, since, reason }: Row): Finding {
  return {
    key: `${kind}:${master}`,
    login: master,
    masterLogin: "",
    atRiskMinor: 0n,
    message:
      kind === "undecided"
        ? `Fees of a week of Master ${master} are not decided since ${since.toISOString()}.`
        : `Decided fees of Master ${master} are not recorded by the service for fees.`,
    evidence: { since: since.toISOString(), reason },
  };
}
