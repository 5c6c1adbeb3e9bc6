import { execute, fragment, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** Expression: the generation of platform's permits in which an amount is calculated now. */
export const GENERATION = fragment`(select coalesce(max(permit_generation.generation), 1) from permit_generation)`;

export async function saveGeneration(tx: Transaction, generation: bigint): Promise<void> {
  await execute(
    tx,
    sql`insert into permit_generation (generation) values (${generation})
        on conflict (is_only) do update set generation = excluded.generation`,
  );
}
