import { fragment, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A closed gate. A commit under the gate is valid only with the current fence. */
export type Gate = { readonly masterLogin: string; readonly fence: bigint };

/** The caller has locked the Master, whose gate is open. */
export async function closeGate(tx: Transaction, masterLogin: string): Promise<Gate> {
  const { fence } = await one<{ fence: bigint }>(
    tx,
    sql`update master_pool
        set gate_fence = gate_fence + 1, gate_closed_at = clock_timestamp()
        where login = ${masterLogin} and gate_closed_at is null
        returning gate_fence as fence`,
  );
  return { masterLogin, fence };
}

/** Work of a Master that waits until its gate opens. */
export type WorkAtGate = { readonly hasResults: boolean; readonly hasFlows: boolean };

/** Opens the gate, in the commit that makes the decisions final. The caller has locked the Master and compared the fence. */
export async function openGate(tx: Transaction, { masterLogin, fence }: Gate): Promise<WorkAtGate> {
  return await one<WorkAtGate>(
    tx,
    sql`update master_pool
        set gate_closed_at = null
        where login = ${masterLogin} and gate_fence = ${fence}
        returning exists (select from master_result where master_login = login and allocated_at is null) as "hasResults",
                  exists (
                    select from holding where master_login = login and (waiting_minor > 0 or unredeemed_minor > 0)
                  ) as "hasFlows"`,
  );
}

/** A gate is closed for some tens of milliseconds; one closed this long ago was left by a crash or a very late replica. */
const ABANDONED_AFTER_MS = 5_000;

/** Takes over gates that were closed too long ago. The new fence invalidates the replica that closed them. */
export async function takeOverGates(db: Queryable, limit: number): Promise<Gate[]> {
  return many<Gate>(
    db,
    sql`update master_pool
        set gate_fence = gate_fence + 1, gate_closed_at = clock_timestamp()
        where login in (
          select login
          from master_pool
          where gate_closed_at <= statement_timestamp() - ${ABANDONED_AFTER_MS} * interval '1 millisecond'
          order by gate_closed_at
          limit ${limit}
          for no key update skip locked
        )
        returning login as "masterLogin", gate_fence as fence`,
  );
}

/** Expression: when the next closed gate counts as abandoned. */
export const nextAbandonedGate = fragment`(
  select min(gate_closed_at) + ${ABANDONED_AFTER_MS} * interval '1 millisecond' from master_pool where gate_closed_at is not null
)`;
