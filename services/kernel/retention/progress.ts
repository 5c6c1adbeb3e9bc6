import { execute, many, one, type Queryable, sql } from "../postgres/query.ts";
import { DAY_MS, HOUR_MS } from "../duration.ts";
import type { RetentionRule } from "./table-rule.ts";

/** From the end of one pass to the begin of the next one. */
export const PASS_EVERY_MS = HOUR_MS;
/**
 * The instant before which rows are removed moves by at most this much with each pass: a clock that was set forward by a year removes a day
 * more each hour, and operators have time to correct it. What a rule finds at its first pass is all removed by it.
 */
const MAX_ADVANCE_MS = DAY_MS;

export type RuleProgress = {
  readonly name: string;
  readonly knownAt: Date;
  readonly completedAt: Date | null;
  readonly isDue: boolean;
};

export async function insertRules(db: Queryable, names: readonly string[]): Promise<void> {
  await execute(
    db,
    sql`insert into retention_rule (name) select unnest(${names}::text[]) on conflict (name) do nothing`,
  );
}

export async function listProgress(db: Queryable, names: readonly string[]): Promise<RuleProgress[]> {
  return await many<RuleProgress>(
    db,
    sql`select name, known_at as "knownAt", completed_at as "completedAt",
               is_running or completed_at is null
                 or completed_at < clock_timestamp() - ${PASS_EVERY_MS} * interval '1 millisecond' as "isDue"
        from retention_rule
        where name = any (${names}::text[])`,
  );
}

export type Pass = { readonly before: Date; readonly cursor: readonly string[] };

/** Begins a pass, or continues the one that is not over. From the commit on, answers say that older rows may be removed. */
export async function beginPass(
  db: Queryable,
  { name, keptMs }: Pick<RetentionRule, "name" | "keptMs">,
): Promise<Pass> {
  return await one<Pass>(
    db,
    sql`update retention_rule
        set is_running = true, removed_before = case when is_running then removed_before else greatest(
              removed_before,
              least(clock_timestamp() - ${keptMs} * interval '1 millisecond',
                    removed_before + ${MAX_ADVANCE_MS} * interval '1 millisecond')
            ) end
        where name = ${name}
        returning least(removed_before, clock_timestamp() - ${keptMs} * interval '1 millisecond') as before, cursor`,
  );
}

export async function movePass(db: Queryable, name: string, cursor: readonly string[]): Promise<void> {
  await execute(db, sql`update retention_rule set cursor = ${cursor}::text[] where name = ${name} and is_running`);
}

export async function completePass(db: Queryable, name: string): Promise<void> {
  await execute(
    db,
    sql`update retention_rule
        set is_running = false, cursor = '{}', completed_at = clock_timestamp()
        where name = ${name}`,
  );
}

/** What ended before this instant may have been removed; undefined when nothing has. */
export async function findRemovedBefore(db: Queryable, name: string): Promise<Date | undefined> {
  const [row] = await many<{ removedBefore: Date | null }>(
    db,
    sql`select removed_before as "removedBefore" from retention_rule where name = ${name}`,
  );
  return row?.removedBefore ?? undefined;
}
