import { column, execute, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type ExitTransfer, insertExitTransfers } from "./exit-transfers.ts";

/** Masters with imported exits and an open exit transfer that was not requested. */
export async function listImportedExits(db: Queryable, limit: number): Promise<string[]> {
  return await column<string>(
    db,
    sql`select login
        from master_pool
        where imported_exits_minor < 0
          and exists (
            select from exit_transfer where master_login = login and state = 'OPEN' and transfer_id is null
          )
        order by login
        limit ${limit}`,
  );
}

/** Open exit transfers of a Master that were not requested, and what imported exits have moved on it; both locked. */
export async function listExitsToSettle(
  tx: Transaction,
  masterLogin: string,
): Promise<{ readonly imported: bigint; readonly exits: readonly ExitTransfer[] }> {
  const { imported } = await one<{ imported: bigint }>(
    tx,
    sql`select imported_exits_minor as imported
        from master_pool
        where login = ${masterLogin}
        for no key update`,
  );
  const exits = await many<ExitTransfer>(
    tx,
    sql`select id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount,
               generation, tries, refusals
        from exit_transfer
        where master_login = ${masterLogin} and state = 'OPEN' and transfer_id is null
        order by id
        for no key update`,
  );
  return { imported, exits };
}

/** An exit of which a part was executed by imported transfers. */
export type SplitExit = { readonly exit: ExitTransfer; readonly moved: bigint };

/** The exit keeps the part that was executed; the rest is requested under a key of its own. */
export async function splitExit(tx: Transaction, { exit, moved }: SplitExit, at: Date): Promise<void> {
  const { id, subscriptionId, masterLogin, amount } = exit;
  await execute(tx, sql`update exit_transfer set amount_minor = ${moved} where id = ${id}`);
  await insertExitTransfers(tx, [{ subscriptionId, masterLogin, amount: amount - moved, refusals: 0 }], at);
}

/** The exits were executed by imported transfers, whose sum is lowered. */
export async function markExitsSettled(
  tx: Transaction,
  masterLogin: string,
  exits: readonly ExitTransfer[],
  at: Date,
): Promise<void> {
  const total = exits.reduce((sum, { amount }) => sum + amount, 0n);
  await execute(
    tx,
    sql`update exit_transfer
        set state = 'APPLIED', deal_id = 0, closed_at = ${at}, reason = null
        where id = any (${exits.map(({ id }) => id)}::bigint[])`,
  );
  await execute(
    tx,
    sql`update master_pool set imported_exits_minor = imported_exits_minor + ${total} where login = ${masterLogin}`,
  );
}
