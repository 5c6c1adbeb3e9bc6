import { execute, fragment, many, matchesRow, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { retryAt, workQueue } from "#kernel/work-queue/work-queue.ts";
import type { HoldingFlow } from "../domain/books.ts";
import { inParts } from "../domain/parts.ts";

/** A transfer of an Investor's capital off the Master; the amount is positive. */
export type ExitTransfer = {
  readonly id: bigint;
  readonly key: string;
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly amount: bigint;
  readonly tries: number;
  readonly refusals: number;
};

export type NewExitTransfer = {
  readonly subscriptionId: bigint;
  readonly masterLogin: string;
  readonly amount: bigint;
  readonly at: Date;
  /** Of the transfers that it replaces, in a row; each delays it further. */
  readonly refusals: number;
};

const NOW = fragment`clock_timestamp()`;
const NEXT_TRY = retryAt(fragment`tries`);

/** The caller has locked the holding, so numbers have no gaps. */
export async function insertExitTransfer(tx: Transaction, transfer: NewExitTransfer): Promise<ExitTransfer> {
  const { subscriptionId, masterLogin, amount, at, refusals } = transfer;
  const sendAt = refusals > 0 ? retryAt(fragment`${refusals}::integer`) : NOW;
  const row = await one<{ id: bigint; key: string }>(
    tx,
    sql`insert into exit_transfer (subscription_id, number, master_login, amount_minor, state, created_at, next_try_at,
                                   refusals)
        select ${subscriptionId}, coalesce(max(number), 0) + 1, ${masterLogin}, ${amount}, 'OPEN', ${at},
               ${sendAt}, ${refusals}
        from exit_transfer
        where subscription_id = ${subscriptionId}
        returning id, key`,
  );
  return { ...row, subscriptionId, masterLogin, amount, tries: 0, refusals };
}

/** The first exit transfer of a subscription: the command returns its id. */
export async function findFirstExitTransfer(
  db: Queryable,
  subscriptionId: bigint,
): Promise<(ExitTransfer & { readonly transferId: bigint | undefined }) | undefined> {
  const row = await maybeOne<ExitTransfer & { transferId: bigint | null }>(
    db,
    sql`select id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount,
               tries, refusals, transfer_id as "transferId"
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
  columns: fragment`id, key, subscription_id as "subscriptionId", master_login as "masterLogin", amount_minor as amount, refusals`,
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
        set transfer_id = ${sent.transferId}, next_try_at = ${NEXT_TRY}, reason = ${sent.reason}
        where id = ${id}`,
  );
}

export async function markExitsApplied(
  tx: Transaction,
  exits: readonly { readonly id: bigint; readonly dealId: bigint; readonly transferId: bigint }[],
  at: Date,
): Promise<void> {
  if (exits.length === 0) return;
  await many(
    tx,
    sql`update exit_transfer
        set state = 'APPLIED', deal_id = arrived.deal_id, transfer_id = arrived.transfer_id, closed_at = ${at},
            reason = null
        from unnest(
          ${exits.map(({ id }) => id)}::bigint[],
          ${exits.map(({ dealId }) => dealId)}::bigint[],
          ${exits.map(({ transferId }) => transferId)}::bigint[]
        ) as arrived (id, deal_id, transfer_id)
        where exit_transfer.id = arrived.id and exit_transfer.state = 'OPEN'`,
  );
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
  await insertExitTransfer(tx, { subscriptionId, masterLogin, amount, at, refusals: 0 });
}

/** Splits an amount into as many transfers as the platform's maximum requires; none for 0. */
export async function insertExitTransfers(
  tx: Transaction,
  exit: Pick<NewExitTransfer, "subscriptionId" | "masterLogin" | "amount" | "at">,
): Promise<ExitTransfer[]> {
  const transfers: ExitTransfer[] = [];
  for (const amount of inParts(exit.amount)) {
    transfers.push(await insertExitTransfer(tx, { ...exit, amount, refusals: 0 }));
  }
  return transfers;
}

/** Unused parts of reserves of Investors who have left the pool; outflows, so their amounts are negative. */
export async function insertFurtherExits(tx: Transaction, exits: readonly HoldingFlow[], at: Date): Promise<void> {
  for (const { subscriptionId, amount } of exits) {
    const { masterLogin } = await one<{ masterLogin: string }>(
      tx,
      sql`select master_login as "masterLogin" from holding where subscription_id = ${subscriptionId}`,
    );
    await insertExitTransfers(tx, { subscriptionId, masterLogin, amount: -amount, at });
  }
}
