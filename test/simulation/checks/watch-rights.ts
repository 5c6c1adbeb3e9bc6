import type { Database } from "../postgres/database.ts";
import type { WrittenRow } from "../postgres/row.ts";
import { textOf, type Values } from "../postgres/types.ts";
import { type TradeServer, WITHOUT_TRADING } from "../world/trade-server.ts";
import { Violation } from "./violation.ts";

/** In a pool, or on the way out of it. */
const FOLLOWS = ["ACTIVE", "PAUSED"];

/** I20: checks the rights of Investors to trade. */
export class RightsWatch {
  readonly #subscriptions: Database;
  readonly #server: TradeServer;

  constructor(subscriptions: Database, server: TradeServer) {
    this.#subscriptions = subscriptions;
    this.#server = server;
  }

  onCommit(written: readonly WrittenRow[]): void {
    for (const { table, committed } of written) {
      if (table === "subscription" && follows(committed)) this.#refuse(textOf(committed["investor_login"]!));
    }
  }

  onTrading(login: string): void {
    if (this.#following().has(login)) this.#refuse(login);
  }

  /** Accounts whose right is not what it has to be when no work is left. */
  unsettled(): readonly string[] {
    const following = this.#following();
    return this.#server.logins.filter((login) => {
      return this.#server.mayTrade(login) !== (!following.has(login) && !WITHOUT_TRADING.includes(login));
    });
  }

  #following(): ReadonlySet<string> {
    const rows = [...this.#subscriptions.committed("subscription")].filter(follows);
    return new Set(rows.map((row) => textOf(row["investor_login"]!)));
  }

  #refuse(login: string): void {
    if (this.#server.mayTrade(login)) throw new Violation("I20", `${login} follows a Master and may trade`);
  }
}

function follows(subscription: Values): boolean {
  return FOLLOWS.includes(textOf(subscription["status"]!));
}
