import { inBatches } from "#kernel/batches/in-batches.ts";
import { SECOND_MS } from "#kernel/values/duration.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { CHECK_EVERY_MS } from "#catalogue/checks.ts";
import type { CheckRun, Finding } from "#kernel/reconcile/check.ts";
import { readCursors, writtenCursors } from "#kernel/reconcile/table-cursors.ts";
import { AT_THE_START, listChanged, type LoginTable, nextSlice } from "./changed-logins.ts";

/** Changed logins beyond this time wait for the next run, and the check is not complete. */
export const MAX_RUN_MS = 20 * SECOND_MS;

export type LoginCheck<Name extends string> = {
  readonly pool: Pool;
  /** By the names under which the cursor of each is stored. */
  readonly tables: Readonly<Record<Name, LoginTable>>;
  readonly maxRunMs: number;
  /** Logins with a break that is not closed, by table. */
  readonly broken: Readonly<Record<Name, readonly string[]>>;
  /** Called with one page of logins of one table. */
  readonly examine: (name: Name, logins: readonly string[]) => Promise<readonly Finding[]>;
};

/**
 * One run of a check that examines the logins that have changed since its last run, those with a break, and a slice of all others.
 * A run without time for all that changed is not complete.
 */
export async function examineLogins<Name extends string>(
  { pool, tables, maxRunMs, broken, examine }: LoginCheck<Name>,
  cursor: string,
): Promise<CheckRun> {
  const names = Object.keys(tables) as Name[];
  const untilMs = performance.now() + maxRunMs;
  const next = readCursors(names, cursor, AT_THE_START);
  const findings = new Map<string, Finding>();
  let leavesNewRows = false;
  for (const name of names) {
    const { pageSize } = tables[name];
    const at = next[name];
    const { slice, changed } = await inSnapshot(pool, async (db) => ({
      slice: await nextSlice(db, tables[name], at, CHECK_EVERY_MS),
      changed: await listChanged(db, tables[name], at),
    }));
    const first = new Set([...broken[name], ...slice.logins]);
    const others = changed.filter((login) => !first.has(login));
    const until = at.until === 0n ? slice.horizon : at.until;
    const passed = { passedTo: slice.logins.at(-1) ?? at.passedTo, hasPassed: slice.endsPass };
    next[name] = { ...passed, since: until, until: 0n, examinedTo: "" };
    for (const page of [...inBatches([...first], pageSize), ...inBatches(others, pageSize)]) {
      for (const finding of await examine(name, page)) findings.set(finding.key, finding);
      const last = page.at(-1) ?? "";
      if (first.has(last) || last === others.at(-1) || performance.now() < untilMs) continue;
      leavesNewRows = true;
      next[name] = { ...passed, since: at.since, until, examinedTo: last };
      break;
    }
  }
  // The pass that ends first waits for the others.
  const endsPass = names.every((name) => next[name].hasPassed);
  for (const name of names) if (endsPass) next[name] = { ...next[name], passedTo: "", hasPassed: false };
  return {
    findings: [...findings.values()],
    covers: () => true,
    nextCursor: writtenCursors(next),
    endsPass,
    leavesNewRows,
  };
}
