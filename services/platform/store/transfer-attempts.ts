import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber } from "../domain/leg-number.ts";
import type { AttemptState } from "../domain/leg.ts";

type Row = {
  transfer_id: bigint;
  key: string;
  comment: string;
  leg: bigint;
  login: string;
  kind: LegKind;
  amount_minor: bigint;
  deal_id: bigint | null;
  number: number;
  state: AttemptState;
  granted_at: Date;
  permit_expires_at: Date;
  fenced_at: Date | null;
  answer_code: number | null;
  answer: string | null;
  searches: number;
  searched_at: Date | null;
};

/** The attempts of the transfers that are recorded under these keys, with how often the history had no deal of each; oldest first. */
export async function listAttemptsByKey(db: Queryable, keys: readonly string[], limit: number) {
  const rows = await many<Row>(
    db,
    sql`select transfer_id, key, comment, leg.number as leg, login, kind, amount_minor, deal_id, attempt.number, attempt.state,
               granted_at, permit_expires_at, fenced_at, answer_code, answer, searches, searched_at
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
  return rows.map((row) => ({ ...row, leg: legNumber(row.leg) }));
}
