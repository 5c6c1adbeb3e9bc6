import { execute, type Fragment, fragment, many, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { ManagedAccount } from "./accounts.ts";

export type ReadTo = {
  /** By the clock of the database. */
  readonly now: Date;
  /** The instant up to which the history of all managed accounts has been read; undefined before the first run. */
  readonly readTo: Date | undefined;
  /** Those of the logins that are asked for that have an undecided deal, and its instant. */
  readonly undecided: ReadonlyMap<string, Date>;
};

type ReadToRow = { now: Date; readTo: Date | null; logins: string[]; instants: Date[] };

export async function findReadTo(db: Queryable, logins: readonly string[] = []): Promise<ReadTo> {
  const row = await one<ReadToRow>(
    db,
    sql`select clock_timestamp() as now, (select read_to from reader_cursor) as "readTo",
               coalesce(array_agg(login order by login), '{}') as logins,
               coalesce(array_agg(undecided_from order by login), '{}') as instants
        from account
        where login = any (${logins}::text[]) and undecided_from is not null`,
  );
  const { now, readTo, logins: ofLogins, instants } = row;
  const undecided = new Map(ofLogins.map((login, index) => [login, instants[index] ?? now]));
  return { now, readTo: readTo ?? undefined, undecided };
}

export async function moveReadTo(db: Queryable, readTo: Date): Promise<void> {
  await execute(
    db,
    sql`insert into reader_cursor (read_to) values (${readTo})
        on conflict (is_only) do update
        set read_to = greatest(reader_cursor.read_to, excluded.read_to)`,
  );
}

/** Up to where deals were read again when they were a day old; undefined before that was done. */
export async function findRereadTo(db: Queryable): Promise<Date | undefined> {
  const cursor = await maybeOne<{ rereadTo: Date | null }>(db, sql`select reread_to as "rereadTo" from reader_cursor`);
  return cursor?.rereadTo ?? undefined;
}

export async function moveRereadTo(db: Queryable, rereadTo: Date): Promise<void> {
  await execute(db, sql`update reader_cursor set reread_to = greatest(reread_to, ${rereadTo}::timestamptz)`);
}

/** What the reader asks the database for while nothing happens: all of it is one statement. */
export type ReaderNews = {
  readonly now: Date;
  readonly isRenewed: boolean;
  /** Accounts that came under management since an instant, the oldest first, and those that are shown again since then. */
  readonly managed: readonly ManagedAccount[];
  /** Accounts that are not shown since then. */
  readonly unshown: readonly string[];
  /** Logins with an undecided deal, at any time of the history. */
  readonly undecided: readonly string[];
};

export type NewsRequest = {
  /** Renews the lease of the reader, with a row when it does. */
  readonly renewed: Fragment;
  readonly since: Date;
  readonly maxManaged: number;
  /** The page of undecided logins after this one. */
  readonly undecidedAfter: string;
  readonly maxUndecided: number;
};

type NewsRow = Pick<ReaderNews, "now" | "isRenewed"> & { news: "managed" | "unshown" | "undecided" | null } & (
    | ManagedAccount
    | { [Name in keyof ManagedAccount]: null }
  );

const MANAGED = fragment`select login, role, platform_group as "group", managed_at as "managedAt" from account`;

export async function readNews(
  db: Queryable,
  { renewed, since, maxManaged, undecidedAfter, maxUndecided }: NewsRequest,
): Promise<ReaderNews> {
  const rows = await many<NewsRow>(
    db,
    sql`with renewed as (${renewed})
        select here.now, here."isRenewed", listed.login, listed.role, listed."group", listed."managedAt", listed.news
        from (select clock_timestamp() as now, exists (select from renewed) as "isRenewed") as here
        left join (
          select login, role, "group", "managedAt", 'managed' as news
          from (
            ${MANAGED}
            where managed_at >= ${since} and unshown_since is null
            order by managed_at
            limit ${maxManaged}
          ) as managed
          union all
          select login, role, "group", "managedAt", 'managed'
          from (
            ${MANAGED}
            where returned_at >= ${since} and unshown_since is null
            order by returned_at
            limit ${maxManaged}
          ) as returned
          union all
          select login, role, "group", "managedAt", 'unshown'
          from (
            ${MANAGED}
            where unshown_since >= ${since}
            order by unshown_since
            limit ${maxManaged}
          ) as unshown
          union all
          select login, role, "group", "managedAt", 'undecided'
          from (
            ${MANAGED}
            where undecided_from is not null and login > ${undecidedAfter}
            order by login
            limit ${maxUndecided}
          ) as undecided
        ) as listed on true`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error("a clock has no time");
  const listed = rows.flatMap((row) => (row.login === null ? [] : [row]));
  return {
    now: first.now,
    isRenewed: first.isRenewed,
    managed: listed.filter(({ news }) => news === "managed"),
    unshown: listed.filter(({ news }) => news === "unshown").map(({ login }) => login),
    undecided: listed.filter(({ news }) => news === "undecided").map(({ login }) => login),
  };
}
