import { fragment, many, matchesRow, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LeaveTry } from "./leaves.ts";

/** A closed gate. A commit under the gate is valid only with the current fence. */
export type Gate = { readonly masterLogin: string; readonly fence: bigint };

/** Undefined when the gate is closed already. */
export async function closeGate(
  tx: Transaction,
  masterLogin: string,
  { key, try: number }: LeaveTry,
): Promise<Gate | undefined> {
  const row = await maybeOne<{ fence: bigint }>(
    tx,
    sql`update master_pool
        set gate_fence = gate_fence + 1, gate_key = ${key}, gate_try = ${number}, gate_closed_at = clock_timestamp()
        where login = ${masterLogin} and gate_key is null
        returning gate_fence as fence`,
  );
  return row && { masterLogin, fence: row.fence };
}

/** Locks the pool. False when the gate was taken over: then nothing under the old fence may be committed. */
export async function lockGate(tx: Transaction, { masterLogin, fence }: Gate): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`select login
        from master_pool
        where login = ${masterLogin} and gate_fence = ${fence} and gate_key is not null
        for no key update`,
  );
}

/** Opens the gate, in the commit that makes the decision final. False when the gate was taken over. */
export async function openGate(tx: Transaction, { masterLogin, fence }: Gate): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update master_pool
        set gate_key = null, gate_try = null, gate_closed_at = null
        where login = ${masterLogin} and gate_fence = ${fence}`,
  );
}

export type AbandonedGate = Gate & LeaveTry;

/** A gate is closed for some tens of milliseconds; one closed this long ago was left by a crash or a very late replica. */
const ABANDONED_AFTER_MS = 5_000;

/** Takes over gates that were closed too long ago. The new fence invalidates the replica that closed them. */
export async function takeOverGates(db: Queryable, limit: number): Promise<AbandonedGate[]> {
  return many<AbandonedGate>(
    db,
    sql`update master_pool
        set gate_fence = gate_fence + 1, gate_closed_at = clock_timestamp()
        where login in (
          select login
          from master_pool
          where gate_key is not null
            and gate_closed_at <= clock_timestamp() - ${ABANDONED_AFTER_MS} * interval '1 millisecond'
          order by gate_closed_at
          limit ${limit}
          for no key update skip locked
        )
        returning login as "masterLogin", gate_fence as fence, gate_key as key, gate_try as try`,
  );
}

/** Expression: when the next closed gate counts as abandoned. */
export const nextAbandonedGate = fragment`(
  select min(gate_closed_at) + ${ABANDONED_AFTER_MS} * interval '1 millisecond' from master_pool where gate_key is not null
)`;
