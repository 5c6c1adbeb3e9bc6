import { many, sql } from "#kernel/postgres/query.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Irregularity } from "../domain/log-entry.ts";
import { loggedDeal } from "../domain/logged-deal.ts";
import type { LoggedDeal } from "../domain/logged-deal.ts";
import { tradeOf } from "./log-row.ts";
import type { LogRow, TradeRow } from "./log-row.ts";

type LoggedDealRow = TradeRow &
  Pick<LogRow, "login" | "kind" | "amount_minor" | "deal_at" | "server_msc" | "deal_state" | "irregularity"> & {
    deal_id: bigint;
  };

export type ToldIrregularity = {
  readonly login: string;
  readonly ticket: bigint;
  readonly irregularity: Irregularity;
  readonly state: number;
};

/** Those of the tickets that are in a log, as it says them now; one that was given twice may be in two. */
export async function listLoggedDeals(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<readonly LoggedDeal[]> {
  if (tickets.length === 0) return [];
  const rows = await many<LoggedDealRow>(
    db,
    sql`select login, kind, amount_minor, deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume,
               volume_closed, profit_minor, swap_minor, commission_minor, fee_minor, deal_state, irregularity
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind <> 'irregularity'
        union all
        select login, kind, amount_minor, corrected_deal_id, deal_at, server_msc, action, entry, position_id, symbol, volume,
               volume_closed, profit_minor, swap_minor, commission_minor, fee_minor, deal_state, irregularity
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

/** Those of the tickets that stood in the history before their account was adopted. */
export async function listAdoptedDeals(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  if (tickets.length === 0) return new Set();
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select deal_id from adopted_deal where server = ${server} and deal_id = any (${tickets}::bigint[])`,
  );
  return new Set(rows.map(({ deal_id: id }) => id));
}

export async function listIrregularities(
  db: Queryable,
  server: string,
  tickets: readonly bigint[],
): Promise<ToldIrregularity[]> {
  const rows = await many<{ login: string; deal_id: bigint; irregularity: Irregularity; deal_state: number }>(
    db,
    sql`select login, deal_id, irregularity, deal_state
        from log_entry
        where server = ${server} and deal_id = any (${tickets}::bigint[]) and kind = 'irregularity'`,
  );
  return rows.map((row) => ({
    login: row.login,
    ticket: row.deal_id,
    irregularity: row.irregularity,
    state: row.deal_state,
  }));
}

/** Deals of a login whose past was told to be another one, and that were not corrected since. */
export async function listUncorrected(db: Queryable, server: string, login: string, limit: number): Promise<bigint[]> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select distinct deal_id
        from log_entry as told
        where login = ${login} and server = ${server} and kind = 'irregularity' and irregularity <> 'deal_surplus'
          and deal_state = (
            select count(*)
            from log_entry as correction
            where correction.server = told.server and correction.corrected_deal_id = told.deal_id
              and correction.login = told.login and correction.kind = 'correction'
          )
        order by deal_id
        limit ${limit}`,
  );
  return rows.map(({ deal_id: ticket }) => ticket);
}

/** Deals of a login about whose past something was told, the newest first. */
export async function listToldDeals(db: Queryable, server: string, login: string, limit: number): Promise<bigint[]> {
  const rows = await many<{ deal_id: bigint }>(
    db,
    sql`select deal_id
        from log_entry
        where login = ${login} and server = ${server} and kind = 'irregularity' and irregularity <> 'deal_surplus'
        group by deal_id
        order by max(id) desc
        limit ${limit}`,
  );
  return rows.map(({ deal_id: ticket }) => ticket);
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
    correctedTo: row.irregularity ?? undefined,
  };
}
