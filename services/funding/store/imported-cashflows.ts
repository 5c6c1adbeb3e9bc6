import { execute, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A deposit or withdrawal that platform has imported. */
export type ImportedCashflow = {
  readonly operationId: string;
  readonly action: "deposit" | "withdraw";
  readonly login: string;
  /** Cents, positive. */
  readonly amountMinor: bigint;
  readonly comment: string;
  readonly dealId: bigint;
  readonly at: Date;
};

/** Records an executed operation, unless one with its deal is recorded: this database may not have lost what platform has. */
export async function insertImported(tx: Transaction, imported: ImportedCashflow): Promise<void> {
  const { operationId, action, login, amountMinor, comment, dealId, at } = imported;
  const isFirst = action === "deposit" ? false : undefined;
  const minimum = action === "deposit" ? 0n : undefined;
  await execute(
    tx,
    sql`insert into cashflow (operation_id, action, login, amount_minor, currency, comment, state, deal_id, is_imported, deadline,
                              created_at, finished_at, next_try_at, first_deposit_checked, min_deposit_minor)
        select ${operationId}, ${action}, ${login}, ${amountMinor}, 'USD', ${comment}, 'POSTED', ${dealId}, true, ${at}::timestamptz,
               ${at}, ${at}, ${at}, ${isFirst}::boolean, ${minimum}::bigint
        where not exists (select from cashflow where login = ${login} and deal_id = ${dealId})
        on conflict do nothing`,
  );
}
