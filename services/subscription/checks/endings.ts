import { type Check, described, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { type Fragment, fragment, many, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Deps } from "../deps.ts";
import { SUBSCRIBERS } from "./changed-logins.ts";
import { examineLogins, MAX_RUN_MS } from "./examine-logins.ts";

/** An exit normally takes seconds, unless it waits for free margin of the Master. */
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
 * the subscription of a pooled Investor is ACTIVE. A unique index ensures that an Investor has one open subscription. A run
 * examines all PAUSED subscriptions, those of Investors that have changed since the last one, and a slice of all.
 */
export function endings({ pool }: Pick<Deps, "pool">): Check {
  return {
    ...described("subscription_endings"),
    async run({ cursor, pendingBreaks }) {
      const paused = await findBroken(pool, fragment`status = 'PAUSED'`);
      const run = await examineLogins(
        {
          pool,
          tables: { investors: SUBSCRIBERS },
          maxRunMs: MAX_RUN_MS,
          broken: { investors: pendingBreaks.map(({ login }) => login) },
          examine: (_, logins) =>
            findBroken(pool, fragment`status in ('ACTIVE', 'CANCELLED') and investor_login = any (${logins}::text[])`),
        },
        cursor,
      );
      return { ...run, findings: [...paused, ...run.findings] };
    },
  };
}

async function findBroken(pool: Pool, scope: Fragment): Promise<Finding[]> {
  return (await many<Row>(pool, brokenEndings(scope))).map(findingOf);
}

function brokenEndings(scope: Fragment) {
  return sql`
    with candidate as (
      select subscription.id, subscription.master_login as master, subscription.investor_login as investor, status,
             coalesce(inbound_minor + waiting_minor + abs(pooled_minor) + reserved_minor + outbound_minor, 0) as left_minor,
             coalesce(reserved_minor, 0) as reserved_minor,
             pooled_subscription_id is not distinct from subscription.id as is_pooled,
             (select coalesce(sum(amount_minor), 0) from exit_transfer
              where exit_transfer.subscription_id = subscription.id and state = 'OPEN') as leaving_minor,
             (select min(created_at) from exit_transfer
              where exit_transfer.subscription_id = subscription.id and state = 'OPEN') as leaving_since
      from (select id, master_login, investor_login, status from subscription where ${scope}) as subscription
           left join holding on holding.subscription_id = subscription.id
           left join investor_account on investor_account.login = subscription.investor_login
    ), timed as (
      select candidate.*,
             (select min(created_at) from exit_transfer where subscription_id = candidate.id) as since,
             (select coalesce(max(reason), '') from exit_transfer
              where subscription_id = candidate.id and state = 'OPEN') as reason,
             (select margin_next_at from master_pool where login = candidate.master) as margin_next_at
      from candidate
    )
    select id, master, investor, left_minor as "atRiskMinor", since, reason,
           case status when 'PAUSED' then 'paused' when 'CANCELLED' then 'unfinished' else 'misplaced' end as problem
    from timed
    where case status
            when 'PAUSED' then is_pooled
              or greatest(since, margin_next_at) < clock_timestamp() - ${PAUSED_TOO_LONG_MS} * interval '1 millisecond'
                -- The exit itself is complete: a fee waits, which is late by fee_overdue, unless its payment account is archived.
                and (leaving_minor <> 0 or reserved_minor = 0 or left_minor <> reserved_minor)
            -- A repair of an earlier result leaves by a further exit transfer.
            when 'CANCELLED' then left_minor <> leaving_minor or is_pooled
              or leaving_minor <> 0
                and greatest(leaving_since, margin_next_at) < clock_timestamp() - ${PAUSED_TOO_LONG_MS} * interval '1 millisecond'
            else not is_pooled
          end
    order by id
    limit ${MAX_FINDINGS}`;
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
