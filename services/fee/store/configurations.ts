import { execute, fragment, many, maybeOne, one, sql, withoutNulls, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { NewEntry } from "../domain/change-timeline.ts";
import type { TimelineEntry } from "../domain/timeline.ts";

export type Configuration = {
  readonly investorLogin: string;
  readonly investorId: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A configuration with the entries of its timeline, in the sequence in which they were made. */
export type Terms = Configuration & { readonly versions: readonly TimelineEntry[] };

export const ENTRY = fragment`version.id, version.rate_ppm as "ratePpm", version.rate_from as "rateFrom", version.enabled,
       version.enabled_from as "enabledFrom", version.effective_since as "effectiveSince",
       version.restates, version.cancels, version.made_at as "madeAt"`;

export async function findConfiguration(db: Queryable, investorLogin: string): Promise<Configuration | undefined> {
  return await maybeOne<Configuration>(
    db,
    sql`select investor_login as "investorLogin", investor_id as "investorId", created_at as "createdAt",
               updated_at as "updatedAt"
        from fee_configuration
        where investor_login = ${investorLogin}`,
  );
}

/** Inserts the configuration if there is none, and locks it until commit, so that versions are added in sequence. */
export async function lockConfiguration(
  tx: Transaction,
  { investorLogin, investorId, at }: { investorLogin: string; investorId: bigint; at: Date },
): Promise<Configuration> {
  return await one<Configuration>(
    tx,
    sql`insert into fee_configuration (investor_login, investor_id, created_at, updated_at)
        values (${investorLogin}, ${investorId}, ${at}, ${at})
        on conflict (investor_login) do update set investor_id = fee_configuration.investor_id
        returning investor_login as "investorLogin", investor_id as "investorId", created_at as "createdAt",
                  updated_at as "updatedAt"`,
  );
}

/** An Investor, and the earliest instant that is asked about. */
export type WantedTerms = { readonly investorLogin: string; readonly since: Date };

/**
 * The entries that say everything about `since` and later: from the last one on whose switch, and so its rate, is valid by then. Older ones are
 * hidden by it. All of the timeline when none has begun by then. The range of the index is walked from its end: for an Investor that is
 * equal the planner expects few entries, and would read and sort all of them.
 */
const KNOWN_SINCE = fragment`version.investor_login = wanted.investor_login
            and version.id >= coalesce((
              select begun.id from fee_version begun
              where (begun.investor_login, begun.id) > (wanted.investor_login, 0)
                and (begun.investor_login, begun.id) < (wanted.investor_login, 9223372036854775807)
                and begun.enabled_from <= wanted.since
              order by begun.investor_login desc, begun.id desc limit 1
            ), 0)`;

/** The entries of one Investor in the sequence in which they were made: what is to be known from `since` on. */
export async function listEntries(db: Queryable, { investorLogin, since }: WantedTerms): Promise<TimelineEntry[]> {
  const rows = await many<TimelineEntry>(
    db,
    sql`select ${ENTRY}
        from (select ${investorLogin}::text as investor_login, ${since}::timestamptz as since) wanted
        join fee_version version on ${KNOWN_SINCE}
        order by version.id`,
  );
  return rows.map(withoutNulls);
}

/** The configurations of some Investors with their timelines: what is to be known of each from its instant on. */
export async function listTerms(db: Queryable, wanted: readonly WantedTerms[]): Promise<Map<string, Terms>> {
  const rows = await many<TimelineEntry & Configuration>(
    db,
    sql`select configuration.investor_login as "investorLogin", configuration.investor_id as "investorId",
               configuration.created_at as "createdAt", configuration.updated_at as "updatedAt", version.*
        from unnest(
               ${wanted.map(({ investorLogin }) => investorLogin)}::text[], ${wanted.map(({ since }) => since)}::timestamptz[]
             ) as wanted (investor_login, since)
        join fee_configuration configuration on configuration.investor_login = wanted.investor_login
        cross join lateral (
          select ${ENTRY} from fee_version version
          where ${KNOWN_SINCE}
          order by version.id
        ) version
        order by version.id`,
  );
  const terms = new Map<string, Configuration & { versions: TimelineEntry[] }>();
  for (const row of rows) {
    const { investorLogin, investorId, createdAt, updatedAt, ...version } = withoutNulls(row);
    const known = terms.get(investorLogin);
    if (known !== undefined) known.versions.push(version);
    else terms.set(investorLogin, { investorLogin, investorId, createdAt, updatedAt, versions: [version] });
  }
  return terms;
}

/** The entry that an earlier command with the same key has added, and whose it is. */
export async function findEntryByKey(
  db: Queryable,
  key: string,
): Promise<(TimelineEntry & { readonly investorLogin: string }) | undefined> {
  const row = await maybeOne<TimelineEntry & { investorLogin: string }>(
    db,
    sql`select version.investor_login as "investorLogin", ${ENTRY} from fee_version version where version.key = ${key}`,
  );
  return row === undefined ? undefined : withoutNulls(row);
}

type NewEntries = {
  /** Of the command; its further entries have keys made of it. */
  readonly key: string;
  readonly investorLogin: string;
  readonly entries: readonly NewEntry[];
  readonly madeAt: Date;
};

/** The configuration must be locked. The entries get ids in their sequence. */
export async function insertEntries(
  tx: Transaction,
  { key, investorLogin, entries, madeAt }: NewEntries,
): Promise<void> {
  const keys = entries.map(({ restates }, place) => (place === 0 ? key : `${key}/${restates}`));
  await execute(
    tx,
    sql`insert into fee_version
          (investor_login, key, rate_ppm, rate_from, enabled, enabled_from, effective_since, restates, cancels, made_at)
        select ${investorLogin}, key, rate_ppm, rate_from, enabled, enabled_from, effective_since, restates, cancels, ${madeAt}
        from unnest(
          ${keys}::text[],
          ${entries.map(({ ratePpm }) => ratePpm)}::integer[],
          ${entries.map(({ rateFrom }) => rateFrom)}::timestamptz[],
          ${entries.map(({ enabled }) => enabled)}::boolean[],
          ${entries.map(({ enabledFrom }) => enabledFrom)}::timestamptz[],
          ${entries.map(({ effectiveSince }) => effectiveSince)}::timestamptz[],
          ${entries.map(({ restates }) => restates)}::bigint[],
          ${entries.map(({ cancels }) => cancels)}::bigint[]
        ) with ordinality
          as entry (key, rate_ppm, rate_from, enabled, enabled_from, effective_since, restates, cancels, place)
        order by place`,
  );
  await execute(tx, sql`update fee_configuration set updated_at = ${madeAt} where investor_login = ${investorLogin}`);
}
