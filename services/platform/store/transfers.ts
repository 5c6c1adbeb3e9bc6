import { execute, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A wish to move money once, without its legs. */
export type Transfer = {
  readonly id: bigint;
  readonly key: string;
  /** The lane holder in whose story it stands; empty outside a lane. */
  readonly holder: string;
  readonly isEnqueued: boolean;
};

export type NewTransfer = {
  readonly key: string;
  readonly holder: string;
  readonly legs: number;
  readonly floorMinor: bigint | undefined;
  readonly isEnqueued: boolean;
  readonly sendBefore: Date | undefined;
  readonly comment: string;
  readonly requestId: string;
};

type TransferRow = { id: bigint; key: string; holder: string; is_enqueued: boolean };

/** Thrown to undo the transaction of a second one who recorded the same key at the same moment. */
export class KeyTaken extends Error {
  override readonly name = "KeyTaken";
}

export async function insertTransfer(tx: Transaction, transfer: NewTransfer): Promise<bigint> {
  try {
    const { id } = await one<{ id: bigint }>(
      tx,
      sql`insert into transfer (key, holder, legs, floor_minor, is_enqueued, send_before, comment, request_id)
          values (${transfer.key}, ${transfer.holder}, ${transfer.legs}, ${transfer.floorMinor}, ${transfer.isEnqueued},
                  ${transfer.sendBefore}, ${transfer.comment}, ${transfer.requestId})
          returning id`,
    );
    return id;
  } catch (error) {
    throw violatedConstraint(error) === "transfer_key_key" ? new KeyTaken("the key was recorded meanwhile") : error;
  }
}

export async function findTransferByKey(db: Queryable, key: string): Promise<Transfer | undefined> {
  const row = await maybeOne<TransferRow>(
    db,
    sql`select id, key, holder, is_enqueued from transfer where key = ${key}`,
  );
  return row && { id: row.id, key: row.key, holder: row.holder, isEnqueued: row.is_enqueued };
}

/** Legs that waited for an earlier one may go on. */
export async function readyNextLeg(tx: Transaction, transferId: bigint): Promise<void> {
  await execute(
    tx,
    sql`update operation
        set is_ready = true, next_look_at = clock_timestamp(), changed_at = clock_timestamp()
        where transfer_id = ${transferId} and not is_ready and state = 'INTENT'`,
  );
}
