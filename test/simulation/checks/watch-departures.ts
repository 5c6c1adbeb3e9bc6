import type { Database } from "../postgres/database.ts";
import type { WrittenRow } from "../postgres/row.ts";
import { textOf, type Values } from "../postgres/types.ts";
import { payoutKey } from "./movement.ts";
import type { PlatformRowsWatch } from "./watch-platform-rows.ts";
import type { DealsWatch } from "./watch-deals.ts";
import { Violation } from "./violation.ts";

export type DeparturesFacts = {
  readonly subscriptions: Database;
  readonly dealsWatch: DealsWatch;
  readonly accountLocks: Pick<PlatformRowsWatch, "onAcquire" | "onRelease">;
};

const OPEN = ["WANTED", "WAITING", "DECIDED"];
const NUMBERS = ["before_minor", "pending_minor", "available_minor", "effective_minor"];

/** Checks how far the withdrawals and exits of the subscription service are after each of its commits. */
export class DeparturesWatch {
  readonly #facts: DeparturesFacts;
  /** What was decided, and the last state, by operation. */
  readonly #known = new Map<string, { readonly state: string; readonly decided: string | undefined }>();
  readonly #underWay = new Set<string>();

  constructor(facts: DeparturesFacts) {
    this.#facts = facts;
  }

  onCommit(written: readonly WrittenRow[]): void {
    for (const { table, committed } of written) if (table === "departure") this.#check(committed);
  }

  /** Whether one is under way: it has an account lock, or asks for one. */
  isAnyOpen(): boolean {
    return this.#underWay.size > 0;
  }

  /** Called when a leg of platform is committed: it may release the account lock of the payout. */
  onPayout(key: string, login: string): void {
    if (key.startsWith(payoutKey(""))) this.#facts.accountLocks.onRelease(login);
  }

  /** The database has lost commits: what was remembered of them is read again. */
  onRewind(): void {
    this.#known.clear();
    this.#underWay.clear();
    for (const row of this.#facts.subscriptions.committed("departure")) this.#note(row);
  }

  /** Departures that have not ended, or have an account lock left; empty when no work is left. */
  unsettled(): readonly string[] {
    const rows = [...this.#facts.subscriptions.committed("departure")];
    const open = rows.filter((row) => OPEN.includes(textOf(row["state"]!)) || row["lock_owner"] !== null);
    return open.map((row) => `${textOf(row["operation_id"]!)} is ${textOf(row["state"]!)}`);
  }

  #check(row: Values): void {
    const id = textOf(row["operation_id"]!);
    const before = this.#known.get(id);
    this.#note(row);
    const now = this.#known.get(id)!;
    if (before?.decided !== undefined && before.decided !== now.decided) {
      throw new Violation("I15", `${id} was decided as ${before.decided}, and then as ${now.decided}`);
    }
    if (before?.state === now.state) return;
    if (before?.state === "ENDED") throw new Violation("I15", `${id} had ended and is ${now.state}`);
    if (now.state === "DECIDED") this.#checkLock(row);
    if (now.state === "ENDED") this.#checkEnded(id, row);
    if (now.state === "REFUSED" && now.decided !== undefined) {
      this.#facts.accountLocks.onRelease(textOf(row["investor_login"]!));
      this.#checkReturned(id);
    }
  }

  #note(row: Values): void {
    const numbers = NUMBERS.map((column) => row[column] ?? null);
    const decided = numbers.includes(null) ? undefined : numbers.map((each) => textOf(each)).join(", ");
    const [id, state] = [textOf(row["operation_id"]!), textOf(row["state"]!)];
    this.#known.set(id, { state, decided });
    if (row["lock_owner"] === null) this.#underWay.delete(id);
    else this.#underWay.add(id);
  }

  /** I6: it is decided under its account lock, and a withdrawal keeps it until the payout is requested. */
  #checkLock(row: Values): void {
    const { accountLocks } = this.#facts;
    const login = textOf(row["investor_login"]!);
    accountLocks.onAcquire(login, textOf(row["lock_owner"]!));
    if (row["kind"] === "EXIT" || row["effective_minor"] === 0n) accountLocks.onRelease(login);
  }

  /** I2 and I4: the fees that were decided with it are recorded, and the payout was made. */
  #checkEnded(id: string, row: Values): void {
    const { subscriptions, dealsWatch } = this.#facts;
    const isExit = row["kind"] === "EXIT";
    const key = isExit ? `subscription:exit:${textOf(row["subscription_id"]!)}` : payoutKey(id);
    const fees = [...subscriptions.committed("fee_decision")].filter((fee) => fee["departure_key"] === key);
    if (fees.some((fee) => fee["recorded_at"] === null)) {
      throw new Violation("I4", `${id} has ended, and its fees are not recorded`);
    }
    const effective = row["effective_minor"] as bigint;
    if (isExit || effective === 0n) return;
    const deal = dealsWatch.deal((row["deal_id"] ?? 0n) as bigint);
    if (deal?.login !== textOf(row["investor_login"]!) || deal.amountMinor !== -effective) {
      throw new Violation("I2", `${id} is recorded as paid with ${effective}, and has no deal of that`);
    }
  }

  /** I4: what was reserved for a payout that was refused is back in the pool. */
  #checkReturned(id: string): void {
    const reserves = [...this.#facts.subscriptions.committed("reserve")];
    if (reserves.some((reserve) => reserve["key"] === payoutKey(id) && reserve["state"] === "OPEN")) {
      throw new Violation("I4", `${id} is refused, and its payout is still reserved`);
    }
  }
}
