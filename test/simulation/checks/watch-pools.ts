import type { Database } from "../postgres/database.ts";
import type { WrittenRow } from "../postgres/row.ts";
import { textOf, type Value, type Values } from "../postgres/types.ts";
import type { PlatformRows } from "./platform-rows.ts";
import { MAX_TICK_AGE_MS } from "../world/platform-process.ts";
import { Violation } from "./violation.ts";

const ON_INVESTOR = ["inbound_minor", "waiting_minor", "pooled_minor", "reserved_minor"];
const ON_MASTER = ["waiting_minor", "pooled_minor", "reserved_minor", "outbound_minor"];
/** The age of a price up to which it is a mark, and the time from the reading of a Master to the commit of its strike. */
const MAX_UNPRICED_MS = MAX_TICK_AGE_MS + 2_500;
const IN_TRANSIT = ["inbound_minor", "waiting_minor", "reserved_minor", "outbound_minor"];

/** For how long a Master has held a position that was open at a deal of it while no price came. */
export type UnpricedMs = (master: string, dealId: bigint) => number;

/** Checks the pool ledger of the subscription service after each of its commits. */
export class PoolsWatch {
  readonly #subscriptions: Database;
  readonly #platformRows: PlatformRows;
  readonly #unpricedMs: UnpricedMs;
  /** The units of each subscription. */
  readonly #units = new Map<Value, string>();

  constructor(subscriptions: Database, platformRows: PlatformRows, unpricedMs: UnpricedMs) {
    this.#subscriptions = subscriptions;
    this.#platformRows = platformRows;
    this.#unpricedMs = unpricedMs;
  }

  onCommit(written: readonly WrittenRow[]): void {
    const investors = new Set<Value>();
    const masters = new Set<Value>();
    for (const { table, committed } of written) {
      if (table === "investor_account") investors.add(committed["login"]!);
      if (table === "master_pool") masters.add(committed["login"]!);
      if (table === "holding") {
        investors.add(committed["investor_login"]!);
        masters.add(committed["master_login"]!);
        this.#checkUnits(committed);
      }
      if (table === "subscription" && committed["status"] === "CANCELLED") this.#checkLeft(committed);
    }
    for (const login of investors) this.#checkInvestor(textOf(login));
    for (const login of masters) this.#checkMaster(textOf(login));
  }

