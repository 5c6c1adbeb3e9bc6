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

const ENTRY = fragment`version.id, version.rate_ppm as "ratePpm", version.rate_from as "rateFrom", version.enabled,
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

/** In the sequence in which they were made. */
export async function listEntries(db: Queryable, investorLogin: string): Promise<TimelineEntry[]> {
  const rows = await many<TimelineEntry>(
    db,
    sql`select ${ENTRY} from fee_version version where version.investor_login = ${investorLogin} order by version.id`,
  );
  return rows.map(withoutNulls);
}

/** The configurations of some Investors with their timelines. */
export async function listTerms(db: Queryable, investorLogins: readonly string[]): Promise<Map<string, Terms>> {
  const rows = await many<TimelineEntry & Configuration>(
    db,
    sql`select configuration.investor_login as "investorLogin", configuration.investor_id as "investorId",
               configuration.created_at as "createdAt", configuration.updated_at as "updatedAt", ${ENTRY}
        from fee_configuration configuration
        join fee_version version on version.investor_login = configuration.investor_login
        where configuration.investor_login = any(${investorLogins}::text[])
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
