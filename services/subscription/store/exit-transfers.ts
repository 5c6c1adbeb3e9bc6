import assert from "node:assert/strict";
import {
  column,
  execute,
  fragment,
  many,
  matchesRow,
  maybeOne,
  one,
  type Queryable,
  sql,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt, workQueue } from "#kernel/work-queue/work-queue.ts";
import type { HoldingFlow } from "../domain/books.ts";
import { inParts } from "../domain/parts.ts";
import { GENERATION } from "./permit-generation.ts";
import { endMarginWait } from "./market-waits.ts";

/** A transfer of an Investor's capital off the Master; the amount is positive. */
export type ExitTransfer = {
  readonly id: bigint;
  readonly key: string;
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly amount: bigint;
  /** Of platform's permits, in which the amount was calculated. */
  readonly generation: bigint;
  readonly tries: number;
  readonly refusals: number;
};

export type NewExitTransfer = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly amount: bigint;
  /** Of the transfers that it replaces, in a row; each delays it further. */
  readonly refusals: number;
};

/** Two seconds or more: platform sends what it has recorded, and the log shows it soon; only a refusal has to be asked for. */
const NEXT_LOOK = retryAt(fragment`tries + 4`);
const AFTER_REFUSALS = retryAt(fragment`part.refusals`);

/**
 * Splits each amount into as many transfers as the platform's maximum requires; none for 0. The caller has locked the holdings,
 * so numbers have no gaps.
 */
export async function insertExitTransfers(
  tx: Transaction,
  exits: readonly NewExitTransfer[],
  at: Date,
): Promise<ExitTransfer[]> {
  const parts = exits.flatMap((exit) => inParts(exit.amount).map((amount) => ({ ...exit, amount })));
  if (parts.length === 0) return [];
  return await many<ExitTransfer>(
    tx,
    sql`insert into exit_transfer (subscription_id, number, master_login, amount_minor, generation, state, created_at, next_try_at,
                                   refusals)
        select part.subscription_id, last.number + row_number() over (partition by part.subscription_id order by ordinal),
               part.master_login, amount,
               ${GENERATION}, 'OPEN', ${at}::timestamptz,
               case when part.refusals > 0 then greatest(${AFTER_REFUSALS}, pool.margin_next_at) else clock_timestamp() end,
               part.refusals
        from unnest(
               ${parts.map(({ subscriptionId }) => subscriptionId)}::bigint[],
               ${parts.map(({ masterLogin }) => masterLogin)}::text[],
               ${parts.map(({ amount }) => amount)}::bigint[],
               ${parts.map(({ refusals }) => refusals)}::integer[]
             ) with ordinality as part (subscription_id, master_login, amount, refusals, ordinal)
             join master_pool as pool on pool.login = part.master_login
             cross join lateral (
               select coalesce(max(number), 0) as number
               from exit_transfer
               where exit_transfer.subscription_id = part.subscription_id
             ) as last
        order by ordinal
        returning id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount,
                  generation, tries, refusals`,
  );
}

export type FirstExitTransfer = ExitTransfer & {
  /** Of platform, once it has recorded the transfer. */
  readonly transferId: bigint | undefined;
  /** It was executed by an imported transfer. */
  readonly isSettled: boolean;
};

/** The first exit transfer of a subscription: the command returns its id. */
export async function findFirstExitTransfer(
  db: Queryable,
  subscriptionId: bigint,
): Promise<FirstExitTransfer | undefined> {
  const row = await maybeOne<Omit<FirstExitTransfer, "transferId"> & { transferId: bigint | null }>(
    db,
    sql`select id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount,
               generation, tries, refusals, transfer_id as "transferId",
               state = 'APPLIED' and transfer_id is null as "isSettled"
        from exit_transfer
        where subscription_id = ${subscriptionId} and number = 1`,
  );
  return row && { ...row, transferId: row.transferId ?? undefined };
}

export const exitTransferQueue = workQueue<ExitTransfer>({
  table: fragment`exit_transfer`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state = 'OPEN'`,
  columns: fragment`id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount,
    generation, refusals`,
});

/** Platform has recorded the transfer; its outcome is read again after a pause. The reason is for operators. */
export async function markExitSent(
  db: Queryable,
  id: bigint,
  sent: { readonly transferId: bigint; readonly reason: string | undefined },
): Promise<void> {
  await execute(
    db,
    sql`update exit_transfer
        set transfer_id = ${sent.transferId}, next_try_at = ${NEXT_LOOK}, reason = ${sent.reason}
        where id = ${id}`,
  );
}

export async function markExitsApplied(
  tx: Transaction,
  exits: readonly { readonly id: bigint; readonly dealId: bigint; readonly transferId: bigint }[],
  at: Date,
): Promise<void> {
  if (exits.length === 0) return;
  const masters = await column<string>(
    tx,
    sql`update exit_transfer
        set state = 'APPLIED', deal_id = arrived.deal_id, transfer_id = arrived.transfer_id, closed_at = ${at},
            reason = null
        from unnest(
          ${exits.map(({ id }) => id)}::bigint[],
          ${exits.map(({ dealId }) => dealId)}::bigint[],
          ${exits.map(({ transferId }) => transferId)}::bigint[]
        ) as arrived (id, deal_id, transfer_id)
        where exit_transfer.id = arrived.id and exit_transfer.state = 'OPEN'
        returning exit_transfer.master_login`,
  );
  await endMarginWait(tx, masters);
}

/** The transfer was certainly not executed. False when it is no longer open. */
export async function refuseExit(
  tx: Transaction,
  id: bigint,
  refused: { readonly reason: string; readonly transferId: bigint },
  at: Date,
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`update exit_transfer
        set state = 'REFUSED', closed_at = ${at}, reason = ${refused.reason}, transfer_id = ${refused.transferId}
        where id = ${id} and state = 'OPEN'`,
  );
}

/** Replaces an open transfer that moved a wrong amount by a new one under a new key. */
export async function replaceExit(tx: Transaction, id: bigint, reason: string, at: Date): Promise<void> {
  const { subscriptionId, masterLogin, amount } = await one<
    Pick<NewExitTransfer, "subscriptionId" | "masterLogin" | "amount">
  >(
    tx,
    sql`update exit_transfer
        set state = 'REFUSED', closed_at = ${at}, reason = ${reason}
        where id = ${id} and state = 'OPEN'
        returning subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount`,
  );
  await insertExitTransfers(tx, [{ subscriptionId, masterLogin, amount, refusals: 0 }], at);
}

/** Unused parts of reserves of Investors who have left the pool; outflows, so their amounts are negative. */
export async function insertFurtherExits(tx: Transaction, exits: readonly HoldingFlow[], at: Date): Promise<void> {
  if (exits.length === 0) return;
  const masters = await many<{ id: bigint; login: string }>(
    tx,
    sql`select subscription_id as id, master_login as login
        from holding
        where subscription_id = any(${exits.map(({ subscriptionId }) => subscriptionId)}::bigint[])`,
  );
  const masterOf = new Map(masters.map(({ id, login }) => [id, login]));
  const transfers = exits.map(({ subscriptionId, amount }) => {
    const masterLogin = masterOf.get(subscriptionId);
    assert(masterLogin !== undefined, "a reserve belongs to a holding");
    return { subscriptionId, masterLogin, amount: -amount, refusals: 0 };
  });
  await insertExitTransfers(tx, transfers, at);
}
