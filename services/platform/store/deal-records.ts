import { inBatches } from "#kernel/batches/in-batches.ts";
import { execute, fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LegKind } from "../domain/leg-kind.ts";
import { legNumber } from "../domain/leg-number.ts";
import { type EntryKind, type Trade, tradeOf } from "../domain/log-entry.ts";
import type { Reference } from "../domain/reference.ts";

/** A deal as a log has it. */
export type BookedDeal = {
  /** Cents, signed. */
  readonly amountMinor: bigint;
  /** Null when the deal is known only from the answer to a command. */
  readonly serverMsc: bigint | null;
  readonly trade: Trade | undefined;
};

/** What a login's log has of a deal. */
export type LoggedDeal = {
  readonly login: string;
  /** Undefined when only changes of it are in the log: of a deal that was booked elsewhere, cancelled at once, or of a lost leg. */
  readonly booked: BookedDeal | undefined;
  /** As the platform showed it when its last change was reported; undefined when it was not changed. */
  readonly shownAs: string | undefined;
};

/** What is recorded of a deal. */
export type DealRecord = {
  /** A ticket that the platform used twice may be in two logs. */
  readonly logged: readonly LoggedDeal[];
  /** The leg that was applied by it: a Master's leg is in no log until the reader reaches its deal. */
  readonly leg: (Reference & { readonly login: string; readonly appliedAt: Date }) | undefined;
  /** The account in whose history it was before that account was adopted. */
  readonly adoptedBy: string | undefined;
};

/** By ticket, without deals of which nothing is recorded. */
export type DealRecords = ReadonlyMap<bigint, DealRecord>;

/** Whether a log has the deal, or the opening balance of an adopted account. */
export function isBooked(record: DealRecord | undefined): boolean {
  return (
    record !== undefined && (record.adoptedBy !== undefined || record.logged.some(({ booked }) => booked !== undefined))
  );
}

/** Whether the deal is booked, or belongs to a leg. With a login only records of it count: the ticket on another login explains nothing there. */
export function isExplained(record: DealRecord | undefined, login?: string): boolean {
  if (record === undefined) return false;
  const { logged, leg, adoptedBy } = record;
  const booked = logged.flatMap((deal) => (deal.booked === undefined ? [] : deal.login));
  const logins = [...booked, leg?.login, adoptedBy].filter((each) => each !== undefined);
  return login === undefined ? logins.length > 0 : logins.includes(login);
}

/** Of the trade of an entry; null in other entries. */
export const TRADE_COLUMNS = fragment`action, entry, position_id as "positionId", symbol, volume, volume_closed as "volumeClosed",
               profit_minor as "profitMinor", swap_minor as "swapMinor", commission_minor as "commissionMinor", fee_minor as "feeMinor"`;
const NO_TRADE = fragment`null::smallint, null::smallint, null::bigint, null::text, null::bigint, null::bigint,
               null::bigint, null::bigint, null::bigint, null::bigint`;

type Row = Trade & {
  readonly source: "log" | "leg" | "adoption";
  readonly login: string;
  readonly ticket: bigint;
  /** Of the entry, or of the leg. */
  readonly number: bigint;
  readonly kind: EntryKind;
  readonly attempt: number;
  readonly amountMinor: bigint;
  readonly at: Date;
  readonly serverMsc: bigint | null;
  readonly shownAs: string | null;
};

/** A whole history may have hundreds of thousands of deals, for which one statement takes too long. */
const DEALS_PER_STATEMENT = 1_000;

export async function listDealRecords(db: Queryable, server: string, tickets: readonly bigint[]): Promise<DealRecords> {
  const records = new Map<bigint, DealRecord>();
  for (const page of inBatches(tickets, DEALS_PER_STATEMENT)) {
    const rows = Map.groupBy(await listRows(db, server, page), ({ ticket }) => ticket);
    for (const [ticket, own] of rows) records.set(ticket, recordOf(own));
  }
  return records;
}

