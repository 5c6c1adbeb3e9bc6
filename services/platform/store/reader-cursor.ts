import { execute, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";

/** The instant up to which the history of all managed accounts has been read; undefined before the first run. */
export async function findReadTo(db: Queryable): Promise<Date | undefined> {
  const row = await maybeOne<{ read_to: Date }>(db, sql`select read_to from reader_cursor`);
  return row?.read_to;
}

export async function moveReadTo(db: Queryable, readTo: Date): Promise<void> {
  await execute(
    db,
    sql`insert into reader_cursor (read_to) values (${readTo})
        on conflict (is_only) do update
        set read_to = greatest(reader_cursor.read_to, excluded.read_to)`,
  );
}
