import { formatDecimal, parseDecimal, usd } from "#kernel/money.ts";
import { decideDue, sumOfDue } from "../domain/due.ts";
import { earn, type Earnings, NOTHING_EARNED } from "../domain/layers.ts";
import { E8_PER_CENT, formatExact } from "../domain/units.ts";
import { type FeeChange, firstVersion, type FeeVersion, nextVersion } from "../domain/version.ts";

const MASTER = "5001";
const BEGIN = Date.UTC(2026, 0, 5);
const STEP_MS = 60_000;
const UNCHANGED: FeeChange = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined };

/** A worked example of the accounting: one Investor alone in a pool, without services. Each step takes a minute. */
export class WorkedExample {
  earnings: Earnings = NOTHING_EARNED;
  balance: bigint;
  paymentAccount = 0n;
  versions: FeeVersion[];
  #newest: FeeVersion;
  #steps = 0;

  constructor(deposit: string, ratePpm: number) {
    this.balance = cents(deposit);
    this.#newest = firstVersion({ ...UNCHANGED, ratePpm }, this.#next());
    this.versions = [this.#newest];
  }

  result(amount: string): this {
    this.earnings = earn(this.earnings, [{ amount: cents(amount), earnedAt: this.#next() }]);
    return this.flow(amount);
  }

  flow(amount: string): this {
    this.balance += cents(amount);
    return this;
  }

  change(change: Partial<FeeChange>): this {
    this.#newest = nextVersion(this.#newest, { ...UNCHANGED, ...change }, this.#next());
    this.versions.push(this.#newest);
    return this;
  }

  /** The fee of a run or a withdrawal. */
  run(floating = "0.00"): string {
    const { fee, earnings } = this.#decide(floating);
    this.earnings = earnings;
    this.balance -= fee;
    this.paymentAccount += fee;
    return show(fee);
  }

  /** The pending fee. */
  pending(): string {
    return show(this.#decide("0.00").fee);
  }

  /** G, H, L and the balance. */
  get state() {
    const { earned, mark, layers } = this.earnings;
    return {
      G: show(earned),
      H: formatExact(mark),
      L: layers.map(({ amount }) => formatExact(amount)),
      balance: show(this.balance),
    };
  }

  #decide(floating: string) {
    const at = this.#next();
    const { earnings: before, versions } = this;
    const facts = { masterLogin: MASTER, earnings: before, versions, debts: [], markedAt: undefined, at };
    const { due, earnings } = decideDue({ ...facts, floating: cents(floating) * E8_PER_CENT });
    return { fee: sumOfDue(due), earnings };
  }

  #next(): Date {
    this.#steps += 1;
    return new Date(BEGIN + this.#steps * STEP_MS);
  }
}

export function cents(text: string): bigint {
  const minor = parseDecimal(text.replace(/^\+/, ""));
  if (minor === undefined) throw new Error(`${text} is not an amount.`);
  return minor;
}

export function show(minor: bigint): string {
  return formatDecimal(usd(minor));
}
