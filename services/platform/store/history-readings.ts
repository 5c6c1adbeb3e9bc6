import { column, execute, fragment, maybeOne, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { workQueue } from "#kernel/work-queue/work-queue.ts";

/** The last reading of the history of a login that an operator has requested. */
export type HistoryReading = {
  readonly login: string;
  readonly from: Date;
  readonly until: Date;
  readonly readTo: Date;
  readonly requestedBy: string;
  readonly finishedAt: Date | null;
  readonly reason: string | null;
  /** Entries of the log after this number, and up to `logEnd` when it is finished, were appended meanwhile. */
  readonly logNumber: bigint;
  readonly logEnd: bigint | null;
};

export type NewReading = Pick<HistoryReading, "login" | "from" | "until" | "requestedBy" | "logNumber">;

/** Longer than one slice takes. */
const CLAIM_MS = 60_000;
/** Tickets that are shown to operators. */
const MAX_TICKETS = 100;

const READING = fragment`
  select login, read_from as "from", read_until as "until", read_to as "readTo", requested_by as "requestedBy",
         finished_at as "finishedAt", reason, log_number as "logNumber", log_end as "logEnd"
  from history_reading`;

/** Replaces a finished reading of the login; one that goes on stays as it is. */
export async function insertReading(tx: Transaction, reading: NewReading): Promise<void> {
  const { login, from, until, requestedBy, logNumber } = reading;
  await execute(
    tx,
    sql`insert into history_reading (login, read_from, read_until, read_to, requested_by, log_number)
        values (${login}, ${from}, ${until}, ${from}, ${requestedBy}, ${logNumber})
        on conflict (login) do update
        set read_from = excluded.read_from, read_until = excluded.read_until, read_to = excluded.read_to,
            requested_by = excluded.requested_by, log_number = excluded.log_number, log_end = null, finished_at = null,
            next_try_at = excluded.next_try_at, tries = 0, reason = null
        where history_reading.finished_at is not null`,
  );
}

export async function findReading(db: Queryable, login: string): Promise<HistoryReading | undefined> {
  return await maybeOne<HistoryReading>(db, sql`${READING} where login = ${login}`);
}

export type DueReading = {
  readonly login: string;
  readonly from: Date;
  readonly until: Date;
  readonly readTo: Date;
  readonly tries: number;
};

/** Readings that go on; each try reads one slice. */
export const readingQueue = workQueue<DueReading, string>({
  table: fragment`history_reading`,
  key: fragment`login`,
  keyType: fragment`text`,
  isOpen: fragment`work.finished_at is null`,
  columns: fragment`login, read_from as "from", read_until as "until", read_to as "readTo"`,
  claimMs: CLAIM_MS,
});

/** The slice up to `readTo` is in the log. A replica whose claim has expired changes nothing. */
export async function saveSlice(db: Queryable, reading: DueReading, readTo: Date): Promise<void> {
  const { login, tries, until, readTo: readBefore } = reading;
  await execute(
    db,
    sql`update history_reading
        set read_to = ${readTo}, next_try_at = clock_timestamp(), tries = 0, reason = null,
            finished_at = case when read_until <= ${readTo} then clock_timestamp() end,
            log_end = case when read_until <= ${readTo}
                           then (select log_number from account where account.login = history_reading.login) end
        where login = ${login} and tries = ${tries} and read_to = ${readBefore} and read_until = ${until} and finished_at is null`,
  );
}

export type FoundDeals = { readonly filed: bigint; readonly amended: bigint; readonly tickets: readonly bigint[] };

/** Deals of the period that were appended to the log since the reading began, and amendments that were. */
export async function findFound(db: Queryable, { login, from, until, logNumber, logEnd }: HistoryReading) {
  const found = fragment`
    from log_entry
    where login = ${login} and number > ${logNumber} and (${logEnd}::bigint is null or number <= ${logEnd})
      and deal_at >= ${from} and deal_at < ${until} and deal_id is not null`;
  const counts = await one<Omit<FoundDeals, "tickets">>(
    db,
    sql`select count(*) filter (where kind <> 'amendment') as filed, count(*) filter (where amendment <> 'unmatched_deal') as amended ${found}`,
  );
  const tickets = await column<bigint>(db, sql`select distinct deal_id ${found} order by deal_id limit ${MAX_TICKETS}`);
  return { ...counts, tickets };
}
