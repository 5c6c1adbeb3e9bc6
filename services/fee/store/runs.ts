import { column, many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

export type NewRun = {
  readonly kind: "WEEKLY" | "ON_DEMAND";
  readonly masterLogin: string;
  /** Of a withdrawal or exit; undefined for a week. */
  readonly key: string | undefined;
  /** Of payments of weeks that it collects before its own. */
  readonly weeklyKeys: readonly string[];
  readonly periodStart: Date;
  readonly periodEnd: Date;
  /** False when further Investors of its pool are to be decided. */
  readonly isDecided: boolean;
};

/** Returns the ids by key: of a withdrawal or exit that has a run already there is none. A key has no line break. */
export async function insertRuns(
  tx: Transaction,
  runs: readonly NewRun[],
  at: Date,
): Promise<ReadonlyMap<string | undefined, bigint>> {
  if (runs.length === 0) return new Map();
  const rows = await many<{ id: bigint; key: string | null }>(
    tx,
    sql`insert into fee_run (kind, master_login, key, weekly_keys, period_start, period_end, is_decided, created_at)
        select kind, master_login, key, string_to_array(weekly_keys, ${"\n"}), period_start, period_end, is_decided, ${at}
        from unnest(
          ${runs.map(({ kind }) => kind)}::text[],
          ${runs.map(({ masterLogin }) => masterLogin)}::text[],
          ${runs.map(({ key }) => key)}::text[],
          ${runs.map(({ weeklyKeys }) => weeklyKeys.join("\n"))}::text[],
          ${runs.map(({ periodStart }) => periodStart)}::timestamptz[],
          ${runs.map(({ periodEnd }) => periodEnd)}::timestamptz[],
          ${runs.map(({ isDecided }) => isDecided)}::boolean[]
        ) with ordinality as run (kind, master_login, key, weekly_keys, period_start, period_end, is_decided, rank)
        order by rank
        on conflict (key) do nothing
        returning id, key`,
  );
  return new Map(rows.map(({ id, key }) => [key ?? undefined, id]));
}

/**
 * The run of a week, whose decision ends with its last payments; a decided run stays so. Undefined without such a run. The Master must be
 * locked.
 */
export async function extendRun(
  tx: Transaction,
  { masterLogin, periodEnd, isDecided }: NewRun,
): Promise<bigint | undefined> {
  const [id] = await column<bigint>(
    tx,
    sql`update fee_run
        set is_decided = is_decided or ${isDecided}
        where master_login = ${masterLogin} and period_end = ${periodEnd} and kind = 'WEEKLY'
        returning id`,
  );
  return id;
}
