import { many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { UnitHolding } from "../domain/pool/unit-pool.ts";
import { lockHoldings } from "./holdings.ts";

export type ActiveHolding = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly startedAt: Date;
};

/** Everybody in the pool. Who that is changes only under the lock of the pool, which the caller has. */
export async function listActiveHoldings(tx: Transaction, masterLogin: string): Promise<ActiveHolding[]> {
  return many<ActiveHolding>(
    tx,
    sql`select id as "subscriptionId", investor_login as "investorLogin", started_at as "startedAt"
        from subscription
        where master_login = ${masterLogin} and status = 'ACTIVE'
        order by id`,
  );
}

type HoldingRow = Omit<UnitHolding, "units"> & { readonly units: string };

/**
 * Everybody's units and carry change under the lock of the pool alone, which the caller has; money also moves with the
 * Investor's own account. So only who has something to strike is locked, and what comes to the others meanwhile takes no
 * part yet: it is shown as if it had not left, which is worth the same.
 */
export async function readUnitHoldings(tx: Transaction, masterLogin: string): Promise<UnitHolding[]> {
  const locked = new Set(await lockHoldingsToStrike(tx, masterLogin));
  const rows = await many<HoldingRow>(
    tx,
    sql`select holding.subscription_id as "subscriptionId", units, pooled_minor as pooled, waiting_minor as waiting,
               unredeemed_minor as unredeemed, carry_e8 as carry
        from holding join subscription on subscription.id = holding.subscription_id
        where subscription.master_login = ${masterLogin} and subscription.status = 'ACTIVE'
        order by holding.subscription_id`,
  );
  return rows.map((row) => {
    const holding = { ...row, units: BigInt(row.units) };
    return locked.has(holding.subscriptionId) ? holding : withoutFlows(holding);
  });
}

async function lockHoldingsToStrike(tx: Transaction, masterLogin: string): Promise<bigint[]> {
  const rows = await many<{ subscriptionId: bigint }>(
    tx,
    sql`select holding.subscription_id as "subscriptionId"
        from holding join subscription on subscription.id = holding.subscription_id
        where holding.master_login = ${masterLogin} and (waiting_minor > 0 or unredeemed_minor > 0)
          and subscription.status = 'ACTIVE'
        order by holding.subscription_id
        for no key update of holding`,
  );
  return rows.map(({ subscriptionId }) => subscriptionId);
}

function withoutFlows(holding: UnitHolding): UnitHolding {
  return { ...holding, pooled: holding.pooled + holding.unredeemed, waiting: 0n, unredeemed: 0n };
}

/** Adds what has changed, so that nothing is lost of what has come to a holding since it was read. */
export async function changeHoldings(
  tx: Transaction,
  before: readonly UnitHolding[],
  after: readonly UnitHolding[],
): Promise<void> {
  const changes = changesOf(before, after);
  if (changes.length === 0) return;
  await lockHoldings(
    tx,
    changes.map(({ subscriptionId }) => subscriptionId),
  );
  await many(
    tx,
    sql`update holding
        set units = book.units, carry_e8 = book.carry, pooled_minor = pooled_minor + book.pooled,
            waiting_minor = waiting_minor + book.waiting, unredeemed_minor = unredeemed_minor + book.unredeemed
        from unnest(
          ${changes.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${changes.map(({ units }) => units)}::numeric[],
          ${changes.map(({ carry }) => carry)}::bigint[],
          ${changes.map(({ pooled }) => pooled)}::bigint[],
          ${changes.map(({ waiting }) => waiting)}::bigint[],
          ${changes.map(({ unredeemed }) => unredeemed)}::bigint[]
        ) as book (subscription_id, units, carry, pooled, waiting, unredeemed)
        where holding.subscription_id = book.subscription_id`,
  );
}

/** Units and carry as they are to be, money as what is added. */
function changesOf(before: readonly UnitHolding[], after: readonly UnitHolding[]): UnitHolding[] {
  const now = new Map(after.map((holding) => [holding.subscriptionId, holding]));
  return before.flatMap((old) => {
    const holding = now.get(old.subscriptionId) ?? emptied(old);
    const pooled = holding.pooled - old.pooled;
    const waiting = holding.waiting - old.waiting;
    const unredeemed = holding.unredeemed - old.unredeemed;
    const isSame = holding.units === old.units && holding.carry === old.carry;
    if (isSame && pooled === 0n && waiting === 0n && unredeemed === 0n) return [];
    return [{ ...holding, pooled, waiting, unredeemed }];
  });
}

/** Who has left a pool keeps nothing of it. */
function emptied(holding: UnitHolding): UnitHolding {
  return { ...holding, units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n };
}
