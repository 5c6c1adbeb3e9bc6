import { execute, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";

/** The instant of the next verification; null without one. */
export const nextVerification = fragment`(
  select min(next_scan_at) from leg where state = 'APPLIED' and verifications < 3
)`;

/** An applied leg whose deal is due to be verified. */
export type DueVerification = {
  readonly number: LegNumber;
  readonly login: string;
  readonly kind: LegKind;
  readonly amountMinor: bigint;
  readonly attempt: number;
  readonly ticket: bigint;
  readonly appliedAt: Date;
  /** How many verifications have found the deal. */
  readonly verifications: number;
};

type VerificationRow = {
  number: bigint;
  login: string;
  kind: LegKind;
  amount_minor: bigint;
  attempt: number;
  deal_id: bigint;
  applied_at: Date;
  verifications: number;
};

/** Claims due verifications for this process, which schedules the next one of each with `saveVerifications`. */
export async function claimVerifications(db: Queryable, claimMs: number, limit: number): Promise<DueVerification[]> {
  const rows = await many<VerificationRow>(
    db,
    sql`update leg
        set next_scan_at = clock_timestamp() + ${claimMs} * interval '1 millisecond'
        where number = any ((
          select array_agg(number)
          from (
            select number
            from leg
            where state = 'APPLIED' and verifications < 3 and next_scan_at <= statement_timestamp()
            order by next_scan_at
            limit ${limit}
            for no key update skip locked
          ) as claimed
        )::bigint[])
        returning number, login, kind, amount_minor, attempt, deal_id, applied_at, verifications`,
  );
  return rows.map((row) => ({
    number: legNumber(row.number),
    login: row.login,
    kind: row.kind,
    amountMinor: row.amount_minor,
    attempt: row.attempt,
    ticket: row.deal_id,
    appliedAt: row.applied_at,
    verifications: row.verifications,
  }));
}

/** A verification that found the deal. Without `nextAt` there is no further verification. */
export type FoundVerification = Pick<DueVerification, "number" | "verifications"> & {
  readonly nextAt: Date | undefined;
};

/** Records that the deals were found. A leg that changed since its verification was claimed stays as it is. */
export async function saveVerifications(db: Queryable, found: readonly FoundVerification[]): Promise<void> {
  if (found.length === 0) return;
  await execute(
    db,
    sql`update leg
        set verifications = leg.verifications + 1, next_scan_at = coalesce(verified.next_at, next_scan_at)
        from unnest(
          ${found.map(({ number }) => number)}::bigint[],
          ${found.map(({ verifications }) => verifications)}::smallint[],
          ${found.map(({ nextAt }) => nextAt)}::timestamptz[]
        ) as verified (number, verifications, next_at)
        where leg.number = verified.number and state = 'APPLIED' and leg.verifications = verified.verifications`,
  );
}

/** Postpones a verification that could not decide yet whether the deal exists. */
export async function postponeVerification(
  db: Queryable,
  { number, verifications }: DueVerification,
  until: Date,
): Promise<void> {
  await execute(
    db,
    sql`update leg
        set next_scan_at = ${until}
        where number = ${number} and state = 'APPLIED' and verifications = ${verifications}`,
  );
}
