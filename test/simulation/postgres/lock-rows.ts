import type { Step } from "./compile-from.ts";
import type { Plan } from "./join.ts";
import type { Row } from "./row.ts";
import type { Env, Scope } from "./scope.ts";
import type { Locking, Query } from "./syntax.ts";
import type { Values } from "./types.ts";

/** The table rows of a match that are to be locked, and how. */
type Wanted = { readonly slots: readonly number[]; readonly mode: Locking["mode"] };

type Locked = Wanted & { readonly plan: Plan; readonly skipLocked: boolean };

/**
 * Locks rows one after the other up to the limit; SKIP LOCKED skips rows that other transactions have locked. Rows that no
 * longer match do not count.
 */
export function lockRows(envs: readonly Env[], limit: number, { plan, skipLocked, ...wanted }: Locked): readonly Env[] {
  const locked: Env[] = [];
  for (const env of envs) {
    if (locked.length >= limit) break;
    const isBlocked = wanted.slots.some((slot) => env.bases[slot]?.blockerOf(env.run.tx, wanted.mode) !== undefined);
    if (isBlocked && skipLocked) continue;
    const newest = lockNewest(plan, env, wanted);
    if (newest !== undefined) locked.push(newest);
  }
  return locked;
}

/** The rows that FOR UPDATE or FOR SHARE locks: of the tables that it names, or of all tables of the query. */
export function wantedRows(
  { locking }: Query,
  steps: readonly Step[],
  { sources }: Scope,
): Omit<Locked, "plan"> | undefined {
  if (locking === undefined) return undefined;
  const { of, mode, skipLocked } = locking;
  const named = of.flatMap((name) => {
    const source = sources.find(({ alias }) => alias === name);
    return Array.from(source?.columns.values() ?? [], ({ column }) => column?.slot ?? -1);
  });
  const wanted = steps.filter(({ slot }) => of.length === 0 || named.includes(slot));
  if (wanted.some(({ join, isQuery }) => join === "left" || isQuery === true)) {
    throw new Error("the simulation locks no rows of a subquery or of a left join");
  }
  return { slots: wanted.flatMap(({ slot, rows }) => ("table" in rows ? [slot] : [])), mode, skipLocked };
}

/**
 * Locks the rows of a match and returns it with their newest versions, as READ COMMITTED does (EvalPlanQual): when another
 * transaction has changed one of them since the statement began, only that row is read again, the rows of all other sources
 * stay as the statement found them, and all conditions have to hold for this combination. Undefined when they do not, and
 * when the row was deleted or was changed by this statement already.
 */
export function lockNewest(plan: Plan, env: Env, { slots, mode }: Wanted): Env | undefined {
  const { tx } = env.run;
  const rows = env.rows.slice();
  let hasChanged = false;
  for (const slot of slots) {
    const row = env.bases[slot];
    if (row === undefined) continue;
    if (row.isWrittenBy(tx.statement)) return undefined;
    row.lock(tx, mode);
    const newest = row.seenBy(tx);
    if (newest === undefined) return undefined;
    if (newest === rows[slot]) continue;
    requireRecheckable(plan, { slot, before: rows[slot]!, after: newest }, row);
    rows[slot] = newest;
    hasChanged = true;
  }
  if (!hasChanged) return env;
  env.run.database.onRecheck();
  const changed = { ...env, rows, bases: env.bases.slice() };
  return stillMatches(plan, changed) ? changed : undefined;
}

/** A left join whose condition no longer holds gives no row of its table. */
function stillMatches({ steps }: Plan, env: Env): boolean {
  for (const { slot, fits } of steps) {
    if (fits.every((condition) => condition.eval(env) === true)) continue;
    env.rows[slot] = {};
    env.bases[slot] = undefined;
  }
  return steps.every(({ conditions }) => conditions.every((condition) => condition.eval(env) === true));
}

type Change = { readonly slot: number; readonly before: Values; readonly after: Values };

/**
 * Postgres may evaluate a subquery that reads a column of the row again, or keep the row that it joined for it: that is a
 * decision of its planner. So the simulation does not guess.
 */
function requireRecheckable({ outerReads }: Plan, { slot, before, after }: Change, { table }: Row): void {
  const read = Object.keys(after).find((name) => outerReads.has(`${slot}.${name}`) && before[name] !== after[name]);
  const isWhole = outerReads.has(`${slot}.*`);
  if (read === undefined && !isWhole) return;
  throw new Error(
    `the simulation cannot check a changed row of ${table} again: a subquery of the statement reads its column ${read ?? "through a view"}`,
  );
}
