import { MAX_FINDINGS, type PendingBreak } from "#kernel/reconcile/check.ts";
import { idsOf } from "#kernel/reconcile/walk.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** Each of them is one question to platform. */
const CASHFLOWS_PER_RUN = 100;
/** Longer than a quiet period and what comes after it: whatever is still open then waits for manual review. */
const OVERDUE_MS = 600_000;

export type Accepted = {
  readonly id: bigint;
  readonly operationId: string;
  readonly login: string;
  readonly action: string;
  readonly state: string;
  /** What was asked for. */
  readonly amountMinor: bigint;
  /** Signed, what has moved if it was executed; 0 when nothing was to move. */
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

/** What is over: the newest, some of the older ones, and those that are not closed. */
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
        ), looked as (
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
        from looked
             join cashflow on cashflow.id = looked.id
             left join withdrawal on cashflow_id = cashflow.id
        where state in ('POSTED', 'REFUSED')
        order by cashflow.id`,
  );
  const walked = rows.filter(({ isNext }) => isNext);
  const last = walked.at(-1);
  const next = last === undefined || walked.length < CASHFLOWS_PER_RUN ? "" : String(last.id);
  return { accepted: rows, next };
}
