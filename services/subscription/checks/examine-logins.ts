import { inBatches } from "#kernel/in-batches.ts";
import { SECOND_MS } from "#kernel/duration.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import { CHECK_EVERY_MS } from "#kernel/reconcile/catalogue.ts";
import type { CheckRun, Finding } from "#kernel/reconcile/check.ts";
import { readPositions, writtenPositions } from "#kernel/reconcile/positions.ts";
import { AT_THE_START, type LoginTable, nextSlice, type Position, searchParts } from "./changed-logins.ts";

export type Limits = {
  /** Changed logins beyond this time wait for the next run, and the check is not complete. */
  readonly maxRunMs: number;
  /** Rows that a run searches for changes: of larger tables each run searches a part. */
  readonly maxRows: number;
  /** Rows that are searched before the changed logins among them are examined, at least one part in each run. */
  readonly rowsOfAPart: number;
};

export const LIMITS: Limits = { maxRunMs: 20 * SECOND_MS, maxRows: 200_000, rowsOfAPart: 20_000 };

export type LoginCheck<Name extends string> = {
  readonly pool: Pool;
  /** By the names under which the position of each is stored. */
  readonly tables: Readonly<Record<Name, LoginTable>>;
  readonly limits: Limits;
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
  { pool, tables, limits, broken, examine }: LoginCheck<Name>,
  cursor: string,
): Promise<CheckRun> {
  const names = Object.keys(tables) as Name[];
  const untilMs = performance.now() + limits.maxRunMs;
  const stored = readPositions(names, cursor, AT_THE_START);
  const next = { ...stored };
  // A login that was examined again may be without its break by then.
  const findings = new Map<string, Finding>();
  let isBehind = false;
  for (const name of names) {
    const examined = new Set<string>();
    const examineAll = async (logins: readonly string[]): Promise<void> => {
      const left = logins.filter((login) => !examined.has(login));
      for (const page of inBatches(left, tables[name].pageSize)) {
        for (const finding of await examine(name, page)) findings.set(finding.key, finding);
      }
      for (const login of left) examined.add(login);
    };
    const { slice, begun, found } = await inSnapshot(pool, async (db) => {
      const share = await nextSlice(db, tables[name], stored[name], CHECK_EVERY_MS);
      const search = beginSearch(stored[name], share.horizon);
      return { slice: share, begun: search, found: await searchParts(db, tables[name], search, limits.rowsOfAPart) };
    });
    await examineAll([...new Set([...broken[name], ...slice.logins])]);
    const passed = { passedTo: slice.logins.at(-1) ?? stored[name].passedTo, hasPassed: slice.endsPass };
    next[name] = { ...begun, ...passed };
    const tableCount = tables[name].searched.length;
    let rows = 0;
    for (let parts = found; ;) {
      await examineAll(parts.logins);
      rows += parts.rows;
      next[name] = { ...next[name], table: parts.table, block: parts.block };
      if (next[name].since === 0n || parts.table === tableCount || rows >= limits.maxRows) break;
      isBehind ||= performance.now() >= untilMs;
      if (isBehind) break;
      parts = await inSnapshot(pool, (db) => searchParts(db, tables[name], next[name], limits.rowsOfAPart));
    }
    if (next[name].since === 0n || next[name].table === tableCount) next[name] = endSearch(next[name]);
  }
  // The pass that ends first waits for the others.
  const endsPass = names.every((name) => next[name].hasPassed);
  for (const name of names) if (endsPass) next[name] = { ...next[name], passedTo: "", hasPassed: false };
  return {
    findings: [...findings.values()],
    covers: () => true,
    nextCursor: writtenPositions(next),
    endsPass,
    isBehind,
  };
}

function beginSearch(at: Position, horizon: bigint): Position {
  return at.until === 0n ? { ...at, until: horizon } : at;
}

/** Before the first search nothing is known to be new: the pass examines all. */
function endSearch(at: Position): Position {
  return { ...at, since: at.until, until: 0n, table: 0, block: 0 };
}
