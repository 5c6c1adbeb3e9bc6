import { type Check, type Finding, inSnapshot, MAX_FINDINGS, CHECK_EVERY_MS } from "#kernel/reconcile/check.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

/** An exit normally takes seconds. */
const PAUSED_TOO_LONG_MS = 300_000;

type Row = {
  readonly id: bigint;
  readonly master: string;
  readonly investor: string;
  readonly problem: "paused" | "unfinished" | "misplaced";
  readonly atRiskMinor: bigint;
  readonly since: Date | null;
  readonly reason: string;
};

/**
 * subscription_endings: exits complete within five minutes, a CANCELLED subscription has no money left in the pool, and
 * the subscription of a pooled Investor is ACTIVE. A unique index ensures that an Investor has one open subscription.
 */
export function endings({ pool }: Pick<Deps, "pool">): Check {
  return {
    name: "subscription_endings",
    title:
      "Exits complete, cancelled subscriptions have no money left in the pool, and every pooled Investor is ACTIVE.",
    everyMs: CHECK_EVERY_MS,
    confirmations: 1,
    async run() {
      const rows = await inSnapshot(pool, (db) => many<Row>(db, brokenEndings()));
      return { findings: rows.map(findingOf), covers: () => true, nextCursor: "", endsPass: true };
    },
  };
}

function brokenEndings() {
  return sql`
    with candidate as (
      select subscription.id, subscription.master_login as master, subscription.investor_login as investor, status,
             coalesce(inbound_minor + waiting_minor + abs(pooled_minor) + reserved_minor + outbound_minor, 0) as left_minor,
             (pooled_subscription_id is not distinct from subscription.id) as is_pooled
      from subscription
           left join holding on holding.subscription_id = subscription.id
           left join investor_account on investor_account.login = subscription.investor_login
      where status in ('ACTIVE', 'PAUSED')
         or (status = 'CANCELLED' and (
              inbound_minor <> 0 or waiting_minor <> 0 or pooled_minor <> 0 or reserved_minor <> 0 or outbound_minor <> 0
              or pooled_subscription_id = subscription.id
              or exists (
                select from exit_transfer where exit_transfer.subscription_id = subscription.id and state = 'OPEN'
              )))
    ), timed as (
      select candidate.*,
             (select min(created_at) from exit_transfer where subscription_id = candidate.id) as since,
             (select coalesce(max(reason), '') from exit_transfer
              where subscription_id = candidate.id and state = 'OPEN') as reason
      from candidate
    )
    select id, master, investor, left_minor as "atRiskMinor", since, reason,
           case status when 'PAUSED' then 'paused' when 'CANCELLED' then 'unfinished' else 'misplaced' end as problem
    from timed
    where case status
            when 'PAUSED' then is_pooled or since < clock_timestamp() - ${PAUSED_TOO_LONG_MS} * interval '1 millisecond'
            when 'CANCELLED' then true
            else not is_pooled
          end
    order by id
    limit ${MAX_FINDINGS + 1}`;
}

const MESSAGES: Readonly<Record<Row["problem"], string>> = {
  paused: "has been PAUSED for more than five minutes",
  unfinished: "is CANCELLED but still has money in the pool",
  misplaced: "is ACTIVE but its Investor is not in the pool",
};

function findingOf({ id, master, investor, problem, atRiskMinor, since, reason }: Row): Finding {
  return {
    key: `subscription:${id}`,
    login: investor,
    masterLogin: "",
    atRiskMinor,
    message: `Subscription ${id} ${MESSAGES[problem]}.`,
    evidence: { master_login: master, left_minor: String(atRiskMinor), since: since?.toISOString() ?? null, reason },
  };
}
