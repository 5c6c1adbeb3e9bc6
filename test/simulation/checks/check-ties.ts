import type { Database } from "../postgres/database.ts";
import { textOf, type Values } from "../postgres/types.ts";
import type { ServerDeal, TradeServer } from "../world/trade-server.ts";
import type { FeeRows } from "./fee-rows.ts";
import type { PlatformRows } from "./platform-rows.ts";
import { readSentReference } from "./reference.ts";
import { Violation } from "./violation.ts";

export type Ties = {
  readonly platformRows: PlatformRows;
  readonly server: TradeServer;
  readonly subscriptions: Database;
  readonly fees: FeeRows;
};

/**
 * What must tie to the cent when no work is left, with the deals of the platform on one side: results, fees, and what was moved on the
 * Masters. After a rewind it holds only when everything that was forgotten was imported as what it was, and settled once.
 */
export function checkTies(ties: Ties): void {
  for (const pool of ties.subscriptions.committed("master_pool")) checkMaster(ties, pool);
  for (const account of ties.subscriptions.committed("investor_account")) {
    const login = textOf(account["login"]!);
    checkResults(ties, login);
    checkFees(ties, login);
  }
}

/**
 * I4: what mirrors and exits have moved is a flow of an Investor, and nothing came from outside. Of what was imported no more is left than
 * results and dealers have changed the amounts that were decided again: it stays a break of external_funds_master.
 */
function checkMaster({ server }: Ties, pool: Values): void {
  const login = textOf(pool["login"]!);
  const changed = server.deals.filter(({ by, login: of }) => by === "dealer" || (by === "trader" && of === login));
  const bound = changed.reduce((sum, { amountMinor }) => sum + abs(amountMinor), 0n);
  const { imported_mirrors_minor: mirrors, imported_exits_minor: exits, external_minor: external } = pool;
  if (abs(mirrors as bigint) > bound || abs(exits as bigint) > bound) {
    throw new Violation(
      "I4",
      `${login} has imported mirrors of ${textOf(mirrors!)} and exits of ${textOf(exits!)} left`,
    );
  }
  if (external !== server.openingOf(login)) {
    throw new Violation(
      "I4",
      `${login} has ${textOf(external!)} from outside, and was opened with ${server.openingOf(login)}`,
    );
  }
}

/** I4: what was posted to an Investor is what was allocated to it. */
function checkResults(ties: Ties, login: string): void {
  const posted = totalOf(dealsOf(ties, login, ["result"]));
  const allocated = ties.fees.allocatedTo(login);
  const account = [...ties.subscriptions.committed("investor_account")].find((row) => row["login"] === login);
  const unposted = account?.["unposted_minor"] as bigint;
  if (posted + unposted !== allocated) {
    throw new Violation("I4", `${login} was allocated ${allocated}; ${posted} was posted and ${unposted} is unposted`);
  }
}

/** I11: each fee that was debited, and not moved back, is one that the fee service has taken. */
function checkFees(ties: Ties, login: string): void {
  const debited = -totalOf(dealsOf(ties, login, ["fee_debit", "reversal"]));
  const payments = ties.fees.payments().filter(({ investor }) => investor === login);
  const taken = payments.reduce((sum, { status, takenMinor }) => sum + (status === "EXECUTED" ? takenMinor : 0n), 0n);
  if (debited !== taken) {
    throw new Violation("I11", `${login} was debited fees of ${debited}, and ${taken} is recorded as taken`);
  }
}

const LETTERS: Readonly<Record<string, string>> = { result: "T", fee_debit: "F", reversal: "R" };

function dealsOf({ server }: Ties, login: string, kinds: readonly string[]): readonly ServerDeal[] {
  const letters = kinds.map((kind) => LETTERS[kind]);
  return server.deals.filter((deal) => {
    const isOurs = deal.login === login && readSentReference(deal.sentComment) !== undefined;
    return isOurs && deal.by === "command" && letters.includes(deal.sentComment[1]);
  });
}

function totalOf(deals: readonly ServerDeal[]): bigint {
  return deals.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
