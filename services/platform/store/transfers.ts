import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A recorded transfer order, without its legs. */
export type Transfer = {
  readonly id: bigint;
  readonly key: string;
  /** Owner of the account lock of its saga; empty outside an account lock. */
  readonly lockOwner: string;
  readonly isEnqueued: boolean;
};

export type NewTransfer = {
  readonly key: string;
  readonly lockOwner: string;
  readonly legCount: number;
  readonly floorMinor: bigint | undefined;
  readonly isEnqueued: boolean;
  readonly releasesLock: boolean;
  readonly sendBefore: Date | undefined;
  readonly comment: string;
  readonly requestId: string;
};

type TransferRow = { id: bigint; key: string; lock_owner: string; is_enqueued: boolean };

/** A transfer order that this call recorded. */
export type InsertedTransfer = {
  readonly id: bigint;
  /** The deadline of the first permit had passed already, by the clock of the database. */
  readonly isLate: boolean;
};

/** Inserts transfers and returns them by key. Leaves out keys that are recorded already: their first order counts. */
export async function insertTransfers(
  tx: Transaction,
  transfers: readonly NewTransfer[],
): Promise<ReadonlyMap<string, InsertedTransfer>> {
  const rows = await many<{ id: bigint; key: string; is_late: boolean }>(
    tx,
    sql`insert into transfer (key, lock_owner, leg_count, floor_minor, is_enqueued, releases_lock, send_before, comment, request_id)
        select key, lock_owner, leg_count, floor, is_enqueued, releases_lock, send_before, comment, request_id
        from unnest(
          ${transfers.map(({ key }) => key)}::text[],
          ${transfers.map(({ lockOwner }) => lockOwner)}::text[],
          ${transfers.map(({ legCount }) => legCount)}::smallint[],
          ${transfers.map(({ floorMinor }) => floorMinor)}::bigint[],
          ${transfers.map(({ isEnqueued }) => isEnqueued)}::boolean[],
          ${transfers.map(({ releasesLock }) => releasesLock)}::boolean[],
          ${transfers.map(({ sendBefore }) => sendBefore)}::timestamptz[],
          ${transfers.map(({ comment }) => comment)}::text[],
          ${transfers.map(({ requestId }) => requestId)}::text[]
        ) as ordered (key, lock_owner, leg_count, floor, is_enqueued, releases_lock, send_before, comment, request_id)
        order by key
        on conflict (key) do nothing
        returning id, key, coalesce(send_before <= clock_timestamp(), false) as is_late`,
  );
  return new Map(rows.map(({ id, key, is_late: isLate }) => [key, { id, isLate }]));
}

export async function findTransferByKey(db: Queryable, key: string): Promise<Transfer | undefined> {
  return (await listTransfers(db, [key])).get(key);
}

/** Transfers by key. */
export async function listTransfers(db: Queryable, keys: readonly string[]): Promise<ReadonlyMap<string, Transfer>> {
  const rows = await many<TransferRow>(
    db,
    sql`select id, key, lock_owner, is_enqueued from transfer where key = any (${keys}::text[])`,
  );
  return new Map(
    rows.map(
      ({ id, key, lock_owner: lockOwner, is_enqueued: isEnqueued }) =>
        [key, { id, key, lockOwner, isEnqueued }] as const,
    ),
  );
}

/** Marks the legs that waited for an earlier leg as ready. */
export async function readyNextLegs(tx: Transaction, transferIds: readonly bigint[]): Promise<void> {
  await execute(
    tx,
    sql`update leg
        set is_ready = true, next_scan_at = clock_timestamp(), changed_at = clock_timestamp()
        where transfer_id = any (${transferIds}::bigint[]) and not is_ready and state = 'INTENT'`,
  );
}
