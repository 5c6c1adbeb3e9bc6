import { inBatches } from "#kernel/in-batches.ts";
import { many, maybeOne, type Queryable, sql } from "#kernel/postgres/query.ts";
import { usd } from "#kernel/money.ts";
import { loggedDeal, type LoggedDeal } from "../domain/logged-deal.ts";
import type { EntryKind, AmendmentKind, Trade } from "../domain/log-entry.ts";

type LoggedDealRow = TradeRow & {
  login: string;
  kind: EntryKind;
  amount_minor: bigint;
  deal_id: bigint;
  deal_at: Date;
  server_msc: bigint | null;
  deal_state: number;
  amendment: AmendmentKind | null;
};

/** A whole history may have hundreds of thousands of deals, for which one statement takes too long. */
const DEALS_PER_STATEMENT = 1_000;

/** Those of the tickets that are in a log, with their corrections; a ticket that the platform used twice may be in two logs. */
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
    sql`select login, kind, amount_minor, deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume,
               volume_closed, profit_minor, swap_minor, commission_minor, fee_minor, deal_state, amendment
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind <> 'amendment'
        union all
        select login, kind, amount_minor, corrected_deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume,
               volume_closed, profit_minor, swap_minor, commission_minor, fee_minor, deal_state, amendment
        from log_entry
        where server = ${server} and corrected_deal_id = any (${tickets}::bigint[]) and kind = 'correction'
        order by deal_state`,
  );
  const entries = Map.groupBy(rows.map(entryOf), ({ login, ticket }) => `${login} ${ticket}`);
  return [...entries.values()].flatMap((own) => loggedDeal(own) ?? []);
}

export async function findLoggedDeal(
  db: Queryable,
  server: string,
  login: string,
  ticket: bigint,
): Promise<LoggedDeal | undefined> {
  return (await listLoggedDeals(db, server, [ticket])).find((logged) => logged.login === login);
}

/** The first deal in the log of an account, of those that were not corrected since: the platform may not show these. */
export async function findFirstTicket(db: Queryable, server: string, login: string): Promise<bigint | undefined> {
  const found = await maybeOne<{ ticket: bigint }>(
    db,
    sql`select deal_id as ticket
        from log_entry as entry
        where login = ${login} and server = ${server} and deal_id is not null and kind <> 'amendment'
          and not exists (
            select from log_entry as correction
            where correction.server = entry.server and correction.corrected_deal_id = entry.deal_id and correction.login = entry.login
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

function entryOf(row: LoggedDealRow): LoggedDeal {
  return {
    login: row.login,
    ticket: row.deal_id,
    kind: row.kind,
    amountMinor: row.amount_minor,
    at: row.deal_at,
    serverMsc: row.server_msc ?? undefined,
    trade: row.action === null ? undefined : tradeOf(row),
    state: row.deal_state,
    correctedTo: row.amendment ?? undefined,
  };
}

export type TradeRow = {
  action: number | null;
  entry: number | null;
  position_id: bigint | null;
  symbol: string | null;
  volume: bigint | null;
  volume_closed: bigint | null;
  profit_minor: bigint | null;
  swap_minor: bigint | null;
  commission_minor: bigint | null;
  fee_minor: bigint | null;
};

/** Check constraints keep the parts of a trade from being null. */
export function tradeOf(row: TradeRow): Trade {
  return {
    action: row.action ?? 0,
    entry: row.entry ?? 0,
    positionId: row.position_id ?? 0n,
    symbol: row.symbol ?? "",
    volume: row.volume ?? 0n,
    volumeClosed: row.volume_closed ?? 0n,
    profit: usd(row.profit_minor ?? 0n),
    swap: usd(row.swap_minor ?? 0n),
    commission: usd(row.commission_minor ?? 0n),
    fee: usd(row.fee_minor ?? 0n),
  };
}
