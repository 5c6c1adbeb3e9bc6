import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber } from "../domain/leg-number.ts";
import { type LegRow, type RecordedLeg, statusOf, type StatusRow } from "./leg-row.ts";

type Row = StatusRow &
  Pick<LegRow, "key" | "transfer_id" | "number" | "ordinal" | "login" | "amount_minor" | "applied_at">;

/** The legs of the transfers that are recorded under these keys, by key; those of each in the order of execution. */
export async function listLegsByKey(db: Queryable, keys: readonly string[]) {
  const rows = await many<Row>(
    db,
    sql`select key, transfer_id, number, ordinal, login, kind, amount_minor, state, came_from, refusal, platform_code, review,
               attempt, absences, deal_id, applied_at
        from transfer
             join leg on transfer_id = transfer.id
        where key = any (${keys}::text[])
        order by transfer_id, ordinal`,
  );
  return Map.groupBy(rows.map(legOf), ({ key }) => key);
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

function legOf(row: Row) {
  return {
    key: row.key,
    transferId: row.transfer_id,
    number: legNumber(row.number),
    ordinal: row.ordinal,
    login: row.login,
    amountMinor: row.amount_minor,
    status: statusOf(row),
    dealId: row.deal_id ?? undefined,
    appliedAt: row.applied_at ?? undefined,
    refusal: row.refusal ?? undefined,
    platformCode: row.platform_code ?? undefined,
  } satisfies Partial<RecordedLeg>;
}
