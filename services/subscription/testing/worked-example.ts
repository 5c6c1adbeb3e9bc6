import { formatExact } from "#kernel/values/exact-decimal.ts";
import { formatMinor } from "#kernel/values/money.ts";
import { cents } from "#kernel/testing/cents.ts";
import { decideDue } from "../domain/fees/due.ts";
import { earn, type Earnings, NOTHING_EARNED } from "../domain/fees/layers.ts";
import { stepAt, type Terms, type TermsStep } from "../domain/fees/terms.ts";
import { E8_PER_CENT } from "../domain/pool/unit-pool.ts";

const MASTER = "5001";
const BEGIN = Date.UTC(2026, 0, 5);
const EVENT_MS = 60_000;

type Change = { readonly ratePpm?: number; readonly enabled?: boolean; readonly from?: Date };

/** Terms from an instant on, and none before. */
export function termsFrom(from: Date, parts: Partial<TermsStep> = {}): Terms {
  const enabled = parts.enabled ?? true;
  return [
    { from: undefined, ratePpm: 0, enabled, versionId: 0n },
    { from, ratePpm: 300_000, enabled, versionId: 1n, ...parts },
  ];
}

/** A worked example: the fees of one Investor alone in a pool, without services. Events are a minute apart. */
export class WorkedExample {
  earnings: Earnings = NOTHING_EARNED;
  balance: bigint;
  paymentAccount = 0n;
  terms: Terms;
  #ratePpm: number;
  #events = 0;

  constructor(deposit: string, ratePpm: number) {
    this.balance = cents(deposit);
    this.terms = termsFrom(this.#next(), { ratePpm });
    this.#ratePpm = ratePpm;
  }

  result(amount: string): this {
    return this.repair(amount, this.#next());
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

  /** In the place of all terms since then; what is scheduled stays. While the switch is off the rate is 0. */
  change({ ratePpm = this.#ratePpm, enabled = true, from }: Change): this {
    const now = this.#next();
    const since = from ?? now;
    if (since <= now) this.#ratePpm = ratePpm;
    const { versionId = 0n } = stepAt(this.terms, now) ?? {};
    const step = { from: since, ratePpm: enabled ? ratePpm : 0, enabled, versionId: versionId + 1n };
    const before = this.terms.filter((each) => each.from === undefined || each.from < since);
    const after = this.terms.filter((each) => each.from !== undefined && each.from > since && each.from > now);
    this.terms = [...before, step, ...after];
    return this;
  }

  cancelScheduled(): this {
    const now = this.#next();
    this.terms = this.terms.filter(({ from }) => from === undefined || from <= now);
    return this;
  }

  get now(): Date {
    return new Date(BEGIN + this.#events * EVENT_MS);
  }

  /** The fee of a week or a withdrawal. */
  run(floating = "0.00"): string {
    const { fee, earnings } = this.#decide(floating);
    this.earnings = earnings;
    this.balance -= fee;
    this.paymentAccount += fee;
    return formatMinor(fee);
  }

  /** The pending fee. */
  pending(): string {
    return formatMinor(this.#decide("0.00").fee);
  }

  /** The sum of all results, the high-water mark, the layers of profit above it, and the balance. */
  get state() {
    const { earned, mark, layers } = this.earnings;
    return {
      earned: formatMinor(earned),
      mark: formatExact(mark),
      layers: layers.map(({ amount }) => formatExact(amount)),
      balance: formatMinor(this.balance),
    };
  }

  #decide(floating: string) {
    const at = this.#next();
    const { earnings: before, terms } = this;
    const facts = { masterLogin: MASTER, earnings: before, terms, debts: [], markedAt: undefined, at };
    const { due, earnings } = decideDue({ ...facts, floating: cents(floating) * E8_PER_CENT });
    return { fee: due.reduce((sum, { amount }) => sum + amount, 0n), earnings };
  }

  #next(): Date {
    this.#events += 1;
    return this.now;
  }
}
