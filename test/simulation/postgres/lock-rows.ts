import type { Env, Scope } from "./scope.ts";
import type { Locking } from "./syntax.ts";

/** Locks rows one after the other up to the limit; SKIP LOCKED skips rows that other transactions have locked. */
export function lockRows(envs: readonly Env[], limit: number, locking: Locking, scope: Scope): readonly Env[] {
  const slots = slotsOf(locking, scope);
  const locked: Env[] = [];
  for (const env of envs) {
    if (locked.length >= limit) break;
    const rows = env.bases.filter((row, slot) => row !== undefined && (slots === undefined || slots.has(slot)));
    const isBlocked = rows.some((row) => row!.blockerOf(env.run.tx, locking.mode) !== undefined);
    if (isBlocked && locking.skipLocked) continue;
    for (const row of rows) row!.lock(env.run.tx, locking.mode);
    locked.push(env);
  }
  return locked;
}

/** The slots of the tables that FOR ... OF names; all of them when it names none. */
function slotsOf({ of }: Locking, { sources }: Scope): ReadonlySet<number> | undefined {
  if (of.length === 0) return undefined;
  const named = sources.filter(({ alias }) => of.includes(alias));
  return new Set(named.flatMap(({ columns }) => Array.from(columns.values(), ({ column }) => column?.slot ?? -1)));
}
