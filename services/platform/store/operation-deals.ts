import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { many, maybeOne, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { operationNumber } from "../protocol/operation-number.ts";
import type { OperationNumber } from "../protocol/operation-number.ts";

const DEAL_CONSTRAINTS = new Set(["operation_deal", "log_entry_deal"]);

/** Somebody else booked the deal between our look and our commit. */
export function isDealTaken(error: unknown): boolean {
  return DEAL_CONSTRAINTS.has(violatedConstraint(error) ?? "");
}

export async function findOperationByDeal(
  db: Queryable,
  server: string,
  dealId: bigint,
): Promise<OperationNumber | undefined> {
  const row = await maybeOne<{ number: bigint }>(
    db,
    sql`select number from operation where server = ${server} and deal_id = ${dealId}`,
  );
  return row && operationNumber(row.number);
}

/** Applied operations that were told one of these tickets, wherever its deal is. */
export async function listOperationsOfDeals(
  db: Queryable,
  server: string,
  deals: readonly bigint[],
): Promise<{ readonly login: string; readonly ticket: bigint; readonly appliedAt: Date }[]> {
  if (deals.length === 0) return [];
  const rows = await many<{ login: string; deal_id: bigint; applied_at: Date }>(
    db,
    sql`select login, deal_id, applied_at
        from operation
        where server = ${server} and deal_id = any (${deals}::bigint[]) and state = 'APPLIED'`,
  );
  return rows.map((row) => ({ login: row.login, ticket: row.deal_id, appliedAt: row.applied_at }));
}
