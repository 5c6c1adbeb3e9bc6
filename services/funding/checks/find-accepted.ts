import { idsOf, MAX_FINDINGS, type PendingBreak } from "#kernel/reconcile/check.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Each of them costs one call to platform. */
const CASHFLOWS_PER_RUN = 100;
/** Longer than the quiet period and the recovery after it: an operation that is still open then waits for manual review. */
const OVERDUE_MS = 600_000;

export type Accepted = {
  readonly id: bigint;
  readonly operationId: string;
  readonly login: string;
  readonly action: string;
  readonly state: string;
  /** The requested amount. */
  readonly amountMinor: bigint;
  /** Signed amount that an execution moved; 0 when nothing was to move. */
  readonly movedMinor: bigint;
  readonly dealId: bigint | null;
  readonly transferKey: string;
};

export async function listUnfinished(db: Queryable): Promise<Accepted[]> {
  return many<Accepted>(
    db,
    sql`select id, operation_id as "operationId", login, action, state, amount_minor as "amountMinor",
               0::bigint as "movedMinor", deal_id as "dealId",
               case action when 'deposit' then 'funding:deposit:' else 'funding:payout:' end || id as "transferKey"
        from cashflow
        where state not in ('POSTED', 'REFUSED')
          and deadline < clock_timestamp() - ${OVERDUE_MS} * interval '1 millisecond'
        order by id
        limit ${MAX_FINDINGS + 1}`,
  );
}

/** Finished cashflows: the newest, the next ones after the cursor, and those with an open break. */
export async function listAccepted(
  db: Queryable,
  cursor: string,
  pendingBreaks: readonly PendingBreak[],
): Promise<{ readonly accepted: readonly Accepted[]; readonly next: string }> {
  const after = BigInt(cursor === "" ? 0 : cursor);
  const rows = await many<Accepted & { readonly isNext: boolean }>(
    db,
    sql`with newest as (
          select id from cashflow where state in ('POSTED', 'REFUSED') order by id desc limit ${CASHFLOWS_PER_RUN}
        ), next as (
          select id
          from cashflow
          where state in ('POSTED', 'REFUSED') and id > ${after}
          order by id
          limit ${CASHFLOWS_PER_RUN}
        ), examined as (
          select id from newest
          union
          select id from next
          union
          select unnest(${idsOf(pendingBreaks, "cashflow")}::bigint[])
        )
        select cashflow.id, operation_id as "operationId", login, action, state, amount_minor as "amountMinor",
               case when state <> 'POSTED' then 0
                    when action = 'deposit' then amount_minor
                    else -coalesce(effective_minor, 0) end as "movedMinor",
               deal_id as "dealId",
               case action when 'deposit' then 'funding:deposit:' else 'funding:payout:' end || cashflow.id as "transferKey",
               exists (select from next where next.id = cashflow.id) as "isNext"
        from examined
             join cashflow on cashflow.id = examined.id
             left join withdrawal on cashflow_id = cashflow.id
        where state in ('POSTED', 'REFUSED')
        order by cashflow.id`,
  );
  const scanned = rows.filter(({ isNext }) => isNext);
  const last = scanned.at(-1);
  const next = last === undefined || scanned.length < CASHFLOWS_PER_RUN ? "" : String(last.id);
  return { accepted: rows, next };
}
