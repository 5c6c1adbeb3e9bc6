import { fragment, many, maybeOne, type Queryable, sql, withoutNulls } from "#kernel/postgres/query.ts";
import type { ListedVersion } from "../domain/timeline.ts";
import { ENTRY } from "./configurations.ts";

/** Each is one look-up by an index, whatever was changed since. `limit 1` keeps Postgres from reading all of them at once. */
const LISTED = fragment`${ENTRY},
       coalesce((select true from fee_version cancellation where cancellation.cancels = version.id limit 1), false) as "isCancelled",
       coalesce((select true from fee_version_replaced replaced where replaced.version_id = version.id limit 1), false) as "isReplaced"`;

/** No entry that continues a version. */
const IS_VERSION = fragment`version.restates is null and version.cancels is null`;

const NEWEST = 9_223_372_036_854_775_807n;

/** The versions of an Investor below an id (0: from the newest), descending by id. */
export async function listVersionsBelow(
  db: Queryable,
  { investorLogin, beforeId, limit }: { investorLogin: string; beforeId: bigint; limit: number },
): Promise<ListedVersion[]> {
  const rows = await many<ListedVersion>(
    db,
    sql`select ${LISTED}
        from fee_version version
        where (version.investor_login, version.id) > (${investorLogin}, 0)
          and (version.investor_login, version.id) < (${investorLogin}, ${beforeId === 0n ? NEWEST : beforeId}) and ${IS_VERSION}
        order by version.investor_login desc, version.id desc
        limit ${limit}`,
  );
  return rows.map(withoutNulls);
}

/** A version of this Investor. */
export async function findVersion(
  db: Queryable,
  { investorLogin, versionId }: { investorLogin: string; versionId: bigint },
): Promise<ListedVersion | undefined> {
  const row = await maybeOne<ListedVersion>(
    db,
    sql`select ${LISTED} from fee_version version
        where version.id = ${versionId} and version.investor_login = ${investorLogin} and ${IS_VERSION}`,
  );
  return row === undefined ? undefined : withoutNulls(row);
}
