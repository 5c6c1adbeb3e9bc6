import {
  column,
  execute,
  fragment,
  many,
  maybeOne,
  one,
  type Queryable,
  sql,
  withoutNulls,
  unnest,
} from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt, workQueue } from "#kernel/work-queue/work-queue.ts";
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

/** `refusals`: of the transfers that it replaces, in a row; each delays it further. */
export type NewExitTransfer = Pick<ExitTransfer, "subscriptionId" | "amount"> & { readonly refusals?: number };

/** Of an exit transfer but for its tries, which a claim adds. */
const EXIT_COLUMNS = fragment`id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount, generation,
  refusals`;

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
): Promise<Pick<ExitTransfer, "id" | "subscriptionId">[]> {
  const parts = exits.flatMap(({ subscriptionId, refusals = 0, ...exit }) =>
    inParts(exit.amount).map((amount) => ({ subscriptionId, refusals, amount })),
  );
  if (parts.length === 0) return [];
  return await many(
    tx,
    sql`insert into exit_transfer (subscription_id, number, master_login, amount_minor, generation, state, created_at, next_try_at,
                                   refusals)
        select part.subscription_id, last.number + row_number() over (partition by part.subscription_id order by ordinal),
               holding.master_login, amount,
               ${GENERATION}, 'OPEN', ${at}::timestamptz,
               case when part.refusals > 0 then greatest(${AFTER_REFUSALS}, pool.margin_next_at) else clock_timestamp() end,
               part.refusals
        from ${unnest(parts)} with ordinality as part (subscription_id bigint, amount bigint, refusals integer, ordinal)
             join holding on holding.subscription_id = part.subscription_id
             join master_pool as pool on pool.login = holding.master_login
             cross join lateral (
               select coalesce(max(number), 0) as number
               from exit_transfer
               where exit_transfer.subscription_id = part.subscription_id
             ) as last
        order by ordinal
        returning id, subscription_id as "subscriptionId"`,
  );
}

export type FirstExitTransfer = ExitTransfer & {
  /** Of platform, once it has recorded the transfer. */
  readonly transferId: bigint | undefined;
  /** That, or it was executed by an imported transfer. */
  readonly isSent: boolean;
};

/** The first exit transfer of a subscription: the command returns its id. */
export async function findFirstExitTransfer(
  db: Queryable,
  subscriptionId: bigint,
): Promise<FirstExitTransfer | undefined> {
  const row = await maybeOne<FirstExitTransfer>(
    db,
    sql`select ${EXIT_COLUMNS}, tries, transfer_id as "transferId",
               transfer_id is not null or state = 'APPLIED' as "isSent"
        from exit_transfer
        where subscription_id = ${subscriptionId} and number = 1`,
  );
  return row && withoutNulls(row);
}

export const exitTransferQueue = workQueue<ExitTransfer>({
  table: fragment`exit_transfer`,
  key: fragment`id`,
  keyType: fragment`bigint`,
  isOpen: fragment`work.state = 'OPEN'`,
  columns: EXIT_COLUMNS,
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
  const rows = exits.map(({ id, dealId, transferId }) => ({ id, dealId, transferId }));
  const masters = await column<string>(
    tx,
    sql`update exit_transfer
        set state = 'APPLIED', deal_id = arrived.deal_id, transfer_id = arrived.transfer_id, closed_at = ${at},
            reason = null
        from ${unnest(rows)} as arrived (id bigint, deal_id bigint, transfer_id bigint)
        where exit_transfer.id = arrived.id and exit_transfer.state = 'OPEN'
        returning exit_transfer.master_login`,
  );
  await endMarginWait(tx, masters);
}

/** Ends an open transfer that was certainly not executed, or that moved a wrong amount; another one follows under a new key. False when it is not open. */
export async function replaceExit(
  tx: Transaction,
  {
    id,
    reason,
    transferId,
    refusals = 0,
  }: { readonly id: bigint; readonly reason: string; readonly transferId?: bigint; readonly refusals?: number },
  at: Date,
): Promise<boolean> {
  const replaced = await maybeOne<NewExitTransfer>(
    tx,
    sql`update exit_transfer
        set state = 'REFUSED', closed_at = ${at}, reason = ${reason}, transfer_id = coalesce(${transferId}::bigint, transfer_id)
        where id = ${id} and state = 'OPEN'
        returning subscription_id as "subscriptionId", amount_minor as amount`,
  );
  if (replaced === undefined) return false;
  await insertExitTransfers(tx, [{ ...replaced, refusals }], at);
  return true;
}

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
    sql`select ${EXIT_COLUMNS}, tries
        from exit_transfer
        where master_login = ${masterLogin} and state = 'OPEN' and transfer_id is null
        order by id
        for no key update`,
  );
  return { imported, exits };
}

/** These amounts of the exits were executed by imported transfers, whose sum is lowered. */
export async function markExitsSettled(
  tx: Transaction,
  masterLogin: string,
  exits: readonly Pick<ExitTransfer, "id" | "amount">[],
  at: Date,
): Promise<void> {
  const total = exits.reduce((sum, { amount }) => sum + amount, 0n);
  await execute(
    tx,
    sql`update exit_transfer
        set state = 'APPLIED', amount_minor = settled.amount, deal_id = 0, closed_at = ${at}, reason = null
        from ${unnest(exits.map(({ id, amount }) => ({ id, amount })))} as settled (id bigint, amount bigint)
        where exit_transfer.id = settled.id`,
  );
  await execute(
    tx,
    sql`update master_pool set imported_exits_minor = imported_exits_minor + ${total} where login = ${masterLogin}`,
  );
}
