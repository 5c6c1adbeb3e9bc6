import { execute, many, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { LOST_MOVEMENT_DAYS, type LostMovement } from "../domain/lost-movement.ts";

/** Records a lost deposit or withdrawal once. */
export async function insertLostMovement(
  tx: Transaction,
  server: string,
  { login, dealId, amountMinor, comment }: LostMovement,
): Promise<void> {
  await execute(
    tx,
    sql`insert into lost_movement (server, deal_id, login, amount_minor, comment)
        values (${server}, ${dealId}, ${login}, ${amountMinor}, ${comment})
        on conflict do nothing`,
  );
}

/** The movement was imported, and is listed as this operation. */
export async function setOperation(
  tx: Transaction,
  server: string,
  dealId: bigint,
  operationId: string,
): Promise<void> {
  await execute(
    tx,
    sql`update lost_movement set operation_id = ${operationId} where server = ${server} and deal_id = ${dealId}`,
  );
}

/** Marks the account: only for such accounts lost movements are read. */
export async function markLostMovements(tx: Transaction, login: string): Promise<void> {
  await execute(tx, sql`update account set has_lost_movements = true where login = ${login}`);
}

/** Lost movements of the accounts that were found in the last 30 days. */
export async function listLostMovements(db: Queryable, logins: readonly string[]): Promise<LostMovement[]> {
  if (logins.length === 0) return [];
  const rows = await many<LostMovement>(
    db,
    sql`select login, deal_id as "dealId", amount_minor as "amountMinor", comment, operation_id as "operationId"
        from lost_movement
        where login = any (${logins}::text[])
          and found_at > clock_timestamp() - ${LOST_MOVEMENT_DAYS} * interval '1 day'`,
  );
  return rows.map(withoutNulls);
}
