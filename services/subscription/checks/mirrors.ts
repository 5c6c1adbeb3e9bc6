import { callContext } from "#kernel/contract/context.ts";
import { type Check, findsAll, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

/** A mirror is normally applied within seconds. */
const LATE_AFTER_MS = 60_000;
const CALL_TIMEOUT_MS = 5_000;

type Row = {
  readonly master: string;
  readonly flowsMinor: bigint;
  readonly exitsMinor: bigint;
  readonly waiting: number;
  readonly oldest: Date;
  readonly reason: string;
  readonly operations: readonly string[];
};

/**
 * mirror_lag: capital movements of more than a minute ago that have not been applied on the Master. What waits until the platform shows the
 * Master again, or until a deficit is covered, is not late.
 */
export function mirrors({ pool, platform }: Pick<Deps, "pool" | "platform">): Check {
  return findsAll("mirror_lag", async () => {
    const late = await many<Row>(pool, lateMirrors());
    if (late.length === 0) return [];
    const positions = late.map(({ master }) => ({ login: master, number: 0n }));
    const context = callContext({ caller: "subscription", withinMs: CALL_TIMEOUT_MS });
    const { balances } = await platform.readLogBalances({ positions }, context);
    // Also a Master of which it is not confirmed yet that it is archived.
    const unshown = new Set(balances.filter(({ notShown }) => notShown).map(({ login }) => login));
    return late.filter(({ master }) => !unshown.has(master)).map(findingOf);
  });
}

/** One row per Master, as many as one request to platform may name, with open flows or exit transfers that are late. What waits for free margin is not late before its next try. */
function lateMirrors() {
  return sql`
    with open_flow as (
      select flow.master_login, flow.created_at, flow.amount_minor
      from flow join master_pool as pool on pool.login = flow.master_login join holding on holding.subscription_id = flow.subscription_id
      where mirror_id is null and not (flow.amount_minor > 0 and (is_in_deficit or (
        pooled_minor < 0 and not exists (select from pool_position where pool_position.master_login = pool.login))))
      union all
      select flow.master_login, flow.created_at, flow.amount_minor
      from mirror join flow on flow.mirror_id = mirror.id
      where mirror.state = 'OPEN'
    ), late as (
      select master_login, created_at, abs(amount_minor) as flow_minor, 0 as exit_minor, null as operation
      from open_flow join master_pool on login = master_login
      where greatest(created_at, case when amount_minor < 0 then margin_next_at end)
              < clock_timestamp() - ${LATE_AFTER_MS} * interval '1 millisecond'
      union all
      select exit_transfer.master_login, created_at, 0, amount_minor, departure.operation_id
      from exit_transfer
           left join departure on departure.subscription_id = exit_transfer.subscription_id and kind = 'EXIT'
             and departure.state in ('DECIDED', 'ENDED')
           join master_pool on login = exit_transfer.master_login
      where exit_transfer.state = 'OPEN' and greatest(exit_transfer.created_at, margin_next_at) < clock_timestamp() - ${LATE_AFTER_MS} * interval '1 millisecond'
    )
    select master_login as master, sum(flow_minor)::bigint as "flowsMinor", sum(exit_minor)::bigint as "exitsMinor",
           count(*)::integer as waiting, min(late.created_at) as oldest,
           coalesce(max(stopped_reason), max(mirror_reason), '') as reason,
           coalesce(array_agg(distinct operation) filter (where operation <> ''), '{}') as operations
    from late join master_pool on login = master_login
    group by master_login
    order by master_login
    limit ${MAX_FINDINGS}`;
}

function findingOf({ master, flowsMinor, exitsMinor, waiting, oldest, reason, operations }: Row): Finding {
  return {
    key: `master:${master}`,
    login: master,
    // Stopping the Master would only delay its movements further.
    masterLogin: "",
    atRiskMinor: flowsMinor + exitsMinor,
    operationIds: operations,
    message: `Capital movements pending on Master ${master} since ${oldest.toISOString()}: ${waiting}.`,
    evidence: {
      flows_minor: String(flowsMinor),
      exits_minor: String(exitsMinor),
      oldest: oldest.toISOString(),
      reason,
    },
  };
}
