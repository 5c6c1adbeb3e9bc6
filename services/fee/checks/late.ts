import { HOUR_MS } from "#kernel/duration.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import { type Check, type Finding, MAX_FINDINGS, CHECK_EVERY_MS } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

/** Fee runs are usually paid within seconds; an hour excludes short outages of the platform. */
const LATE_AFTER_MS = HOUR_MS;
/** Failed reads in a row, over about ten minutes, after which unread allocations are a break. */
const MIN_TRIES = 20;

type PaymentRow = {
  readonly master: string;
  readonly waiting: number;
  readonly dueMinor: bigint;
  readonly oldest: Date;
  readonly reasons: readonly string[];
};

/**
 * fee_overdue. Due fees are collected and published allocations are read, unless the Master is in manual review. Fees to an archived payment account
 * are not late: they wait for another one.
 */
export function late({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "fee_overdue",
    title: "No fee is pending for more than an hour, and all published allocations are read.",
    everyMs: CHECK_EVERY_MS,
    confirmations: 1,
    async run() {
      const findings = await inSnapshot(pool, async (db) => [
        ...(await listWaiting(db)).map(waiting),
        ...(await listUnread(db)).map(unread),
      ]);
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

type UnreadRow = { readonly master: string; readonly received: bigint; readonly read: bigint; readonly tries: number };

function listUnread(db: Queryable): Promise<UnreadRow[]> {
  return many<UnreadRow>(
    db,
    sql`select received.master_login as master, received_number as received, coalesce(read_number, 0) as read, tries
        from allocation_watermark as received left join fee_master on fee_master.master_login = received.master_login
        where received_number > coalesce(read_number, 0) and tries >= ${MIN_TRIES}
          and stopped_reason is null and break_reason is null
        order by received.master_login
        limit ${MAX_FINDINGS}`,
  );
}

function waiting({ master, waiting: count, dueMinor, oldest, reasons }: PaymentRow): Finding {
  return {
    ...aboutMaster(master),
    key: `waiting:${master}`,
    atRiskMinor: dueMinor,
    message: `Fees to Master ${master} pending since ${oldest.toISOString()}: ${count}.`,
    evidence: { due_minor: String(dueMinor), oldest: oldest.toISOString(), reasons },
  };
}

function unread({ master, received, read, tries }: UnreadRow): Finding {
  return {
    ...aboutMaster(master),
    key: `unread:${master}`,
    // A fee that is not decided yet is not owed.
    atRiskMinor: 0n,
    message: `Allocations of Master ${master} could not be read after ${tries} attempts.`,
    evidence: { received_number: String(received), read_number: String(read), tries },
  };
}

/** Names no Master to stop: the work is late, not wrong, and a stop would delay it further. */
function aboutMaster(login: string) {
  return { login, masterLogin: "" };
}
