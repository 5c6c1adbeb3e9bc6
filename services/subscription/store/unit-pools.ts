import { execute, many, one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Accrual, PoolPosition, UnitPool, UnitSeat } from "../domain/pool/unit-pool.ts";

export type ActiveSeat = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly startedAt: Date;
};

/** Everybody in the pool. Who that is changes only under the lock of the pool, which the caller has. */
export async function listActiveSeats(tx: Transaction, masterLogin: string): Promise<ActiveSeat[]> {
  return many<ActiveSeat>(
    tx,
    sql`select id as "subscriptionId", investor_login as "investorLogin", started_at as "startedAt"
        from subscription
        where master_login = ${masterLogin} and status = 'ACTIVE'
        order by id`,
  );
}

type SeatRow = Omit<UnitSeat, "units"> & { readonly units: string };
type PositionRow = Omit<PoolPosition, "mark" | "perUnit"> & { readonly mark: string; readonly perUnit: string };
type AccrualRow = { positionId: bigint; subscriptionId: bigint; basis: string; perUnit: string };

const SUSPENSE = 0n;

/** Locks the seats of a pool, after the pool itself and the accounts that are to change with it. */
export async function lockUnitPool(tx: Transaction, masterLogin: string): Promise<UnitPool> {
  const { amount, carry } = await one<UnitPool["suspense"]>(
    tx,
    sql`select suspense_minor as amount, suspense_carry_e8 as carry from master_pool where login = ${masterLogin}`,
  );
  const seats = await many<SeatRow>(
    tx,
    sql`select seat.subscription_id as "subscriptionId", units, pooled_minor as pooled, waiting_minor as waiting,
               unredeemed_minor as unredeemed, carry_e8 as carry
        from seat join subscription on subscription.id = seat.subscription_id
        where subscription.master_login = ${masterLogin} and subscription.status = 'ACTIVE'
        order by seat.subscription_id
        for no key update of seat`,
  );
  const positions = await many<PositionRow>(
    tx,
    sql`select position_id as "positionId", symbol, volume, mark, per_unit as "perUnit"
        from pool_position
        where master_login = ${masterLogin}
        order by position_id`,
  );
  const accruals = await many<AccrualRow>(
    tx,
    sql`select position_id as "positionId", subscription_id as "subscriptionId", basis, per_unit as "perUnit"
        from accrual
        where master_login = ${masterLogin}
        order by position_id, subscription_id = ${SUSPENSE}, subscription_id`,
  );
  return {
    seats: seats.map((seat) => ({ ...seat, units: BigInt(seat.units) })),
    suspense: { amount, carry },
    positions: positions.map((row) => ({ ...row, mark: BigInt(row.mark), perUnit: BigInt(row.perUnit) })),
    accruals: accruals.map(toAccrual),
  };
}

function toAccrual({ positionId, subscriptionId, basis, perUnit }: AccrualRow): Accrual {
  return {
    positionId,
    subscriptionId: subscriptionId === SUSPENSE ? undefined : subscriptionId,
    basis: BigInt(basis),
    perUnit: BigInt(perUnit),
  };
}

/** Writes what has changed since the pool was locked, and nothing else. */
export async function saveUnitPool(
  tx: Transaction,
  masterLogin: string,
  before: UnitPool,
  after: UnitPool,
): Promise<void> {
  await saveSeats(tx, changedSeats(before, after));
  await savePositions(tx, masterLogin, before, after);
  await saveAccruals(tx, masterLogin, before, after);
  if (before.suspense.amount === after.suspense.amount && before.suspense.carry === after.suspense.carry) return;
  await execute(
    tx,
    sql`update master_pool
        set suspense_minor = ${after.suspense.amount}, suspense_carry_e8 = ${after.suspense.carry}
        where login = ${masterLogin}`,
  );
}

/** Who has left a pool keeps nothing of it. */
function changedSeats({ seats: before }: UnitPool, { seats: after }: UnitPool): UnitSeat[] {
  const old = new Map(before.map((seat) => [seat.subscriptionId, seat]));
  const kept = new Set(after.map(({ subscriptionId }) => subscriptionId));
  const gone = before
    .filter(({ subscriptionId }) => !kept.has(subscriptionId))
    .map((seat) => ({ ...seat, units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n }));
  return [...after.filter((seat) => !isSame(old.get(seat.subscriptionId), seat)), ...gone];
}

