import { execute, many, maybeOne, one, sql, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { FeeVersion } from "../domain/version.ts";

export type Configuration = {
  readonly investorLogin: string;
  readonly investorId: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type Terms = { readonly investorId: bigint; readonly versions: readonly FeeVersion[] };

type ConfigurationRow = { investor_login: string; investor_id: bigint; created_at: Date; updated_at: Date };

type VersionRow = {
  rate_ppm: number;
  rate_from: Date | null;
  enabled: boolean;
  enabled_from: Date | null;
  effective_since: Date;
};

export type MadeVersion = { readonly investorLogin: string; readonly version: FeeVersion; readonly madeAt: Date };

export async function findConfiguration(db: Queryable, investorLogin: string): Promise<Configuration | undefined> {
  const row = await maybeOne<ConfigurationRow>(
    db,
    sql`select investor_login, investor_id, created_at, updated_at
        from fee_configuration
        where investor_login = ${investorLogin}`,
  );
  return row && configurationOf(row);
}

/** Inserts the configuration if there is none, and locks it until commit, so that versions are added in sequence. */
export async function lockConfiguration(
  tx: Transaction,
  { investorLogin, investorId, at }: { investorLogin: string; investorId: bigint; at: Date },
): Promise<Configuration> {
  const row = await one<ConfigurationRow>(
    tx,
    sql`insert into fee_configuration (investor_login, investor_id, created_at, updated_at)
        values (${investorLogin}, ${investorId}, ${at}, ${at})
        on conflict (investor_login) do update set investor_id = fee_configuration.investor_id
        returning investor_login, investor_id, created_at, updated_at`,
  );
  return configurationOf(row);
}

/** In the sequence of their creation. */
export async function listVersions(db: Queryable, investorLogin: string): Promise<FeeVersion[]> {
  const rows = await many<VersionRow>(
    db,
    sql`select rate_ppm, rate_from, enabled, enabled_from, effective_since
        from fee_version
        where investor_login = ${investorLogin}
        order by id`,
  );
  return rows.map(versionOf);
}

/** Ids of some Investors, and their versions in the sequence of creation. */
export async function listTerms(db: Queryable, investorLogins: readonly string[]): Promise<Map<string, Terms>> {
  const rows = await many<VersionRow & { investor_login: string; investor_id: bigint }>(
    db,
    sql`select configuration.investor_login, configuration.investor_id, version.rate_ppm, version.rate_from,
               version.enabled, version.enabled_from, version.effective_since
        from fee_configuration configuration
        join fee_version version on version.investor_login = configuration.investor_login
        where configuration.investor_login = any(${investorLogins}::text[])
        order by version.id`,
  );
  const terms = new Map<string, { investorId: bigint; versions: FeeVersion[] }>();
  for (const row of rows) {
    const known = terms.get(row.investor_login);
    if (known !== undefined) known.versions.push(versionOf(row));
    else terms.set(row.investor_login, { investorId: row.investor_id, versions: [versionOf(row)] });
  }
  return terms;
}

/** The version that an earlier call with the same key added. */
export async function findVersionByKey(db: Queryable, key: string): Promise<MadeVersion | undefined> {
  const row = await maybeOne<VersionRow & { investor_login: string; made_at: Date }>(
    db,
    sql`select investor_login, rate_ppm, rate_from, enabled, enabled_from, effective_since, made_at
        from fee_version
        where key = ${key}`,
  );
  return row && { investorLogin: row.investor_login, version: versionOf(row), madeAt: row.made_at };
}

/** The configuration must be locked. */
export async function insertVersion(tx: Transaction, key: string, made: MadeVersion): Promise<void> {
  const { ratePpm, rateFrom, enabled, enabledFrom, effectiveSince } = made.version;
  await execute(
    tx,
    sql`insert into fee_version (investor_login, key, rate_ppm, rate_from, enabled, enabled_from, effective_since, made_at)
        values (${made.investorLogin}, ${key}, ${ratePpm}, ${rateFrom}, ${enabled}, ${enabledFrom}, ${effectiveSince}, ${made.madeAt})`,
  );
  await execute(
    tx,
    sql`update fee_configuration set updated_at = ${made.madeAt} where investor_login = ${made.investorLogin}`,
  );
}

function configurationOf(row: ConfigurationRow): Configuration {
  return {
    investorLogin: row.investor_login,
    investorId: row.investor_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function versionOf(row: VersionRow): FeeVersion {
  return {
    ratePpm: row.rate_ppm,
    rateFrom: row.rate_from ?? undefined,
    enabled: row.enabled,
    enabledFrom: row.enabled_from ?? undefined,
    effectiveSince: row.effective_since,
  };
}
