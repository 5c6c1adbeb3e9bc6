import type { Step } from "./compile-from.ts";
import type { Plan } from "./join.ts";
import { lockNewest, type Wanted } from "./recheck.ts";
import type { Env, Scope } from "./scope.ts";
import type { Query } from "./syntax.ts";

export type Locked = Wanted & { readonly plan: Plan; readonly skipLocked: boolean };

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
