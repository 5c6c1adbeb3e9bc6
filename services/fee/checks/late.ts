import { HOUR_MS } from "#kernel/values/duration.ts";
import { type Check, described, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

/** Fee runs are usually paid within seconds; an hour excludes short outages of the platform. */
const LATE_AFTER_MS = HOUR_MS;

type PaymentRow = {
  readonly master: string;
  readonly waiting: number;
  readonly dueMinor: bigint;
  readonly oldest: Date;
  readonly reasons: readonly string[];
};

/**
 * fee_overdue. Due fees are collected. Fees to an archived payment account are not late: they wait for another one.
 */
export function late({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...described("fee_overdue"),
    async run() {
      const findings = (await listWaiting(pool)).map(waiting);
      return { findings, covers: () => true, nextCursor: "", endsPass: true };
    },
  };
}

function listWaiting(db: Queryable): Promise<PaymentRow[]> {
  return many<PaymentRow>(
    db,
    sql`select master_login as master, count(*)::integer as waiting, sum(due_minor - prepaid_minor)::bigint as "dueMinor",
               min(created_at) as oldest,
               coalesce(array_agg(distinct reason) filter (where reason is not null), '{}') as reasons
        from fee_payment
        where status in ('PENDING', 'EXECUTING') and reason is distinct from 'account_archived'
          and created_at < clock_timestamp() - ${LATE_AFTER_MS} * interval '1 millisecond'
        group by master_login
        order by master_login
        limit ${MAX_FINDINGS}`,
  );
}

function waiting({ master, waiting: count, dueMinor, oldest, reasons }: PaymentRow): Finding {
  return {
    // Names no Master to stop: the work is late, not wrong, and a stop would delay it further.
    login: master,
    masterLogin: "",
    key: `waiting:${master}`,
    atRiskMinor: dueMinor,
    message: `Fees to Master ${master} pending since ${oldest.toISOString()}: ${count}.`,
    evidence: { due_minor: String(dueMinor), oldest: oldest.toISOString(), reasons },
  };
}
