import { execute, maybeOne, one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import type { LegNumber } from "../domain/leg-number.ts";
import { NEXT_LEG_NUMBER } from "./database-identity.ts";

export type ImportedLeg = {
  readonly key: string;
  readonly ordinal: 1 | 2;
  readonly number: LegNumber;
  readonly attempt: number;
  readonly login: string;
  readonly kind: LegKind;
  /** Cents, signed. */
  readonly amountMinor: bigint;
  readonly isExclusive: boolean;
  readonly comment: string;
  readonly server: string;
  readonly dealId: bigint;
  readonly at: Date;
};

/**
 * Records an executed leg that the database has lost, with its transfer; the other leg of a fee joins the transfer of the first one.
 * Undefined when the transfer has such a leg already.
 */
export async function insertImportedLeg(tx: Transaction, leg: ImportedLeg): Promise<bigint | undefined> {
  const { key, ordinal, comment } = leg;
  const { id } = await one<{ id: bigint }>(
    tx,
    sql`insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
        values (${key}, '', 1, true, false, ${comment}, '')
        on conflict (key) do update set leg_count = 2
        returning id`,
  );
  const inserted = await execute(
    tx,
    sql`insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready,
                         state, attempt, server, deal_id, applied_at)
        values (${leg.number}, ${id}, ${ordinal}, ${leg.login}, ${leg.kind}, ${leg.amountMinor}, ${leg.amountMinor},
                ${leg.isExclusive}, true, 'APPLIED', ${leg.attempt}, ${leg.server}, ${leg.dealId}, ${leg.at})
        on conflict do nothing`,
  );
  if (inserted === 0) return undefined;
  if (leg.kind === "fee_debit") {
    await execute(tx, sql`update transfer set unclaimed_login = ${leg.login} where id = ${id}`);
  }
  return id;
}

/** The fee that was imported under a key, as far as it was executed: cents, signed. Its transfer is locked. */
export type ImportedFee = {
  readonly transferId: bigint;
  readonly login: string;
  readonly debitMinor: bigint;
  readonly hasCredit: boolean;
};

export async function lockImportedFee(tx: Transaction, key: string): Promise<ImportedFee | undefined> {
  const transfer = await maybeOne<{ id: bigint }>(
    tx,
    sql`select id from transfer where key = ${key} for no key update`,
  );
  if (transfer === undefined) return undefined;
  const row = await maybeOne<{ login: string; debit: bigint; credits: bigint }>(
    tx,
    sql`select login, amount_minor as debit,
               (select count(*) from leg as credit where credit.transfer_id = leg.transfer_id and credit.ordinal = 2) as credits
        from leg
        where transfer_id = ${transfer.id} and ordinal = 1`,
  );
  if (row === undefined) return undefined;
  return { transferId: transfer.id, login: row.login, debitMinor: row.debit, hasCredit: row.credits > 0n };
}

export type UnclaimedFee = { readonly key: string; readonly debitMinor: bigint };

/** The earliest imported fee of an Investor that no fee has claimed, and that was credited to this account or not credited yet. */
export async function findUnclaimedFee(
  tx: Transaction,
  login: string,
  creditLogin: string,
): Promise<UnclaimedFee | undefined> {
  return await maybeOne<UnclaimedFee>(
    tx,
    sql`select key, debit.amount_minor as "debitMinor"
        from transfer
             join leg as debit on debit.transfer_id = transfer.id and debit.ordinal = 1
             left join leg as credit on credit.transfer_id = transfer.id and credit.ordinal = 2
        where unclaimed_login = ${login} and coalesce(credit.login, ${creditLogin}) = ${creditLogin}
        order by transfer.id
        limit 1`,
  );
}

/** A requested fee, two legs of opposite amounts, whose debit was found to be executed. */
export type ClaimedFee = {
  readonly transferId: bigint;
  readonly key: string;
  readonly lockOwner: string;
  readonly releasesLock: boolean;
  readonly requestId: string;
  /** Cents, negative. */
  readonly requestedMinor: bigint;
  /** Executed; the credit has the same amount. */
  readonly debitMinor: bigint;
  readonly creditLogin: string;
  readonly hasCredit: boolean;
};

/** Gives the imported transfer the key under which it was requested. A credit that was not executed is the next leg to send. */
export async function claimImportedFee(tx: Transaction, fee: ClaimedFee): Promise<void> {
  const { transferId, requestedMinor, debitMinor } = fee;
  await execute(
    tx,
    sql`update transfer
        set key = ${fee.key}, lock_owner = ${fee.lockOwner}, releases_lock = ${fee.releasesLock}, leg_count = 2,
            request_id = ${fee.requestId}, unclaimed_login = null
        where id = ${transferId}`,
  );
  await execute(
    tx,
    sql`update leg
        set requested_minor = case ordinal when 1 then ${requestedMinor}::bigint else -${requestedMinor}::bigint end
        where transfer_id = ${transferId}`,
  );
  if (fee.hasCredit) return;
  await execute(
    tx,
    sql`insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state)
        values (${NEXT_LEG_NUMBER}, ${transferId}, 2, ${fee.creditLogin}, 'fee_credit', ${-requestedMinor}, ${-debitMinor}, false,
                true, 'INTENT')`,
  );
}
