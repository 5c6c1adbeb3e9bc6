import { execute, fragment, many, one, sql, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { HoldingBook } from "../domain/books.ts";
import { EMPTY_HOLDING, HOLDING_BUCKETS, type HoldingBuckets, type HoldingChange } from "../domain/buckets.ts";
import { type HoldingSums, NO_SUMS } from "../domain/pool/others.ts";
import { EMPTY_POOL, type UnitHolding } from "../domain/pool/unit-pool.ts";

/** The money of a holding by bucket. */
export const BUCKETS = fragment`holding.inbound_minor as inbound, holding.waiting_minor as waiting, holding.pooled_minor as pooled,
  holding.reserved_minor as reserved, holding.outbound_minor as outbound`;

type HoldingRow = Omit<HoldingBook, "buckets"> & HoldingBuckets;

/** Locks holdings by ascending id, after pools and accounts. */
export async function lockHoldings(tx: Transaction, subscriptionIds: readonly bigint[]): Promise<HoldingBook[]> {
  if (subscriptionIds.length === 0) return [];
  const rows = await many<HoldingRow>(
    tx,
    sql`select holding.subscription_id as "subscriptionId", holding.master_login as "masterLogin",
               holding.investor_login as "investorLogin", subscription.status = 'ACTIVE' as "isPooled",
               ${BUCKETS}, unredeemed_minor as unredeemed
        from holding join subscription on subscription.id = holding.subscription_id
        where holding.subscription_id = any(${subscriptionIds}::bigint[])
        order by holding.subscription_id
        for no key update of holding`,
  );
  return rows.map(({ inbound, waiting, pooled, reserved, outbound, ...holding }) => ({
    ...holding,
    buckets: { inbound, waiting, pooled, reserved, outbound },
  }));
}

/** Inserts the holding of an Investor that joins, without units. */
export async function insertHolding(
  tx: Transaction,
  holding: Pick<HoldingBook, "subscriptionId" | "masterLogin" | "investorLogin"> & { readonly inbound: bigint },
): Promise<void> {
  const { subscriptionId, masterLogin, investorLogin, inbound } = holding;
  await one(
    tx,
    sql`insert into holding (subscription_id, master_login, investor_login, inbound_minor)
        values (${subscriptionId}, ${masterLogin}, ${investorLogin}, ${inbound})
        returning subscription_id`,
  );
}

/** What changes of the row of a pool with its holdings. The caller has locked it. */
export type PoolRowChange = { readonly masterLogin: string; readonly sums: HoldingSums; readonly own: UnitHolding };

/** Adds the changes of holdings, so that money that came to one since it was read is kept; with them those of their pool. */
export async function changeHoldings(
  tx: Transaction,
  changes: readonly HoldingChange[],
  pool?: PoolRowChange,
): Promise<void> {
  const totals = addUp(changes);
  if (totals.length === 0 && pool === undefined) return;
  const { sums = NO_SUMS, own = EMPTY_POOL.own, masterLogin } = pool ?? {};
  await execute(
    tx,
    sql`with locked as (
          select subscription_id
          from holding
          where subscription_id = any(${totals.map(({ subscriptionId }) => subscriptionId)}::bigint[])
          order by subscription_id
          for no key update
        ), summed as (
          update master_pool
          set holdings_units = holdings_units + ${sums.units}::numeric, holdings_minor = holdings_minor + ${sums.cash}::bigint,
              holdings_carry_e8 = holdings_carry_e8 + ${sums.carry}::bigint, unitless_minor = unitless_minor + ${sums.unitlessCash}::bigint,
              unitless_carry_e8 = unitless_carry_e8 + ${sums.unitlessCarry}::bigint, emptied_holdings = emptied_holdings + ${sums.emptied}::bigint,
              own_units = ${own.units}::numeric, own_pooled_minor = ${own.pooled}, own_waiting_minor = ${own.waiting},
              own_unredeemed_minor = ${own.unredeemed}, own_carry_e8 = ${own.carry}
          where login = ${masterLogin}
        )
        update holding
        set inbound_minor = inbound_minor + book.inbound, waiting_minor = waiting_minor + book.waiting,
            pooled_minor = pooled_minor + book.pooled, reserved_minor = reserved_minor + book.reserved,
            outbound_minor = outbound_minor + book.outbound, unredeemed_minor = unredeemed_minor + book.unredeemed,
            units = holding.units + book.units, carry_e8 = carry_e8 + book.carry
        from ${unnest(totals)} as book (subscription_id bigint, inbound bigint, waiting bigint, pooled bigint, reserved bigint, outbound bigint,
                     unredeemed bigint, units numeric, carry bigint)
             join locked on locked.subscription_id = book.subscription_id
        where holding.subscription_id = book.subscription_id`,
  );
}

const AMOUNTS = [...HOLDING_BUCKETS, "unredeemed", "units", "carry"] as const;
type Totals = Readonly<Record<(typeof AMOUNTS)[number], bigint>>;
const NOTHING: Totals = { ...EMPTY_HOLDING, unredeemed: 0n, units: 0n, carry: 0n };

/** The changes of each holding as one. */
function addUp(changes: readonly HoldingChange[]): (Totals & { readonly subscriptionId: bigint })[] {
  const totals = new Map<bigint, Totals>();
  for (const change of changes) {
    const total: { -readonly [Name in keyof Totals]: bigint } = { ...(totals.get(change.subscriptionId) ?? NOTHING) };
    for (const name of AMOUNTS) total[name] += change[name] ?? 0n;
    totals.set(change.subscriptionId, total);
  }
  return [...totals]
    .filter(([, total]) => AMOUNTS.some((name) => total[name] !== 0n))
    .map(([subscriptionId, total]) => ({ ...total, subscriptionId }));
}

/** Condition: it has no money. */
export const HAS_NO_MONEY = fragment`holding.inbound_minor = 0 and holding.waiting_minor = 0 and holding.pooled_minor = 0
  and holding.reserved_minor = 0 and holding.outbound_minor = 0`;