async function listRows(db: Queryable, server: string, tickets: readonly bigint[]): Promise<readonly Row[]> {
  return await many<Row>(
    db,
    sql`select 'log' as source, login, deal_id as ticket, number, kind, null::smallint as attempt, amount_minor as "amountMinor",
               deal_at as at, server_msc as "serverMsc", shown_as as "shownAs", ${TRADE_COLUMNS}
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind <> 'amendment'
        union all
        select 'log', login, deal_id, number, kind, null, amount_minor, deal_at, server_msc, shown_as, ${TRADE_COLUMNS}
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind = 'amendment' and shown_as is not null
        union all
        select 'leg', login, deal_id, number, kind, attempt, amount_minor, applied_at, null, null, ${NO_TRADE}
        from leg
        where server = ${server} and deal_id = any (${tickets}::bigint[])
        union all
        select 'adoption', login, deal_id, 0, null, null, null, null, null, null, ${NO_TRADE}
        from adopted_deal
        where server = ${server} and deal_id = any (${tickets}::bigint[])
        order by number`,
  );
}

function recordOf(rows: readonly Row[]): DealRecord {
  const leg = rows.find(({ source }) => source === "leg");
  const ofLogs = Map.groupBy(
    rows.filter(({ source }) => source === "log"),
    ({ login }) => login,
  );
  return {
    logged: Array.from(ofLogs, ([login, own]) => loggedDeal(login, own)),
    leg: leg && {
      login: leg.login,
      kind: leg.kind as LegKind,
      number: legNumber(leg.number),
      attempt: leg.attempt,
      appliedAt: leg.at,
    },
    adoptedBy: rows.find(({ source }) => source === "adoption")?.login,
  };
}

function loggedDeal(login: string, rows: readonly Row[]): LoggedDeal {
  const booked = rows.find(({ kind }) => kind !== "amendment");
  const shownAs = rows.findLast(({ kind }) => kind === "amendment")?.shownAs ?? undefined;
  return { login, booked: booked && bookedOf(booked), shownAs };
}

function bookedOf(row: Row): BookedDeal {
  const { amountMinor, serverMsc, kind } = row;
  return { amountMinor, serverMsc, trade: kind === "trade" ? tradeOf(row) : undefined };
}

export async function findLoggedDeal(
  db: Queryable,
  server: string,
  login: string,
  ticket: bigint,
): Promise<LoggedDeal | undefined> {
  const record = (await listDealRecords(db, server, [ticket])).get(ticket);
  return record?.logged.find((logged) => logged.login === login);
}

export async function insertAdoptedDeals(
  tx: Transaction,
  server: string,
  login: string,
  deals: readonly bigint[],
): Promise<void> {
  await execute(
    tx,
    sql`insert into adopted_deal (server, deal_id, login)
        select ${server}, deal, ${login} from unnest(${deals}::bigint[]) as adopted (deal)`,
  );
}

/** The first deal in the log of an account, but for those whose change operators have accepted: the platform may not show these. */
export async function findFirstTicket(db: Queryable, server: string, login: string): Promise<bigint | undefined> {
  const found = await maybeOne<{ ticket: bigint }>(
    db,
    sql`select deal_id as ticket
        from log_entry as entry
        where login = ${login} and server = ${server} and deal_id is not null and kind <> 'amendment'
          and not exists (
            select from log_entry as changed
            where changed.server = entry.server and changed.deal_id = entry.deal_id and changed.login = entry.login
              and changed.kind = 'amendment' and changed.shown_as is not null
              and exists (
                select from log_entry as correction
                where correction.login = changed.login and correction.kind = 'correction' and correction.number > changed.number
              )
          )
        order by number
        limit 1`,
  );
  return found?.ticket;
}

/** The last deal that was logged of another account. */
export async function findTicketOfOthers(db: Queryable, server: string, login: string): Promise<bigint | undefined> {
  const found = await maybeOne<{ ticket: bigint }>(
    db,
    sql`select deal_id as ticket
        from log_entry
        where login <> ${login} and server = ${server} and deal_id is not null and kind <> 'amendment'
        order by id desc
        limit 1`,
  );
  return found?.ticket;
}
