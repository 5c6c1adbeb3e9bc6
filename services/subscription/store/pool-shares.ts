import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { OWN_CAPITAL, type UnitHolding, type UnitPool } from "../domain/pool/unit-pool.ts";

/** The pool of an Investor as far as its share of the floating result needs it, at one instant. */
export type PoolShare = {
  readonly masterLogin: string;
  readonly subscriptionId: bigint;
  readonly isStopped: boolean;
  readonly filedNumber: bigint;
  /** Every filed deal is allocated. */
  readonly isAllocated: boolean;
  readonly lastAllocation: bigint;
  /** The units of all others are those of own capital. */
  readonly pool: UnitPool;
};

type Row = Omit<PoolShare, "pool"> & {
  readonly units: string;
  readonly otherUnits: string;
  readonly positionId: bigint | null;
  readonly symbol: string;
  readonly volume: bigint;
  readonly mark: string;
  readonly perUnit: string;
  readonly basis: string | null;
  readonly perUnitThen: string;
};

/** One statement, so that units, marks and the number of the last allocation are of one instant; one row for each open position. */
export async function findPoolShare(db: Queryable, investorLogin: string): Promise<PoolShare | undefined> {
  const rows = await many<Row>(
    db,
    sql`select pool.login as "masterLogin", subscription.id as "subscriptionId", pool.stopped_reason is not null as "isStopped",
               pool.filed_number as "filedNumber", pool.last_allocation as "lastAllocation",
               not exists (
                 select from master_result where master_login = pool.login and allocated_at is null
               ) as "isAllocated",
               holding.units, pool.own_units - holding.units + (
                 select coalesce(sum(other.units), 0)
                 from holding as other join subscription as its on its.id = other.subscription_id
                 where other.master_login = pool.login and its.status = 'ACTIVE'
               ) as "otherUnits",
               position.position_id as "positionId", position.symbol, position.volume, position.mark,
               position.per_unit as "perUnit", accrual.basis, accrual.per_unit as "perUnitThen"
        from subscription
             join holding on holding.subscription_id = subscription.id
             join master_pool as pool on pool.login = subscription.master_login
             left join pool_position as position on position.master_login = pool.login
             left join accrual on accrual.master_login = pool.login and accrual.position_id = position.position_id
                              and accrual.subscription_id = subscription.id
        where subscription.investor_login = ${investorLogin} and subscription.status = 'ACTIVE'
        order by position.position_id`,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { masterLogin, subscriptionId, isStopped, filedNumber, isAllocated, lastAllocation } = first;
  return {
    masterLogin,
    subscriptionId,
    isStopped,
    filedNumber,
    isAllocated,
    lastAllocation,
    pool: poolOf(first, rows.filter(isPosition)),
  };
}

type PositionRow = Row & { readonly positionId: bigint };

function isPosition(row: Row): row is PositionRow {
  return row.positionId !== null;
}

function poolOf({ subscriptionId, units, otherUnits }: Row, positions: readonly PositionRow[]): UnitPool {
  return {
    holdings: [unitsOnly(subscriptionId, units)],
    own: unitsOnly(OWN_CAPITAL, otherUnits),
    positions: positions.map(({ positionId, symbol, volume, mark, perUnit }) => {
      return { positionId, symbol, volume, mark: BigInt(mark), perUnit: BigInt(perUnit) };
    }),
    accruals: positions.flatMap(({ positionId, basis, perUnitThen }) =>
      basis === null ? [] : { positionId, subscriptionId, basis: BigInt(basis), perUnit: BigInt(perUnitThen) },
    ),
  };
}

function unitsOnly(subscriptionId: bigint, units: string): UnitHolding {
  return { subscriptionId, units: BigInt(units), pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n };
}
