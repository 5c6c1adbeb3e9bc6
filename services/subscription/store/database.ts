import { one, type Queryable, sql } from "#kernel/postgres/query.ts";

/** The database of the connection: another one, which was restored or has taken over, may have lost commits. */
export async function readDatabase(db: Queryable): Promise<string> {
  const { database } = await one<{ database: string }>(db, sql`select database_identity() as database`);
  return database;
}
