import { many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber } from "../domain/leg-number.ts";
import type { AttemptState } from "../domain/leg.ts";
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

type AttemptRow = Pick<Row, "transferId" | "key" | "login" | "kind" | "amountMinor" | "dealId"> & {
  readonly comment: string;
  readonly leg: bigint;
  readonly number: number;
  readonly state: AttemptState;
  readonly grantedAt: Date;
  readonly permitExpiresAt: Date;
  readonly endedAt: Date | undefined;
  readonly answerCode: number | undefined;
  readonly answer: string;
  /** How often the history had no deal of it, and when it was searched last. */
  readonly searches: number;
  readonly searchedAt: Date | undefined;
};

/** The attempts of the transfers that are recorded under these keys, oldest first. */
export async function listAttemptsByKey(db: Queryable, keys: readonly string[], limit: number) {
  const rows = await many<AttemptRow>(
    db,
    sql`select transfer_id as "transferId", key, comment, leg.number as leg, login, kind, amount_minor as "amountMinor", deal_id as "dealId",
               attempt.number, attempt.state, granted_at as "grantedAt", permit_expires_at as "permitExpiresAt", fenced_at as "endedAt",
               answer_code as "answerCode", coalesce(answer, '') as answer, searches, searched_at as "searchedAt"
        from transfer
             join leg on transfer_id = transfer.id
             join attempt on leg_number = leg.number
             cross join lateral (
               select count(*)::integer as searches, max(started_at) as searched_at
               from scan
               where scan.leg_number = leg.number and scan.attempt = attempt.number
             ) as search
        where key = any (${keys}::text[])
        order by granted_at, leg.number, attempt.number
        limit ${limit}`,
  );
  return rows.map((row) => ({ ...withoutNulls(row), leg: legNumber(row.leg) }));
}
