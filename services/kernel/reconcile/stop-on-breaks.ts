import type { Break, ListBreaksRequest, ListBreaksResponse } from "#proto/pamm/common/v1/reconciliation.ts";
import { type Job, runJob } from "../jobs/job.ts";
import type { Log } from "../process/log.ts";
import type { Pool } from "../postgres/pool.ts";
import { column, matchesRow, sql } from "../postgres/query.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";

/** Much shorter than the interval of a check, so that a break stops its Master soon. */
const RUN_EVERY_MS = 10_000;
/** Far fewer than a page may have, because each break has its evidence. */
const BREAKS_PER_PAGE = 200;
/** A Master with more breaks than these was stopped by the first ones. */
const MAX_PAGES = 10;

/** A service whose checks find breaks. */
export type BreakSource = {
  readonly service: string;
  readonly list: (request: ListBreaksRequest) => Promise<ListBreaksResponse>;
  /** The Masters that each break of a page stops; none when it is about something else. */
  readonly mastersOf: (page: readonly Break[]) => Promise<readonly (readonly string[])[]>;
  /** In the transaction that records the break as handled. */
  readonly stop: (tx: Transaction, login: string, found: Break) => Promise<void>;
};

/**
 * Stops Masters because of open breaks, source by source. Each break stops a Master once: it stays open while operators
 * decide, and must not overrule them when they have resumed the Master. The record and the stop are one transaction, so a
 * crash leaves a break that is handled with its Master stopped, or one that is not handled.
 */
export async function stopOnBreaks(pool: Pool, sources: readonly BreakSource[]): Promise<void> {
  for (const { service, list, mastersOf, stop } of sources) {
    for await (const page of openBreaks(list)) {
      const handled = new Set(await listHandled(pool, service, page));
      const masters = await mastersOf(page);
      for (const [index, found] of page.entries()) {
        for (const login of masters[index] ?? []) {
          if (handled.has(`${found.id} ${login}`)) continue;
          await inTransaction(pool, async (tx) => {
            if (await insertHandledBreak(tx, service, found.id, login)) await stop(tx, login, found);
          });
        }
      }
    }
  }
}

export function stopOnBreaksJob(
  { pool, log }: { readonly pool: Pool; readonly log: Log },
  sources: readonly BreakSource[],
  maxMs: number,
): Job {
  const work = async (): Promise<boolean> => {
    await stopOnBreaks(pool, sources);
    return false;
  };
  return runJob({ name: "stop on breaks", everyMs: Math.min(RUN_EVERY_MS, maxMs), work, log });
}

/** Page by page, the oldest first. */
async function* openBreaks(list: BreakSource["list"]): AsyncGenerator<readonly Break[]> {
  let afterId = 0n;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, hasMore } = await list({ afterId, limit: BREAKS_PER_PAGE, withoutChecks: true });
    const last = items.at(-1);
    if (last === undefined) return;
    yield items;
    if (!hasMore) return;
    afterId = last.id;
  }
}

/** Of the breaks, those that are handled, each with its Master. */
async function listHandled(pool: Pool, service: string, page: readonly Break[]): Promise<string[]> {
  return await column<string>(
    pool,
    sql`select break_id || ' ' || master_login
        from handled_break
        where service = ${service} and break_id = any (${page.map(({ id }) => id)}::bigint[])`,
  );
}

/** False when the Master was stopped for the break before. */
async function insertHandledBreak(tx: Transaction, service: string, id: bigint, login: string): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`insert into handled_break (service, break_id, master_login)
        values (${service}, ${id}, ${login})
        on conflict do nothing`,
  );
}
