import type { WrittenRow } from "../postgres/row.ts";
import { textOf, type Values } from "../postgres/types.ts";
import type { TradeServer } from "../world/trade-server.ts";
import { type PlatformRows, isUnderWay, legOf, type LegRow } from "./platform-rows.ts";
import { Violation } from "./violation.ts";
import type { DealsWatch } from "./watch-deals.ts";

export type PlatformRowsFacts = {
  readonly platformRows: PlatformRows;
  readonly server: TradeServer;
  readonly dealsWatch: DealsWatch;
  /** Logins whose log has to be in the order of the history. */
  readonly masters: ReadonlySet<string>;
  /** The error of the clock of the databases. */
  readonly databaseAheadMs: () => number;
};

/** Checks the rows that each commit of the platform service changes. */
export class PlatformRowsWatch {
  readonly #facts: PlatformRowsFacts;
  readonly #sums = new Map<string, bigint>();
  readonly #logged = new Map<string, Set<bigint>>();
  /** Account locks as answered to their owners, with the leg number from which all other sagas have to wait. */
  readonly #accountLocks = new Map<string, { readonly lockOwner: string; readonly number: bigint }>();

  constructor(facts: PlatformRowsFacts) {
    this.#facts = facts;
  }

  onAcquire(login: string, lockOwner: string): void {
    const account = this.#facts.platformRows.account(login);
    if (account?.["locked_by"] !== lockOwner) {
      throw new Violation("I6", `${lockOwner} was answered as the owner of an account lock, but is not its owner`);
    }
    this.#accountLocks.set(login, { lockOwner, number: account["lock_number"] as bigint });
  }

  onRelease(login: string): void {
    this.#accountLocks.delete(login);
  }

  onCommit(written: readonly WrittenRow[]): void {
    const logins = new Set<string>();
    const legs = new Set<bigint>();
    for (const { table, committed } of written) {
      if (table === "leg") this.#facts.dealsWatch.noteLeg(legOf(committed));
      if (table === "leg") this.#checkLeg(legOf(committed));
      if (table === "attempt") this.#notePermit(committed);
      if (table === "leg") legs.add(committed["number"] as bigint);
      if (table === "attempt") this.#checkPermit(committed);
      if (table === "log_entry") this.#checkEntry(committed);
      if (table === "log_entry") legs.add((committed["leg_number"] ?? 0n) as bigint);
      if (table === "log_entry" || table === "account") logins.add(textOf(committed["login"] ?? ""));
    }
    for (const login of logins) this.#checkSum(login);
    for (const leg of legs) this.#checkUnlogged(leg);
  }

  /** The database has lost commits: what was remembered of them is read again. */
  onRewind(): void {
    this.#accountLocks.clear();
    this.#sums.clear();
    this.#logged.clear();
    for (const entry of this.#facts.platformRows.entries()) this.#noteEntry(entry);
  }

  #notePermit(attempt: Values): void {
    const name = `${textOf(attempt["leg_number"]!)}:${textOf(attempt["number"]!)}`;
    this.#facts.dealsWatch.notePermit(name, attempt["permit_expires_at"] as number, this.#facts.databaseAheadMs());
  }

  #noteEntry(entry: Values): { readonly login: string; readonly logged: Set<bigint> } {
    const login = textOf(entry["login"] ?? "");
    const logged = this.#logged.get(login) ?? new Set();
    this.#logged.set(login, logged);
    this.#sums.set(login, (this.#sums.get(login) ?? 0n) + (entry["amount_minor"] as bigint));
    const dealId = entry["deal_id"] as bigint | null;
    if (dealId !== null && entry["kind"] !== "amendment") logged.add(dealId);
    return { login, logged };
  }

  /** I6: one leg of a login at a time. */
  #checkLeg(leg: LegRow): void {
    if (!leg.isExclusive || !isUnderWay(leg)) return;
    const open = this.#facts.platformRows.legsOfLogin(leg.login).filter((one) => one.isExclusive && isUnderWay(one));
    if (open.length > 1) throw new Violation("I6", `${open.map(({ number }) => number).join(" and ")} are in progress`);
  }

  /** I6: under a granted account lock only legs of its owner are sent, and legs that were queued before it. */
  #checkPermit(attempt: Values): void {
    if (attempt["state"] !== "SENDING") return;
    const { platformRows } = this.#facts;
    const number = attempt["leg_number"] as bigint;
    const leg = platformRows.leg(number);
    if (leg === undefined || !leg.isExclusive) return;
    const account = platformRows.account(leg.login);
    const held = { lockOwner: account?.["locked_by"] ?? null, number: (account?.["lock_number"] ?? 0n) as bigint };
    for (const { lockOwner, number: from } of [held, this.#accountLocks.get(leg.login) ?? held]) {
      const isAllowed = lockOwner === null || number < from || platformRows.lockOwnerOf(leg.transferId) === lockOwner;
      if (!isAllowed) throw new Violation("I6", `${number} was sent under the account lock of ${textOf(lockOwner)}`);
    }
  }

  #checkEntry(entry: Values): void {
    const { login, logged } = this.#noteEntry(entry);
    const amount = entry["amount_minor"] as bigint;
    const dealId = entry["deal_id"] as bigint | null;
    // An amendment of a deal moves no money.
    if (dealId === null || entry["kind"] === "amendment") return;
    const deal = this.#facts.dealsWatch.deal(dealId);
    if (deal?.login !== login || deal.amountMinor !== amount) {
      throw new Violation("I4", `the log of ${login} has ${amount} for deal ${dealId}, which is ${deal?.amountMinor}`);
    }
    if (this.#facts.masters.has(login)) this.#checkOrder(login, dealId, logged);
  }

  /** I5: when a deal is logged, every earlier deal that was shown before it is logged already. */
  #checkOrder(login: string, dealId: bigint, logged: ReadonlySet<bigint>): void {
    const deal = this.#facts.dealsWatch.deal(dealId);
    if (deal === undefined) return;
    const skipped = this.#facts.server.deals.find(
      (other) =>
        other.login === login &&
        other.ticket < dealId &&
        other.shownFromMs <= deal.shownFromMs &&
        !logged.has(other.ticket),
    );
    if (skipped !== undefined) {
      throw new Violation("I5", `deal ${dealId} of ${login} was logged before ${skipped.ticket}`);
    }
  }

  /** I5: a leg with a deal is in its log, or noted as unlogged, so that no later deal is logged before it. */
  #checkUnlogged(number: bigint): void {
    const { platformRows } = this.#facts;
    const leg = platformRows.leg(number);
    if (leg === undefined || leg.dealId === null) return;
    const isLogged = this.#logged.get(leg.login)?.has(leg.dealId) === true;
    if (platformRows.isUnlogged(number) === isLogged) {
      throw new Violation(
        "I5",
        `${number} is ${isLogged ? "logged, and noted as unlogged" : "in no log, and not noted"}`,
      );
    }
  }

  /** I4: the sum on the account's row is the sum of its log. */
  #checkSum(login: string): void {
    const sum = this.#facts.platformRows.account(login)?.["log_minor"];
    if (sum !== undefined && sum !== this.#sums.get(login)) {
      throw new Violation(
        "I4",
        `the log of ${login} adds up to ${this.#sums.get(login)} and its account has ${textOf(sum)}`,
      );
    }
  }
}
