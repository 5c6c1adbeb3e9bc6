import { execute, many, sql } from "#kernel/postgres/query.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { Deps } from "../deps.ts";
import { INVESTOR, usd } from "./funding.ts";

const DAY_MS = 86_400_000n;

/** Longer than any deadline and claim of a process that was killed. */
export const LONG_MS = 60_000;

export function aQueued(overrides: { readonly amount?: bigint; readonly queueForMs?: bigint | undefined } = {}) {
  const { amount = 40_00n, queueForMs = 7n * DAY_MS } = overrides;
  return {
    login: INVESTOR,
    amount: usd(amount),
    comment: "CRM-2",
    client: undefined,
    idempotencyKey: undefined,
    queueForMs,
  };
}

/** All instants of the open operations are so much earlier. */
export async function passTime(pool: Pool, ms: number): Promise<void> {
  await execute(
    pool,
    sql`update cashflow
        set deadline = deadline - passed, next_try_at = next_try_at - passed, queue_until = queue_until - passed,
            finished_at = finished_at - passed
        from (values (${ms} * interval '1 millisecond')) as time (passed)`,
  );
}

export async function queueOf({ pool }: Pick<Deps, "pool">) {
  return await many<{ id: string; state: string; queue: string; refusal: string | null }>(
    pool,
    sql`select operation_id as id, state, queue_state as queue, refusal ->> 'code' as refusal
        from cashflow
        where queue_state is not null
        order by id`,
  );
}
