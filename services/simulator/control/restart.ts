import { DAY_MS } from "#kernel/values/duration.ts";
import { record, serverTimeMs, type TradeServer } from "../trade-server.ts";
import { type Connection, resetConnection } from "../webapi/connection.ts";
import { integer, readerOf } from "./body.ts";

/** A server that restarts loses its last deals only; more is a mistake of the test. */
const MAX_FORGET_MS = 7 * DAY_MS;

/** The trade server restarts: sessions and account states are lost, on request the last deals too. */
export function restart(server: TradeServer, connections: Iterable<Connection>, body: unknown): object {
  const read = readerOf(body);
  const forgetMs = read.optional("forget_ms", `a whole number up to ${MAX_FORGET_MS}`, integer(0, MAX_FORGET_MS)) ?? 0;
  read.finish();
  for (const connection of connections) resetConnection(connection);
  server.active.clear();
  return { forgotten: forgetMs === 0 ? [] : forget(server, forgetMs) };
}

/** Younger deals are forgotten, and their effects on balances and positions are undone. */
function forget(server: TradeServer, forgetMs: number): number[] {
  const { deals, counters } = server.books;
  const since = serverTimeMs(server) - forgetMs;
  const tickets: number[] = [];
  for (let ticket = counters.nextDeal - 1; ticket > 0; ticket -= 1) {
    const deal = deals.get(ticket);
    if (deal === undefined) continue;
    if (deal.timeMsc < since) break;
    tickets.unshift(ticket);
  }
  const [first] = tickets;
  if (first !== undefined) record(server, { kind: "forgotten", fromTicket: first });
  // Their tickets are assigned again, to deals that are not hidden.
  for (const ticket of tickets) server.hidden.delete(ticket);
  return tickets;
}
