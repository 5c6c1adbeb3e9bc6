import { execute, many, maybeOne, one, sql, withoutNulls, type Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { FeeVersion } from "../domain/version.ts";

export type Configuration = {
  readonly investorLogin: string;
  readonly investorId: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type Terms = Configuration & { readonly versions: readonly FeeVersion[] };

export type MadeVersion = { readonly investorLogin: string; readonly version: FeeVersion; readonly madeAt: Date };

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

/** In the sequence of their creation. */
export async function listVersions(db: Queryable, investorLogin: string): Promise<FeeVersion[]> {
  const rows = await many<FeeVersion>(
    db,
    sql`select rate_ppm as "ratePpm", rate_from as "rateFrom", enabled, enabled_from as "enabledFrom",
               effective_since as "effectiveSince"
        from fee_version
        where investor_login = ${investorLogin}
        order by id`,
  );
  return rows.map(withoutNulls);
}

/** The configurations of some Investors with their versions in the sequence of creation. */
export async function listTerms(db: Queryable, investorLogins: readonly string[]): Promise<Map<string, Terms>> {
  const rows = await many<FeeVersion & Configuration>(
    db,
    sql`select configuration.investor_login as "investorLogin", configuration.investor_id as "investorId",
               configuration.created_at as "createdAt", configuration.updated_at as "updatedAt",
               version.rate_ppm as "ratePpm", version.rate_from as "rateFrom", version.enabled,
               version.enabled_from as "enabledFrom", version.effective_since as "effectiveSince"
        from fee_configuration configuration
        join fee_version version on version.investor_login = configuration.investor_login
        where configuration.investor_login = any(${investorLogins}::text[])
        order by version.id`,
  );
  const terms = new Map<string, Configuration & { versions: FeeVersion[] }>();
  for (const row of rows) {
    const { investorLogin, investorId, createdAt, updatedAt, ...version } = withoutNulls(row);
    const known = terms.get(investorLogin);
    if (known !== undefined) known.versions.push(version);
    else terms.set(investorLogin, { investorLogin, investorId, createdAt, updatedAt, versions: [version] });
  }
  return terms;
}

/** The version that an earlier call with the same key added. */
export async function findVersionByKey(db: Queryable, key: string): Promise<MadeVersion | undefined> {
  const row = await maybeOne<FeeVersion & { investorLogin: string; madeAt: Date }>(
    db,
    sql`select investor_login as "investorLogin", rate_ppm as "ratePpm", rate_from as "rateFrom", enabled,
               enabled_from as "enabledFrom", effective_since as "effectiveSince", made_at as "madeAt"
        from fee_version
        where key = ${key}`,
  );
  if (row === undefined) return undefined;
  const { investorLogin, madeAt, ...version } = withoutNulls(row);
  return { investorLogin, version, madeAt };
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
