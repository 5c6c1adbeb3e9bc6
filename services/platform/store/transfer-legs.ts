import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { type RecordedLeg, type StatusRow, withStatus } from "./leg-row.ts";

type Row = StatusRow &
  Pick<RecordedLeg, "key" | "transferId" | "number" | "ordinal" | "login" | "amountMinor" | "appliedAt">;

/** The legs of the transfers that are recorded under these keys, by key; those of each in the order of execution. */
export async function listLegsByKey(db: Queryable, keys: readonly string[]) {
  const rows = await many<Row>(
    db,
    sql`select key, transfer_id as "transferId", number, ordinal, login, kind, amount_minor as "amountMinor", state,
               came_from as "cameFrom", refusal, platform_code as "platformCode", review, attempt, absences, deal_id as "dealId",
               applied_at as "appliedAt"
        from transfer
             join leg on transfer_id = transfer.id
        where key = any (${keys}::text[])
        order by transfer_id, ordinal`,
  );
  return Map.groupBy(
    rows.map((row) => withStatus(row)),
    ({ key }) => key,
  );
}

/** The transfer whose leg has the deal, and the kind of that leg. */
export async function findTransferByDeal(
  db: Queryable,
  server: string,
  dealId: bigint,
): Promise<{ readonly key: string; readonly kind: LegKind } | undefined> {
  return await maybeOne(
    db,
    sql`select key, kind
        from leg
             join transfer on transfer.id = transfer_id
        where server = ${server} and deal_id = ${dealId}`,
  );
}
