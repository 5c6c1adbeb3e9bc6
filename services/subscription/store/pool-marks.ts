import { execute, many, type Queryable, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Accrual, PoolPosition, UnitPool } from "../domain/pool/unit-pool.ts";

/** A position has no owner, an accrual has no volume. */
type Row = (PoolPosition & { readonly subscriptionId: null }) | Accrual;

/** Open positions of a pool and their attributed results, or those of one subscription. Who changes them has locked the pool. */
export async function readMarks(
  db: Queryable,
  masterLogin: string,
  subscriptionId?: bigint,
): Promise<Pick<UnitPool, "positions" | "accruals">> {
  const rows = await many<Row>(
    db,
    sql`select position_id as "positionId", volume, mark, per_unit as "perUnit", valued,
               null::bigint as "subscriptionId", null::numeric as basis
        from pool_position
        where master_login = ${masterLogin}
        union all
        select position_id, null, null, per_unit, null, subscription_id, basis
        from accrual
        where master_login = ${masterLogin} and subscription_id = coalesce(${subscriptionId}::bigint, subscription_id)
        order by "positionId", "subscriptionId" nulls first`,
  );
  return {
    positions: rows.filter((row) => row.subscriptionId === null),
    accruals: rows.filter((row) => row.subscriptionId !== null),
  };
}

export async function savePositions(tx: Transaction, login: string, before: UnitPool, after: UnitPool): Promise<void> {
  const { removed, changed } = compare(before.positions, after.positions, ({ positionId }) => String(positionId));
  if (removed.length > 0) {
    const ids = removed.map(({ positionId }) => positionId);
    await execute(
      tx,
      sql`delete from pool_position where master_login = ${login} and position_id = any(${ids}::bigint[])`,
    );
  }
  if (changed.length === 0) return;
  await execute(
    tx,
    sql`insert into pool_position (master_login, position_id, volume, mark, per_unit, valued)
        select ${login}, *
        from ${unnest(changed)} as book (position_id bigint, volume bigint, mark numeric, per_unit numeric, valued numeric)
        on conflict (master_login, position_id) do update
        set volume = excluded.volume, mark = excluded.mark, per_unit = excluded.per_unit,
            valued = excluded.valued`,
  );
}

export async function saveAccruals(tx: Transaction, login: string, before: UnitPool, after: UnitPool): Promise<void> {
  const keyOf = ({ positionId, subscriptionId }: Accrual) => `${positionId}:${subscriptionId}`;
  const { removed, changed } = compare(before.accruals, after.accruals, keyOf);
  if (removed.length > 0) {
    await execute(
      tx,
      sql`delete from accrual
          using ${unnest(removed)} as removed (position_id bigint, subscription_id bigint)
          where accrual.master_login = ${login} and accrual.position_id = removed.position_id
            and accrual.subscription_id = removed.subscription_id`,
    );
  }
  if (changed.length === 0) return;
  await execute(
    tx,
    sql`insert into accrual (master_login, position_id, subscription_id, basis, per_unit)
        select ${login}, *
        from ${unnest(changed)} as book (position_id bigint, subscription_id bigint, basis numeric, per_unit numeric)
        on conflict (master_login, position_id, subscription_id) do update
        set basis = excluded.basis, per_unit = excluded.per_unit`,
  );
}

/** The rows that are no longer there, and those that are new or have changed. */
function compare<Row extends object>(before: readonly Row[], after: readonly Row[], keyOf: (row: Row) => string) {
  const old = new Map(before.map((row) => [keyOf(row), row]));
  const kept = new Set(after.map(keyOf));
  return {
    removed: before.filter((row) => !kept.has(keyOf(row))),
    changed: after.filter((row) => !isSame(old.get(keyOf(row)), row)),
  };
}

/** Compares objects whose values are primitives. */
function isSame<T extends object>(left: T | undefined, right: T): boolean {
  if (left === undefined || left === right) return left === right;
  return Object.entries(right).every(([name, value]) => Reflect.get(left, name) === value);
}
