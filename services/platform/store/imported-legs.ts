import { execute, fragment, many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { importedFeeKey } from "../domain/imported-leg.ts";
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
  return inserted === 0 ? undefined : id;
}

/** A fee that was executed and that is no payment yet: cents, positive. */
export type ImportedFee = {
  readonly transferId: bigint;
  readonly key: string;
  readonly investorLogin: string;
  readonly amountMinor: bigint;
  readonly debitDealId: bigint;
  /** Null when the credit was not executed. */
  readonly creditLogin: string | null;
};

/** Condition: no payment account has deals that are not in its log, so a credit that was not found was not executed. */
const ARE_CREDITS_READ = fragment`not exists (select from account where role = 'payment' and undecided_from is not null)`;

/** Ascending by transfer. Those whose credit may still be found are left out. */
export async function listImportedFees(db: Queryable, after: bigint, limit: number): Promise<ImportedFee[]> {
  return await many<ImportedFee>(
    db,
    sql`select transfer.id as "transferId", key, debit.login as "investorLogin", -debit.amount_minor as "amountMinor",
               debit.deal_id as "debitDealId", credit.login as "creditLogin"
        from transfer
             join leg as debit on debit.transfer_id = transfer.id and debit.ordinal = 1
             left join leg as credit on credit.transfer_id = transfer.id and credit.ordinal = 2
        where starts_with(key, 'imported:fee:') and transfer.id > ${after}
          and (credit.login is not null or ${ARE_CREDITS_READ})
        order by transfer.id
        limit ${limit}`,
  );
}

export type ClaimedFee = {
  /** Of its own key, which it was sent under. */
  readonly hash: string;
  /** The key that its transfer gets. */
  readonly key: string;
  /** The credit goes to it, when it was not executed. */
  readonly creditLogin: string;
  /** Of the payment: cents, positive. More than was debited when the account had less. */
  readonly requestedMinor: bigint;
};

/**
 * Gives imported fees the keys of payments, once. A credit that was not executed is the next leg to send. Fees that were claimed before, whose debit is not
 * imported, or whose credit may still be found, are left out. The payments differ.
 */
export async function claimImportedFees(tx: Transaction, fees: readonly ClaimedFee[]): Promise<void> {
  await execute(
    tx,
    sql`with wanted as (
          select debit.transfer_id, fee.key, fee.credit_login, greatest(fee.requested, -debit.amount_minor) as requested, -debit.amount_minor as amount
          from unnest(
                 ${fees.map(({ hash }) => importedFeeKey(hash))}::text[],
                 ${fees.map(({ key }) => key)}::text[],
                 ${fees.map(({ creditLogin }) => creditLogin)}::text[],
                 ${fees.map(({ requestedMinor }) => requestedMinor)}::bigint[]
               ) as fee (imported_key, key, credit_login, requested)
               join transfer on transfer.key = fee.imported_key
               join leg as debit on debit.transfer_id = transfer.id and debit.ordinal = 1
               left join leg as credit on credit.transfer_id = transfer.id and credit.ordinal = 2
          where not exists (select from transfer as other where other.key = fee.key)
            and (credit.number is not null or ${ARE_CREDITS_READ})
        ), claimed as (
          update transfer
          set key = wanted.key, leg_count = 2
          from wanted
          where transfer.id = wanted.transfer_id and starts_with(transfer.key, 'imported:fee:')
          returning transfer.id, wanted.credit_login, wanted.requested, wanted.amount
        ), resized as (
          update leg
          set requested_minor = case leg.ordinal when 1 then -claimed.requested else claimed.requested end
          from claimed
          where leg.transfer_id = claimed.id
        )
        insert into leg (number, transfer_id, ordinal, login, kind, requested_minor, amount_minor, is_exclusive, is_ready, state)
        select ${NEXT_LEG_NUMBER}, id, 2, credit_login, 'fee_credit', requested, amount, false, true, 'INTENT'
        from claimed
        where not exists (select from leg where leg.transfer_id = claimed.id and leg.ordinal = 2)`,
  );
}