async function saveSeats(tx: Transaction, seats: readonly UnitSeat[]): Promise<void> {
  if (seats.length === 0) return;
  await many(
    tx,
    sql`update seat
        set units = book.units, pooled_minor = book.pooled, waiting_minor = book.waiting,
            unredeemed_minor = book.unredeemed, carry_e8 = book.carry
        from unnest(
          ${seats.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${seats.map(({ units }) => units)}::numeric[],
          ${seats.map(({ pooled }) => pooled)}::bigint[],
          ${seats.map(({ waiting }) => waiting)}::bigint[],
          ${seats.map(({ unredeemed }) => unredeemed)}::bigint[],
          ${seats.map(({ carry }) => carry)}::bigint[]
        ) as book (subscription_id, units, pooled, waiting, unredeemed, carry)
        where seat.subscription_id = book.subscription_id`,
  );
}

async function savePositions(tx: Transaction, login: string, before: UnitPool, after: UnitPool): Promise<void> {
  const old = new Map(before.positions.map((position) => [position.positionId, position]));
  const kept = new Set(after.positions.map(({ positionId }) => positionId));
  const gone = [...old.keys()].filter((id) => !kept.has(id));
  if (gone.length > 0) {
    await many(
      tx,
      sql`delete from pool_position where master_login = ${login} and position_id = any(${gone}::bigint[])`,
    );
  }
  const changed = after.positions.filter((position) => !isSame(old.get(position.positionId), position));
  if (changed.length === 0) return;
  await many(
    tx,
    sql`insert into pool_position (master_login, position_id, symbol, volume, mark, per_unit)
        select ${login}, position_id, symbol, volume, mark, per_unit
        from unnest(
          ${changed.map(({ positionId }) => positionId)}::bigint[],
          ${changed.map(({ symbol }) => symbol)}::text[],
          ${changed.map(({ volume }) => volume)}::bigint[],
          ${changed.map(({ mark }) => mark)}::numeric[],
          ${changed.map(({ perUnit }) => perUnit)}::numeric[]
        ) as book (position_id, symbol, volume, mark, per_unit)
        on conflict (master_login, position_id) do update
        set symbol = excluded.symbol, volume = excluded.volume, mark = excluded.mark, per_unit = excluded.per_unit`,
  );
}

async function saveAccruals(tx: Transaction, login: string, before: UnitPool, after: UnitPool): Promise<void> {
  const old = new Map(before.accruals.map((row) => [keyOf(row), row]));
  const kept = new Set(after.accruals.map(keyOf));
  const gone = before.accruals.filter((row) => !kept.has(keyOf(row)));
  if (gone.length > 0) {
    await many(
      tx,
      sql`delete from accrual
          using unnest(
            ${gone.map(({ positionId }) => positionId)}::bigint[],
            ${gone.map(({ subscriptionId }) => subscriptionId ?? SUSPENSE)}::bigint[]
          ) as gone (position_id, subscription_id)
          where accrual.master_login = ${login} and accrual.position_id = gone.position_id
            and accrual.subscription_id = gone.subscription_id`,
    );
  }
  const changed = after.accruals.filter((row) => !isSame(old.get(keyOf(row)), row));
  if (changed.length === 0) return;
  await many(
    tx,
    sql`insert into accrual (master_login, position_id, subscription_id, basis, per_unit)
        select ${login}, position_id, subscription_id, basis, per_unit
        from unnest(
          ${changed.map(({ positionId }) => positionId)}::bigint[],
          ${changed.map(({ subscriptionId }) => subscriptionId ?? SUSPENSE)}::bigint[],
          ${changed.map(({ basis }) => basis)}::numeric[],
          ${changed.map(({ perUnit }) => perUnit)}::numeric[]
        ) as book (position_id, subscription_id, basis, per_unit)
        on conflict (master_login, position_id, subscription_id) do update
        set basis = excluded.basis, per_unit = excluded.per_unit`,
  );
}

function keyOf({ positionId, subscriptionId }: Accrual): string {
  return `${positionId}:${subscriptionId ?? SUSPENSE}`;
}

/** Of flat values. */
function isSame<T extends object>(left: T | undefined, right: T): boolean {
  if (left === undefined || left === right) return left === right;
  return Object.entries(right).every(([name, value]) => Reflect.get(left, name) === value);
}
