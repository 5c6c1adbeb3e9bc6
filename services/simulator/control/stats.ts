import type { TradeServer } from "../trade-server.ts";
import type { Connection } from "../webapi/connection.ts";

/** Counts calls of known commands with a session, and attempts to open one. */
export function statsOf({ books, calls, settings }: TradeServer, connections: ReadonlySet<Connection>): object {
  const authenticated = [...connections].filter(({ session }) => session.state === "authenticated");
  return {
    calls: Object.fromEntries([...calls].toSorted(([left], [right]) => (left < right ? -1 : 1))),
    deals: books.deals.size,
    positions: books.positions.size,
    accounts: books.accounts.size - (books.accounts.has(settings.managerLogin) ? 1 : 0),
    sessions: authenticated.length,
    connections: connections.size,
  };
}
