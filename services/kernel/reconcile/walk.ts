import { SECOND_MS } from "../values/duration.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Queryable } from "../postgres/query.ts";
import { inSnapshot } from "../postgres/transaction.ts";
import type { CheckName } from "#catalogue/checks.ts";
import { type Check, type CheckRun, described, type Finding, idsOf, type RunRequest } from "./check.ts";
import { readCursors, writtenCursors } from "./table-cursors.ts";
import {
  AT_THE_START,
  beginRun,
  nextPage,
  type Page,
  cursorAfter,
  progressAfter,
  type Table,
  type TableCursor,
} from "./table-walk.ts";

export type Walk<Name extends string> = {
  readonly pool: Pool;
  /** By the names under which the cursor of each is stored. */
  readonly tables: Readonly<Record<Name, Table>>;
  readonly everyMs: number;
  readonly examine: (db: Queryable, pages: Readonly<Record<Name, Page>>, old: Examination) => Promise<Examined<Name>>;
};

/** Ids to examine beside those of the pages. */
export type Examination = {
  /** Rows with a break that is not closed, by the kind in its key, for example 17 for transfer:17. */
  readonly broken: (kind: string) => readonly bigint[];
  /** Rows that could still change when they were examined last, by table. */
  readonly open: (table: string) => readonly bigint[];
};

export type Examined<Name extends string> = {
  /** Or what finds them once the snapshot has ended: it may call other services and write. */
  readonly findings: readonly Finding[] | (() => Promise<readonly Finding[]>);
  /** By table: the examined rows that may still change, ascending. A table whose rows never change has none. */
  readonly open?: Readonly<Partial<Record<Name, readonly bigint[]>>>;
};

/** A check that walks through its tables. */
export function walkingCheck<Name extends string>(name: CheckName, walk: Omit<Walk<Name>, "everyMs">): Check {
  const check = described(name);
  return { ...check, run: (request) => walkTables({ ...walk, everyMs: check.everyMs }, request) };
}

/** New rows beyond this time wait for the next run, and the check is not complete. */
const MAX_RUN_MS = 20 * SECOND_MS;

/**
 * One run of a check that reads what is new since its last run, however much that is, page by page, and a slice of all other
 * rows. A run that does not reach the end of what is new is not complete.
 */
export async function walkTables<Name extends string>(
  { pool, tables, everyMs, examine }: Walk<Name>,
  { cursor, pendingBreaks }: RunRequest,
): Promise<CheckRun> {
  const names = Object.keys(tables) as Name[];
  const begin = readCursors(names, cursor, AT_THE_START);
  const untilMs = performance.now() + MAX_RUN_MS;
  const findings = new Map<string, Finding>();
  for (let at = mapOf(names, (name) => beginRun(begin[name])); ;) {
    const old = {
      broken: (kind: string) => idsOf(pendingBreaks, kind),
      open: (table: string) => at[table as Name].open,
    };
    const { pages, examined } = await inSnapshot(pool, async (db) => {
      const read = {} as Record<Name, Page>;
      for (const name of names) read[name] = await nextPage(db, tables[name], at[name], everyMs);
      return { pages: read, examined: await examine(db, read, old) };
    });
    const found = typeof examined.findings === "function" ? await examined.findings() : examined.findings;
    for (const finding of found) findings.set(finding.key, finding);
    const after = mapOf(names, (name) => progressAfter(pages[name], examined.open?.[name] ?? []));
    const leavesNewRows = names.some((name) => after[name].leavesNewRows);
    const hasMoved = names.some((name) => after[name].examinedTo > at[name].examinedTo);
    if (leavesNewRows && hasMoved && performance.now() < untilMs) {
      at = after;
      continue;
    }
    const endsPass = names.every((name) => after[name].hasPassed);
    const next = mapOf(names, (name): TableCursor => {
      const reached = cursorAfter(begin[name], after[name]);
      return endsPass ? { ...reached, passedTo: 0n, hasPassed: false } : reached;
    });
    return {
      findings: [...findings.values()],
      covers: () => true,
      nextCursor: writtenCursors(next),
      endsPass,
      leavesNewRows,
    };
  }
}

function mapOf<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}
