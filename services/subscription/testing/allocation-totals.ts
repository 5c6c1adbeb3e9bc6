import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import {
  type Accrual,
  OWN_CAPITAL,
  type PoolPosition,
  type UnitHolding,
  type UnitPool,
} from "../domain/pool/unit-pool.ts";

/** Totals of the allocation rows, in cents. */
export type AllocationTotals = {
  readonly investors: ReadonlyMap<string, bigint>;
  /** Losses of Investors that operators or the platform have compensated. */
  readonly compensated: ReadonlyMap<string, bigint>;
  readonly masters: readonly {
    readonly login: string;
    readonly pool: UnitPool;
    readonly entries: bigint;
    readonly last: bigint;
    readonly results: bigint;
    readonly parts: bigint;
    /** Parts of own capital, and what compensations have raised it by. */
    readonly own: bigint;
    readonly elsewhere: bigint;
    readonly ownRaised: bigint;
    readonly external: bigint;
    /** Own capital that external movements brought, and what they took that is not redeemed, by arrival. */
    readonly ownFlows: bigint;
    readonly unallocated: bigint;
    readonly waiting: bigint;
  }[];
};

type MasterRow = Omit<AllocationTotals["masters"][number], "pool"> & {
  readonly units: bigint;
  readonly ownPooled: bigint;
  readonly ownWaiting: bigint;
  readonly ownUnredeemed: bigint;
  readonly carry: bigint;
};
type Owned<Row> = Row & { readonly login: string };

export async function readAllocationTotals(db: Queryable): Promise<AllocationTotals> {
  const investors = await many<{ login: string; total: bigint }>(
    db,
    sql`select holding.investor_login as login, sum(amount_minor)::bigint as total
        from allocation_row join holding using (subscription_id)
        group by holding.investor_login`,
  );
  const compensated = await many<{ login: string; total: bigint }>(
    db,
    sql`select holding.investor_login as login, sum(amount_minor)::bigint as total
        from compensation join holding using (subscription_id)
        group by holding.investor_login`,
  );
  const masters = await listMasters(db);
  const poolOf = await readPools(db);
  return {
    investors: new Map(investors.map(({ login, total }) => [login, total])),
    compensated: new Map(compensated.map(({ login, total }) => [login, total])),
    masters: masters.map((master) => ({ ...master, pool: poolOf(master) })),
  };
}

function listMasters(db: Queryable): Promise<MasterRow[]> {
  return many<MasterRow>(
    db,
    sql`select login, own_units as units, own_pooled_minor as "ownPooled", own_waiting_minor as "ownWaiting",
               own_unredeemed_minor as "ownUnredeemed", own_carry_e8 as carry, external_minor as external, last_allocation as last,
               (select coalesce(sum(amount_minor), 0)::bigint from arrival
                where master_login = login and subscription_id = 9223372036854775807) as "ownFlows",
               unallocated_minor as unallocated,
               (select count(*) from allocation_entry where master_login = login) as entries,
               (select coalesce(sum(result_minor), 0)::bigint from allocation_entry where master_login = login) as results,
               (select coalesce(sum(own_minor), 0)::bigint from allocation_entry where master_login = login) as own,
               (select coalesce(sum(elsewhere_minor), 0)::bigint from allocation_entry where master_login = login) as elsewhere,
               (select coalesce(sum(raised_minor), 0)::bigint - (select coalesce(sum(compensation.amount_minor), 0)::bigint from compensation join holding using (subscription_id)
                where holding.master_login = login and case_id is null) from allocation_entry where master_login = login) as "ownRaised",
               (select coalesce(sum(amount_minor), 0)::bigint from allocation_row where master_login = login) as parts,
               (select coalesce(sum(amount_minor), 0)::bigint from master_result
                where master_login = login and allocated_at is null) as waiting
        from master_pool
        order by login`,
  );
}

async function readPools(db: Queryable): Promise<(master: MasterRow) => UnitPool> {
  const holdings = await many<Owned<UnitHolding>>(
    db,
    sql`select master_login as login, subscription_id as "subscriptionId", units, pooled_minor as pooled,
               waiting_minor as waiting, unredeemed_minor as unredeemed, carry_e8 as carry
        from holding
        order by subscription_id`,
  );
  const positions = await many<Owned<PoolPosition>>(
    db,
    sql`select master_login as login, position_id as "positionId", symbol, volume, mark, per_unit as "perUnit", valued
        from pool_position
        order by position_id`,
  );
  const accruals = await many<Owned<Accrual>>(
    db,
    sql`select master_login as login, position_id as "positionId", subscription_id as "subscriptionId", basis,
               per_unit as "perUnit"
        from accrual`,
  );
  return ({ login, units, ownPooled: pooled, ownWaiting: waiting, ownUnredeemed: unredeemed, carry }) => ({
    holdings: holdings.filter((holding) => holding.login === login),
    own: { subscriptionId: OWN_CAPITAL, units, pooled, waiting, unredeemed, carry },
    positions: positions.filter((position) => position.login === login),
    accruals: accruals.filter((accrual) => accrual.login === login),
  });
}
