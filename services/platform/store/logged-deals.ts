import { inBatches } from "#kernel/in-batches.ts";
import { fragment, many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import { type Money, usd } from "#kernel/money.ts";
import type { EntryKind, Trade } from "../domain/log-entry.ts";

/** A deal as a log has it. */
export type BookedDeal = {
  /** Cents, signed. */
  readonly amountMinor: bigint;
  /** Undefined when the deal is known only from the answer to a command. */
  readonly serverMsc: bigint | undefined;
  readonly trade: Trade | undefined;
};

/** What a login's log has of a deal. */
export type LoggedDeal = {
  readonly login: string;
  readonly ticket: bigint;
  /** Undefined when only changes of it are in the log: of a deal that was booked elsewhere, cancelled at once, or of a lost leg. */
  readonly booked: BookedDeal | undefined;
  /** As the platform showed it when its last change was reported; undefined when it was not changed. */
  readonly shownAs: string | undefined;
};

/** Of the trade of an entry; null in other entries. */
export const TRADE_COLUMNS = fragment`action, entry, position_id as "positionId", symbol, volume, volume_closed as "volumeClosed",
               profit_minor as profit, swap_minor as swap, commission_minor as commission, fee_minor as fee`;

export type TradeRow = { readonly [Name in keyof Trade]: Trade[Name] extends Money ? bigint : Trade[Name] };

export function tradeOf({ profit, swap, commission, fee, ...row }: TradeRow): Trade {
  const { action, entry, positionId, symbol, volume, volumeClosed } = row;
  const money = { profit: usd(profit), swap: usd(swap), commission: usd(commission), fee: usd(fee) };
  return { action, entry, positionId, symbol, volume, volumeClosed, ...money };
}

type LoggedDealRow = TradeRow & {
  readonly login: string;
  readonly ticket: bigint;
  readonly kind: EntryKind;
  readonly amountMinor: bigint;
  readonly serverMsc: bigint | null;
  readonly shownAs: string | null;
};

/** A whole history may have hundreds of thousands of deals, for which one statement takes too long. */
const DEALS_PER_STATEMENT = 1_000;

/** Those of the tickets that are in a log, with their changes; a ticket that the platform used twice may be in two logs. */
export async function listLoggedDeals(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<readonly LoggedDeal[]> {
  const logged: LoggedDeal[] = [];
  for (const page of inBatches(tickets, DEALS_PER_STATEMENT)) logged.push(...(await listPage(db, server, page)));
  return logged;
}

async function listPage(db: Queryable, server: string, tickets: readonly bigint[]): Promise<readonly LoggedDeal[]> {
  const rows = await many<LoggedDealRow>(
    db,
    sql`select login, number, kind, amount_minor as "amountMinor", deal_id as ticket, server_msc as "serverMsc", shown_as as "shownAs",
               ${TRADE_COLUMNS}
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind <> 'amendment'
        union all
        select login, number, kind, amount_minor, deal_id, server_msc, shown_as, ${TRADE_COLUMNS}
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind = 'amendment' and shown_as is not null
        order by number`,
  );
  return [...Map.groupBy(rows, ({ login, ticket }) => `${login} ${ticket}`).values()].flatMap(loggedDeals);
}

function loggedDeals(rows: readonly LoggedDealRow[]): LoggedDeal[] {
  const [first] = rows;
  if (first === undefined) return [];
  const booked = rows.find(({ kind }) => kind !== "amendment");
  const shownAs = rows.findLast(({ kind }) => kind === "amendment")?.shownAs ?? undefined;
  return [{ login: first.login, ticket: first.ticket, booked: booked && bookedOf(booked), shownAs }];
}

function bookedOf({ amountMinor, serverMsc, kind, ...row }: LoggedDealRow): BookedDeal {
  return { amountMinor, serverMsc: serverMsc ?? undefined, trade: kind === "trade" ? tradeOf(row) : undefined };
}

export async function findLoggedDeal(
  db: Queryable,
  server: string,
  login: string,
  ticket: bigint,
): Promise<LoggedDeal | undefined> {
  return (await listLoggedDeals(db, server, [ticket])).find((logged) => logged.login === login);
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
