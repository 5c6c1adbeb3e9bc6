import { formatDecimal, parseDecimal, usd } from "#kernel/money.ts";
import { decideDue, sumOfDue } from "../domain/due.ts";
import { earn, type Earnings, NOTHING_EARNED } from "../domain/layers.ts";
import { E8_PER_CENT, formatExact } from "../domain/units.ts";
import { type FeeChange, versionOfChange } from "../domain/change-timeline.ts";
import { versionsAfter } from "./a-version.ts";
import { scheduledAfter, shownAt, type Version } from "../domain/timeline.ts";

const MASTER = "5001";
const BEGIN = Date.UTC(2026, 0, 5);
const EVENT_MS = 60_000;
const UNCHANGED: FeeChange = { ratePpm: undefined, enabled: undefined, effectiveSince: undefined };

/** A worked example: the fees of one Investor alone in a pool, without services. Events are a minute apart. */
export class WorkedExample {
  earnings: Earnings = NOTHING_EARNED;
  balance: bigint;
  paymentAccount = 0n;
  versions: Version[] = [];
  #events = 0;

  constructor(deposit: string, ratePpm: number) {
    this.balance = cents(deposit);
    this.change({ ratePpm });
  }

  result(amount: string): this {
    this.earnings = earn(this.earnings, [{ amount: cents(amount), earnedAt: this.#next() }]);
    return this.flow(amount);
  }

  /** A result that repairs one of before: it has the time of that one. */
  repair(amount: string, earnedAt: Date): this {
    this.earnings = earn(this.earnings, [{ amount: cents(amount), earnedAt }]);
    return this.flow(amount);
  }

  flow(amount: string): this {
    this.balance += cents(amount);
    return this;
  }

  change(change: Partial<FeeChange>): this {
    const at = this.#next();
    this.versions = versionsAfter(this.versions, versionOfChange(this.versions, { ...UNCHANGED, ...change }, at), at);
    return this;
  }

  cancelScheduled(): this {
    const cancelled = scheduledAfter(this.versions, this.#next());
    this.versions = this.versions.filter((version) => version !== cancelled);
    return this;
  }

  /** What a query of the configuration shows now. */
  get shown(): Version | undefined {
    return shownAt(this.versions, this.now);
  }

  get now(): Date {
    return new Date(BEGIN + this.#events * EVENT_MS);
  }

  /** The fee of a run or a withdrawal. */
  run(floating = "0.00"): string {
    const { fee, earnings } = this.#decide(floating);
    this.earnings = earnings;
    this.balance -= fee;
    this.paymentAccount += fee;
    return formatCents(fee);
  }

  /** The pending fee. */
  pending(): string {
    return formatCents(this.#decide("0.00").fee);
  }

  /** The sum of all results, the high-water mark, the layers of profit above it, and the balance. */
  get state() {
    const { earned, mark, layers } = this.earnings;
    return {
      earned: formatCents(earned),
      mark: formatExact(mark),
      layers: layers.map(({ amount }) => formatExact(amount)),
      balance: formatCents(this.balance),
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
    this.#events += 1;
    return this.now;
  }
}

export function cents(text: string): bigint {
  const minor = parseDecimal(text.replace(/^\+/, ""));
  if (minor === undefined) throw new Error(`${text} is not an amount.`);
  return minor;
}

export function formatCents(minor: bigint): string {
  return formatDecimal(usd(minor));
}
