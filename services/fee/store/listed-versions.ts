import { type Fragment, fragment, many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { ListedVersion } from "../domain/timeline.ts";
import { VERSION } from "./configurations.ts";

const NEWEST = 9_223_372_036_854_775_807n;

/** The versions of an Investor below an id (0: from the newest), descending by id. */
export async function listVersionsBelow(
  db: Queryable,
  { investorLogin, beforeId, limit }: { investorLogin: string; beforeId: bigint; limit: number },
): Promise<ListedVersion[]> {
  const isBelow = fragment`(version.investor_login, version.id) > (${investorLogin}, 0)
    and (version.investor_login, version.id) < (${investorLogin}, ${beforeId === 0n ? NEWEST : beforeId})`;
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
