import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { fragment, type Queryable } from "#kernel/postgres/query.ts";

/** The database of this connection, as its rows name it: read once for a statement. */
export const HERE = fragment`(select database_identity())`;

/** The next number of the leg sequence; fails in a database in which the sequence was not raised. */
export const NEXT_LEG_NUMBER = fragment`next_leg_number(${HERE})`;

/** The database of this connection if permits are granted in it; without one, no attempt can be inserted. */
export const PERMITTED_HERE = fragment`(
            select database from permit_gate where database = (select database_identity()) and stopped_at is null
          )`;

/** Another database has taken the place of the one for which something was read. */
export class OtherDatabase extends Error {
  override readonly name = "OtherDatabase";
}

export async function requireDatabase(db: Queryable, database: string): Promise<void> {
  if ((await readDatabase(db)) !== database) throw new OtherDatabase("the database was restored or replaced");
}
