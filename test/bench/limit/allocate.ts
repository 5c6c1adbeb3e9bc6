import type pg from "pg";

/**
 * The least that an allocation costs: each part in integers by largest remainder, and its rows in one durable insert, into a
 * table with the key of the service's. Returns the milliseconds of one allocation.
 */
export async function allocateAlone(client: pg.Client, units: readonly bigint[]): Promise<number> {
  const startedMs = performance.now();
  const parts = partsOf(RESULT_MINOR, units);
  await client.query({
    name: "insert-parts",
    text: `insert into bench.allocation_row (master_login, number, subscription_id, amount_minor, pooled_minor, carry_e8)
           select 'bench', (select coalesce(max(number), 0) + 1 from bench.allocation_row), id, amount, amount, 0
           from unnest($1::bigint[], $2::bigint[]) as part (id, amount)`,
    values: [units.map((_, index) => index + 1), parts],
  });
  return performance.now() - startedMs;
}

export async function createAllocationTable(client: pg.Client): Promise<void> {
  await client.query(`create schema if not exists bench;
  create table if not exists bench.allocation_row (
    master_login text not null, number bigint not null, subscription_id bigint not null, amount_minor bigint not null,
    pooled_minor bigint not null, carry_e8 bigint not null, floating_e8 bigint not null default 0,
    primary key (master_login, number, subscription_id))`);
}

const RESULT_MINOR = 123_457n;

/** The parts of an amount in proportion to the units; the largest remainders get the cents that are left. */
function partsOf(amount: bigint, units: readonly bigint[]): bigint[] {
  const total = units.reduce((sum, unit) => sum + unit, 0n);
  const shares = units.map((unit, index) => ({
    index,
    whole: (amount * unit) / total,
    remainder: (amount * unit) % total,
  }));
  const left = Number(amount - shares.reduce((sum, { whole }) => sum + whole, 0n));
  const parts = shares.map(({ whole }) => whole);
  const first = shares.toSorted((one, other) => Number(other.remainder - one.remainder)).slice(0, left);
  for (const { index } of first) parts[index] = (parts[index] ?? 0n) + 1n;
  return parts;
}
