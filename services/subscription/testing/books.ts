import assert from "node:assert/strict";
import type { Pool } from "#kernel/postgres/pool.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { pools as poolCheck } from "../checks/pools.ts";
import { onInvestor, onMaster, type Buckets } from "../domain/buckets.ts";
import { checkPool } from "../domain/pool/check-pool.ts";
import { type AllocationTotals, readAllocationTotals } from "./allocation-totals.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { getAccount } from "#test/support/platform-fake/ledger.ts";
import type { World } from "./world.ts";

type AccountRow = { readonly login: string; readonly filed: bigint } & Pick<
  Buckets,
  "outside" | "quarantined" | "unposted"
>;
type HoldingRow = { readonly id: bigint; readonly investor: string; readonly master: string } & Pick<
  Buckets,
  "inbound" | "waiting" | "pooled" | "reserved" | "outbound"
> & {
    readonly openInflows: bigint;
    readonly openOutflows: bigint;
    readonly openExits: bigint;
    readonly openReserves: bigint;
    readonly arrivals: bigint;
  };
type PoolRow = { readonly login: string; readonly filed: bigint; readonly unowned: bigint };

const RESULT = MovementKind.RESULT;

/** Checks every invariant of the ledger at the filed log positions: each cent is in exactly one bucket. */
export async function expectBooksToReconcile({ deps: { pool }, platform }: World): Promise<void> {
  const { accounts, pools, holdings, totals, keptOutside } = await inOneSnapshot(pool, readBooks);
  const logged = (login: string, filed: bigint): bigint =>
    getAccount(platform.ledger, login)
      .log.filter(({ number }) => number <= filed)
      .reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
  for (const { login, filed, ...buckets } of accounts) {
    const own = holdings.filter(({ investor }) => investor === login);
    const booked = own.reduce((total, holding) => total + onInvestor(bucketsOf(holding)), onInvestor(buckets));
    assert.equal(booked, logged(login, filed), `Investor ${login} does not reconcile at log position ${filed}`);
    const posted = getAccount(platform.ledger, login)
      .log.filter(({ number, kind }) => number <= filed && kind === RESULT)
      .reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
    const allocated = totals.investors.get(login) ?? 0n;
    const compensated = totals.compensated.get(login) ?? 0n;
    assert.equal(
      buckets.unposted,
      allocated + compensated - posted + (keptOutside.get(login) ?? 0n),
      `the unposted amount of ${login} is not allocated minus posted`,
    );
  }
  for (const { login, filed, unowned } of pools) {
    const own = holdings.filter(({ master }) => master === login);
    const booked = own.reduce((total, holding) => total + onMaster(bucketsOf(holding)), unowned);
    assert.equal(booked, logged(login, filed), `Master ${login} does not reconcile at log position ${filed}`);
  }
  expectAllocationsToReconcile(totals);
  for (const holding of holdings) {
    assert.equal(
      holding.inbound,
      holding.openInflows,
      `the inbound amount of ${holding.id} differs from its open flows`,
    );
    assert.equal(
      holding.outbound,
      holding.openOutflows + holding.openExits,
      `the outbound amount of ${holding.id} differs from its open flows and exits`,
    );
    assert.equal(holding.waiting, holding.arrivals, `the waiting amount of ${holding.id} differs from its arrivals`);
    assert.equal(
      holding.reserved,
      holding.openReserves,
      `the reserved amount of ${holding.id} differs from its open reserves`,
    );
  }
  await expectNoBreak({ pool }, platform);
}

/** The reconciliation check finds no break in books that reconcile. */
async function expectNoBreak(
  { pool }: Pick<World["deps"], "pool">,
  { client, state }: World["platform"],
): Promise<void> {
  if (state.isDown) return;
  const { findings } = await poolCheck({ pool, platform: client }).run({ cursor: "", pendingBreaks: [] });
  assert.deepEqual(findings, []);
}

/** Units, marks and carries of each pool are valid, each result was allocated whole, and the numbers have no gaps. */
function expectAllocationsToReconcile({ masters }: AllocationTotals): void {
  for (const { login, pool, entries, last, ...sums } of masters) {
    checkPool(pool);
    assert.equal(entries, last, `allocations of ${login} have a gap`);
    assert.equal(sums.results, sums.parts + sums.own + sums.elsewhere, `results of ${login} were not allocated whole`);
    const { pooled, waiting, unredeemed } = pool.own;
    assert.equal(
      pooled + waiting,
      sums.external + sums.own + sums.ownRaised,
      `own capital of ${login} is not what was moved, earned and raised`,
    );
    assert.equal(waiting - unredeemed, sums.ownFlows, `flows of own capital of ${login} differ from their arrivals`);
    assert.equal(sums.unallocated, sums.waiting, `waiting results of ${login} do not reconcile`);
  }
}

/** Reads in one snapshot, so that the books reconcile also while the service runs. */
async function inOneSnapshot<T>(pool: Pool, read: (db: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin isolation level repeatable read");
    const books = await read(client);
    await client.query("commit");
    return books;
  } finally {
    client.release();
  }
}

async function readBooks(db: Queryable) {
  const accounts = await many<AccountRow>(
    db,
    sql`select login, filed_number as filed, outside_minor as outside, quarantined_minor as quarantined,
               unposted_minor as unposted
        from investor_account`,
  );
  const pools = await many<PoolRow>(
    db,
    sql`select login, filed_number as filed, own_waiting_minor + own_pooled_minor + imported_mirrors_minor + imported_exits_minor + unallocated_minor as unowned
        from master_pool`,
  );
  // What was posted to Investors who are in no pool by restored books, and stays on their accounts.
  const kept = await many<{ login: string; minor: bigint }>(
    db,
    sql`select login, sum(outside_minor)::bigint as minor from lost_result group by login`,
  );
  const keptOutside = new Map(kept.map(({ login, minor }) => [login, minor]));
  return { accounts, pools, holdings: await listHoldings(db), totals: await readAllocationTotals(db), keptOutside };
}

function listHoldings(db: Queryable): Promise<HoldingRow[]> {
  return many<HoldingRow>(
    db,
    sql`with open_flow as (
          select flow.subscription_id, flow.amount_minor
          from flow left join mirror on mirror.id = flow.mirror_id
          where mirror.state is distinct from 'APPLIED'
        )
        select subscription_id as id, investor_login as investor, master_login as master, inbound_minor as inbound,
               waiting_minor as waiting, pooled_minor as pooled, reserved_minor as reserved,
               outbound_minor as outbound,
               (select coalesce(sum(amount_minor), 0)::bigint from open_flow
                where open_flow.subscription_id = holding.subscription_id and amount_minor > 0) as "openInflows",
               (select coalesce(-sum(amount_minor), 0)::bigint from open_flow
                where open_flow.subscription_id = holding.subscription_id and amount_minor < 0) as "openOutflows",
               (select coalesce(sum(amount_minor), 0)::bigint from exit_transfer
                where exit_transfer.subscription_id = holding.subscription_id and state = 'OPEN') as "openExits",
               (select coalesce(sum(amount_minor), 0)::bigint from reserve
                where reserve.subscription_id = holding.subscription_id and state = 'OPEN' and not is_outside) as "openReserves",
               (select coalesce(sum(amount_minor), 0)::bigint from arrival
                where arrival.subscription_id = holding.subscription_id) as arrivals
        from holding
        order by subscription_id`,
  );
}

function bucketsOf({ inbound, waiting, pooled, reserved, outbound }: HoldingRow): Partial<Buckets> {
  return { inbound, waiting, pooled, reserved, outbound };
}
