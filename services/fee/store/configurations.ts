import {
  execute,
  fragment,
  type Fragment,
  many,
  maybeOne,
  one,
  type Queryable,
  sql,
  withoutNulls,
} from "#kernel/postgres/query.ts";
import { belowId } from "#kernel/values/page.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Change } from "../domain/change-timeline.ts";
import type { ListedVersion, Version } from "../domain/timeline.ts";

export type Configuration = {
  readonly investorLogin: string;
  readonly investorId: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** A configuration with its versions, in the sequence in which they begin. */
export type Terms = Configuration & { readonly versions: readonly Version[] };

export const VERSION = fragment`version.id, version.rate_ppm as "ratePpm", version.effective_since as "effectiveSince",
       version.enabled, version.enabled_from as "enabledFrom", version.made_at as "madeAt"`;

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

/** Of a version: it has begun, or will begin, because it was not ended before. */
const isBegun = fragment`not exists (
  select from fee_version_ended ended where ended.version_id = version.id and ended.ended_at < version.begins_at
)`;

/**
 * The versions that say everything about `since` and later: from the last one on that has begun by then. Older ones are hidden by it. All
 * versions when none has begun by then. The range of the index is walked from its end: for an Investor that is equal the planner expects
 * few versions, and would read and sort all of them.
 */
const KNOWN_SINCE = fragment`version.investor_login = wanted.investor_login
            and version.begins_at >= coalesce((
              select version.begins_at from fee_version version
              where (version.investor_login, version.begins_at) > (wanted.investor_login, '-infinity'::timestamptz)
                and (version.investor_login, version.begins_at) <= (wanted.investor_login, wanted.since) and ${isBegun}
              order by version.investor_login desc, version.begins_at desc limit 1
            ), '-infinity'::timestamptz)
            and ${isBegun}`;

/** The configurations of some Investors with their versions: what is to be known of each from its instant on. */
export async function listTerms(db: Queryable, wanted: readonly WantedTerms[]): Promise<Map<string, Terms>> {
  const rows = await many<Version & Configuration>(
    db,
    sql`select configuration.investor_login as "investorLogin", configuration.investor_id as "investorId",
               configuration.created_at as "createdAt", configuration.updated_at as "updatedAt", ${VERSION}
        from unnest(
               ${wanted.map(({ investorLogin }) => investorLogin)}::text[], ${wanted.map(({ since }) => since)}::timestamptz[]
             ) as wanted (investor_login, since)
             join fee_configuration configuration on configuration.investor_login = wanted.investor_login
             join fee_version version on ${KNOWN_SINCE}
        order by version.begins_at, version.id`,
  );
  const terms = new Map<string, Configuration & { versions: Version[] }>();
  for (const { investorLogin, investorId, createdAt, updatedAt, ...version } of rows) {
    const known = terms.get(investorLogin);
    if (known !== undefined) known.versions.push(version);
    else terms.set(investorLogin, { investorLogin, investorId, createdAt, updatedAt, versions: [version] });
  }
  return terms;
}

/** The version that an earlier command with the same key has added, and whose it is. */
export async function findVersionByKey(
  db: Queryable,
  key: string,
): Promise<(Version & { readonly investorLogin: string }) | undefined> {
  return await maybeOne(
    db,
    sql`select version.investor_login as "investorLogin", ${VERSION} from fee_version version where version.key = ${key}`,
  );
}

type RecordedChange = Change & {
  /** Of the command. */
  readonly key: string;
  readonly investorLogin: string;
  readonly madeAt: Date;
};

/** The configuration must be locked. */
export async function insertVersion(
  tx: Transaction,
  { key, investorLogin, version, replaces, madeAt }: RecordedChange,
): Promise<void> {
  const { ratePpm, effectiveSince, enabled, enabledFrom } = version;
  await execute(
    tx,
    sql`insert into fee_version (investor_login, key, rate_ppm, effective_since, enabled, enabled_from, made_at)
        values (${investorLogin}, ${key}, ${ratePpm}, ${effectiveSince}, ${enabled}, ${enabledFrom}, ${madeAt})`,
  );
  await end(tx, { investorLogin, versionIds: replaces, state: "replaced", key, at: madeAt });
}

/** The configuration must be locked, and the version scheduled. */
export async function cancelScheduled(
  tx: Transaction,
  { versionId, ...command }: { investorLogin: string; versionId: bigint; key: string; at: Date },
): Promise<void> {
  await end(tx, { ...command, versionIds: [versionId], state: "cancelled" });
}

type End = {
  readonly investorLogin: string;
  readonly versionIds: readonly bigint[];
  readonly state: "replaced" | "cancelled";
  readonly key: string;
  readonly at: Date;
};

/** A version that was ended before stays as it is. */
async function end(tx: Transaction, { investorLogin, versionIds, state, key, at }: End): Promise<void> {
  if (versionIds.length > 0) {
    await execute(
      tx,
      sql`insert into fee_version_ended (version_id, state, key, ended_at)
          select version_id, ${state}, ${key}, ${at} from unnest(${versionIds}::bigint[]) as version_id
          on conflict do nothing`,
    );
  }
  await execute(tx, sql`update fee_configuration set updated_at = ${at} where investor_login = ${investorLogin}`);
}

/** The versions of an Investor below an id (0: from the newest), descending by id. */
export async function listVersionsBelow(
  db: Queryable,
  { investorLogin, beforeId, limit }: { investorLogin: string; beforeId: bigint; limit: number },
): Promise<ListedVersion[]> {
  const isBelow = fragment`(version.investor_login, version.id) > (${investorLogin}, 0)
    and (version.investor_login, version.id) < (${investorLogin}, ${belowId(beforeId)})`;
  const rows = await many<ListedVersion>(
    db,
    sql`${listedWhere(isBelow)} order by version.investor_login desc, version.id desc limit ${limit}`,
  );
  return rows.map(withoutNulls);
}

/** A version of this Investor. */
export async function findVersion(
  db: Queryable,
  { investorLogin, versionId }: { investorLogin: string; versionId: bigint },
): Promise<ListedVersion | undefined> {
  const isIt = fragment`version.id = ${versionId} and version.investor_login = ${investorLogin}`;
  const row = await maybeOne<ListedVersion>(db, sql`${listedWhere(isIt)}`);
  return row === undefined ? undefined : withoutNulls(row);
}

/** What has ended a version is one look-up by an index, whatever was changed since: `limit 1` keeps Postgres from reading all ends at once. */
function listedWhere(condition: Fragment): Fragment {
  return fragment`
    select ${VERSION}, ended.state as ended, ended.key as "endedBy"
    from fee_version version
         left join lateral (
           select state, key from fee_version_ended where version_id = version.id limit 1
         ) ended on true
    where ${condition}`;
}
