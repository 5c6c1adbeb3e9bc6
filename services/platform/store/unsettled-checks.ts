import { column, many, type Queryable, sql } from "#kernel/postgres/query.ts";

/** A check that has to be settled before permits are granted again. */
export type RequiredCheck = {
  readonly name: string;
  /** A complete run, for a check whose runs read all new rows, or a complete pass through all accounts, which may take several runs. */
  readonly needs: "run" | "pass";
};

export type Unsettled = RequiredCheck & {
  /** Whether the run or pass that is needed began after the instant. */
  readonly isRun: boolean;
  /** Breaks that are open, or were found by a run and are not confirmed yet; of more than 1,000 one more than that. */
  readonly breaks: number;
  /** The accounts of some of them. */
  readonly logins: readonly string[];
};

/** Their exact number decides nothing, and GET /api/v1/ops/breaks lists them page by page. */
export const MAX_BREAKS_COUNTED = 1_000;
const MAX_LOGINS_SHOWN = 5;

/**
 * Those of the checks that have breaks, or have not been run since the instant. A check that has never run is one of them. Accounts that
 * the platform does not show, or not in a readable form, do not count: there is no amount that a command could repeat, and none is sent
 * on an account whose history is not complete.
 */
export async function listUnsettled(
  db: Queryable,
  checks: readonly RequiredCheck[],
  since: Date,
): Promise<Unsettled[]> {
  const names = checks.map(({ name }) => name);
  const runs = await many<{ name: string; runFrom: Date | null; passFrom: Date | null }>(
    db,
    sql`select name, completed_from as "runFrom", full_pass_from as "passFrom"
        from reconciliation_check
        where name = any (${names}::text[])`,
  );
  const found = new Map<string, readonly string[]>();
  for (const name of names) found.set(name, await listLoginsOfBreaks(db, name));
  return checks
    .map(({ name, needs }): Unsettled => {
      const run = runs.find((row) => row.name === name);
      const from = needs === "pass" ? run?.passFrom : run?.runFrom;
      const logins = found.get(name) ?? [];
      return {
        name,
        needs,
        isRun: from instanceof Date && from > since,
        breaks: logins.length,
        logins: [...new Set(logins)].slice(0, MAX_LOGINS_SHOWN),
      };
    })
    .filter(({ isRun, breaks: count }) => !isRun || count > 0);
}

/** One for each break, also those that were found by a run and are not confirmed yet. */
async function listLoginsOfBreaks(db: Queryable, name: string): Promise<string[]> {
  return await column<string>(
    db,
    // The order of the index on the open breaks of each check.
    sql`select login
        from reconciliation_break
        where check_name = ${name} and closed_at is null
          and (check_name <> 'platform_balance' or evidence ->> 'shown_minor' is not null)
        order by key
        limit ${MAX_BREAKS_COUNTED + 1}`,
  );
}