  /** Subscriptions, buckets and accounts with work left; empty when no work is left. */
  unsettled(): readonly string[] {
    const statuses = this.#rows("subscription").map((row) => textOf(row["status"]!));
    const open = statuses.filter((status) => status === "ASSIGNING" || status === "PAUSED");
    const holdings = this.#rows("holding").flatMap((holding) => IN_TRANSIT.filter((bucket) => holding[bucket] !== 0n));
    const pools = this.#rows("master_pool").flatMap((pool) =>
      pool["unallocated_minor"] === 0n ? [] : ["unallocated"],
    );
    const accounts = this.#rows("investor_account").flatMap((account) => (this.#mayPost(account) ? ["unposted"] : []));
    return [...open, ...holdings, ...pools, ...accounts];
  }

  /** Whether a posting is due. A loss is posted only as far as the balance covers it. */
  #mayPost(account: Values): boolean {
    const unposted = minor(account, "unposted_minor");
    const balance = this.#platformRows.account(textOf(account["login"]!))?.["log_minor"] as bigint;
    return unposted > 0n || (unposted < 0n && balance > 0n);
  }

  /** Whether a Master is stopped until an operator decides. */
  isStopped(): boolean {
    return this.#rows("master_pool").some((pool) => pool["stopped_reason"] !== null);
  }

  /** I4: each cent of an Investor account is in exactly one bucket. */
  #checkInvestor(login: string): void {
    const account = this.#row("investor_account", "login", login);
    if (account === undefined) return;
    const holdings = this.#holdingsOf("investor_login", login);
    const own =
      minor(account, "outside_minor") + minor(account, "quarantined_minor") - minor(account, "unposted_minor");
    this.#compare(login, account, own + totalOf(holdings, ON_INVESTOR));
  }

  /** I4: each cent of a Master account is in exactly one bucket. */
  #checkMaster(login: string): void {
    const pool = this.#row("master_pool", "login", login);
    if (pool === undefined) return;
    const holdings = this.#holdingsOf("master_login", login);
    const imported = minor(pool, "imported_mirrors_minor") + minor(pool, "imported_exits_minor");
    const pooled = minor(pool, "own_waiting_minor") + minor(pool, "own_pooled_minor");
    const own = pooled + imported + minor(pool, "unallocated_minor");
    this.#compare(login, pool, own + totalOf(holdings, ON_MASTER));
    for (const [name, sum] of Object.entries(sumsOf(holdings))) {
      const booked = textOf(pool[name]!);
      if (booked === String(sum)) continue;
      throw new Violation("I4", `${login} has ${booked} in ${name}, and its holdings ${sum}`);
    }
  }

  #compare(login: string, row: Values, buckets: bigint): void {
    const filed = row["filed_number"] as bigint;
    const entries = this.#platformRows.log(login).filter((entry) => (entry["number"] as bigint) <= filed);
    const total = entries.reduce((sum, entry) => sum + (entry["amount_minor"] as bigint), 0n);
    if (total !== buckets) {
      throw new Violation("I4", `${login} has ${total} in its log up to ${filed} and ${buckets} in its buckets`);
    }
  }

  /** I18: only a strike changes units. One of a flat pool needs no price, also when it is booked after the next position was opened. */
  #checkUnits({ subscription_id: id = null, units: stored = null, master_login: master = null }: Values): void {
    const units = textOf(stored);
    const before = this.#units.get(id) ?? units;
    this.#units.set(id, units);
    const struck = this.#row("master_pool", "login", textOf(master))?.["struck_deal_id"] as bigint;
    const unpricedMs = before === units ? 0 : this.#unpricedMs(textOf(master), struck);
    if (unpricedMs > MAX_UNPRICED_MS) {
      throw new Violation(
        "I18",
        `the units of ${textOf(id)} changed ${unpricedMs} ms after the last price of ${textOf(master)}`,
      );
    }
  }

  /** I12: a cancelled subscription has nothing in the pool. */
  #checkLeft(subscription: Values): void {
    const [holding] = this.#holdingsOf("subscription_id", subscription["id"]!);
    const isEmpty =
      holding === undefined || [...ON_INVESTOR, "outbound_minor"].every((bucket) => holding[bucket] === 0n);
    const account = this.#row("investor_account", "login", textOf(subscription["investor_login"]!));
    if (!isEmpty || account?.["pooled_subscription_id"] === subscription["id"]) {
      throw new Violation("I12", `subscription ${textOf(subscription["id"]!)} has ended and is still in its pool`);
    }
  }

  #holdingsOf(column: string, value: Value): readonly Values[] {
    return this.#rows("holding").filter((holding) => holding[column] === value);
  }

  #row(table: string, column: string, value: Value): Values | undefined {
    return this.#rows(table).find((row) => row[column] === value);
  }

  #rows(table: string): readonly Values[] {
    return [...this.#subscriptions.committed(table)];
  }
}

function minor(row: Values, column: string): bigint {
  return row[column] as bigint;
}

function totalOf(rows: readonly Values[], columns: readonly string[]): bigint {
  return rows.reduce((sum, row) => columns.reduce((part, column) => part + minor(row, column), sum), 0n);
}

/** What the row of a pool says of its holdings. */
function sumsOf(holdings: readonly Values[]): Readonly<Record<string, bigint>> {
  const hasUnits = (row: Values): boolean => textOf(row["units"]!) !== "0";
  const [sharing, others] = [holdings.filter(hasUnits), holdings.filter((row) => !hasUnits(row))];
  const cash = ["pooled_minor", "unredeemed_minor"];
  return {
    holdings_units: sharing.reduce((sum, row) => sum + BigInt(textOf(row["units"]!)), 0n),
    holdings_minor: totalOf(sharing, cash),
    holdings_carry_e8: totalOf(sharing, ["carry_e8"]),
    unitless_minor: totalOf(others, cash),
    unitless_carry_e8: totalOf(others, ["carry_e8"]),
    emptied_holdings: BigInt(sharing.filter((row) => totalOf([row], cash) === 0n).length),
  };
}
