import { keyHash } from "#kernel/values/key-hash.ts";
import type { WrittenRow } from "../postgres/row.ts";
import { textOf, type Values } from "../postgres/types.ts";
import type { ServerDeal } from "../world/trade-server.ts";
import type { PlatformRows, LegRow } from "./platform-rows.ts";
import { type FeeRows, isOpenPayment, nameOf, ownerOf, type PairRow, paymentOf, type PaymentRow } from "./fee-rows.ts";
import { isUnder } from "./movement.ts";
import { readSentReference } from "./reference.ts";
import { Violation } from "./violation.ts";
import type { DealsWatch } from "./watch-deals.ts";

export type FeeFacts = {
  readonly fees: FeeRows;
  readonly platformRows: PlatformRows;
  readonly dealsWatch: DealsWatch;
  /** The rate of each Investor in parts per million; it never changes in a history. */
  readonly rates: ReadonlyMap<string, number>;
};

type WantedDeal = {
  readonly id: bigint;
  readonly hash: string;
  readonly login: string;
  readonly amountMinor: bigint;
};

const E8_PER_CENT = 1_000_000n;
/** A cent at a rate of one, in the unit of the high-water mark times the rate. */
const CENT_AT_RATE = E8_PER_CENT * 1_000_000n;
const DEBIT = 1;
/** Tables with rows of an Investor and a Master. */
const OF_A_PAIR: ReadonlySet<string> = new Set(["fee_payment", "fee_prepaid", "pair"]);

/** Checks every deal of a fee, and the rows that each commit of the fee service changes. */
export class FeesWatch {
  readonly #facts: FeeFacts;
  /** The transfer that took each fee, by its run, Investor, Master and suffix, and by the key of its payment. */
  readonly #taken = new Map<string, bigint>();
  readonly #marks = new Map<string, bigint>();
  /** All payments that were ever committed, by their keys: the fee service may lose one whose transfer is recorded. */
  readonly #decided = new Map<string, PaymentRow>();

  constructor(facts: FeeFacts) {
    this.#facts = facts;
  }

  /** I11: each debit belongs to a decided payment, the only one for the same run and Investor. */
  onDeal(deal: ServerDeal): void {
    const { platformRows, fees } = this.#facts;
    const leg = platformRows.leg(readSentReference(deal.sentComment)?.number ?? -1n);
    if (leg?.kind !== "fee_debit" && leg?.kind !== "fee_credit") return;
    const key = platformRows.keyOf(leg.transferId);
    const payment = fees.paymentUnder(key) ?? [...this.#decided.values()].find((each) => isUnder(each.key, key));
    if (payment === undefined) throw new Violation("I11", `${key} moves a fee without a payment`);
    this.#checkAccount(deal, leg, payment);
    if (leg.ordinal !== DEBIT) return;
    const { runId, investor, master, suffix } = payment;
    // A run that is planned again after a rewind has another number, and its payments have the same keys.
    for (const owed of [`run ${runId}, ${investor}, ${master}, ${suffix}`, payment.key]) {
      const before = this.#taken.get(owed) ?? leg.transferId;
      if (before !== leg.transferId) throw new Violation("I11", `${owed}: taken twice, the second time as ${key}`);
      this.#taken.set(owed, leg.transferId);
    }
  }

  /** Databases have lost commits: what was remembered of them is read again. */
  onRewind(): void {
    const { fees, dealsWatch } = this.#facts;
    dealsWatch.forgetExcluded("fee");
    this.#marks.clear();
    for (const pair of fees.pairs()) this.#checkMark(nameOf(pair), pair);
    for (const payment of fees.payments()) this.#checkPayment(payment);
  }

  /** Of the fee service, and of subscription. */
  onCommit(written: readonly WrittenRow[]): void {
    const owners: ReturnType<typeof ownerOf>[] = [];
    for (const { table, committed } of written) {
      if (table === "fee_payment") this.#checkPayment(paymentOf(committed));
      if (table === "fee_run") this.#checkRun(committed);
      if (OF_A_PAIR.has(table)) owners.push(ownerOf(committed));
    }
    const names = new Set(owners.map(nameOf));
    for (const pair of this.#facts.fees.pairs()) if (names.has(nameOf(pair))) this.#checkPair(pair);
  }

  /** Weeks that are not decided or recorded, and payments that are open although no review blocks them; empty when no work is left. */
  unsettled(): readonly string[] {
    const { fees } = this.#facts;
    const open = fees.payments().filter((payment) => isOpenPayment(payment) && !this.#isInReview(payment));
    return [
      ...open.map(({ key, status }) => `${key} is ${status}`),
      ...fees.undecided().map((master) => `a week of ${master} is not decided, or its fees are not recorded`),
    ];
  }

  /** Whether its own transfer, or another leg on one of its accounts, is in manual review. */
  #isInReview({ investor, paymentAccount }: PaymentRow): boolean {
    const { platformRows } = this.#facts;
    const legs = [...platformRows.legsOfLogin(investor), ...platformRows.legsOfLogin(paymentAccount)];
    return legs.some(({ state }) => state === "REVIEW");
  }

  /** I4: the leg is on the account of the debtor or of the creditor, and within what is due. */
  #checkAccount({ login, amountMinor }: ServerDeal, { ordinal }: LegRow, payment: PaymentRow): void {
    const [wanted, sign] = ordinal === DEBIT ? [payment.investor, -1n] : [payment.paymentAccount, 1n];
    const moved = amountMinor * sign;
    if (login !== wanted || moved <= 0n || moved > payment.dueMinor) {
      throw new Violation("I4", `leg ${ordinal} of ${payment.key} moved ${amountMinor} on ${login}`);
    }
  }

  #checkPayment(payment: PaymentRow): void {
    this.#decided.set(payment.key, payment);
    if (payment.status === "EXECUTED") this.#checkExecuted(payment);
    if (payment.status === "DEFERRED" || payment.status === "SKIPPED") this.#checkNothing(payment);
    if (payment.status === "REVERSED") this.#facts.dealsWatch.onExcluded(payment.key, "credit");
  }

  /** I2: both deals were made for this payment, with the recorded amount. */
  #checkExecuted(payment: PaymentRow): void {
    const { id, investor, paymentAccount, takenMinor, debitDeal, creditDeal, keyHash: hash } = payment;
    const isPaid = this.#isDealOf(debitDeal ?? 0n, { id, hash, login: investor, amountMinor: -takenMinor });
    const credited = { id, hash, login: paymentAccount, amountMinor: takenMinor };
    if (!isPaid || !this.#isDealOf(creditDeal ?? 0n, credited)) {
      throw new Violation("I2", `${payment.key} is recorded as paid with deals that were not made for it`);
    }
  }

  #isDealOf(ticket: bigint, wanted: WantedDeal) {
    const { dealsWatch, fees } = this.#facts;
    const deal = dealsWatch.deal(ticket);
    // Also when the platform service has lost the transfer: a process that ran on during a failover records what it was answered.
    const key = dealsWatch.keyOfLeg(readSentReference(deal?.sentComment ?? "")?.number ?? -1n);
    // The deals of an imported fee were made under the key of a payment that was lost.
    const isOwn = key !== undefined && (fees.paymentUnder(key)?.id === wanted.id || keyHash(key) === wanted.hash);
    return isOwn && deal?.login === wanted.login && deal.amountMinor === wanted.amountMinor;
  }

  /** I3: a payment that was not taken is never taken later under its key; its amount becomes debt with another key. */
  #checkNothing({ key }: PaymentRow): void {
    const { dealsWatch } = this.#facts;
    const deal = dealsWatch.dealsUnder(key).find((each) => dealsWatch.isWithinBounds(each));
    if (deal !== undefined) throw new Violation("I3", `${key} is recorded as not paid and has deal ${deal.ticket}`);
    dealsWatch.onExcluded(key, "all");
  }

  /** I11: a week of a Master is decided once. */
  #checkRun(run: Values): void {
    if (run["kind"] !== "WEEKLY") return;
    const same = this.#facts.fees.weeklyRuns(run["master_login"]!, run["period_end"]!);
    if (same.length > 1) throw new Violation("I11", `a week of ${textOf(run["master_login"]!)} has two runs`);
  }

  #checkPair(pair: PairRow): void {
    const name = nameOf(pair);
    const payments = this.#facts.fees.paymentsOf(pair);
    this.#checkBuckets(name, pair, payments);
    const recorded = payments.filter(({ kind, isImported }) => kind === "PF" && !isImported);
    const fees = recorded.map(({ dueMinor, prepaidMinor }) => dueMinor + prepaidMinor);
    this.#checkRate(name, pair, [...fees, ...this.#facts.fees.unrecorded(pair)]);
    this.#checkMark(name, pair);
  }

  /** I4: each cent that was ever due is taken, open or debt. */
  #checkBuckets(name: string, { debtMinor, prepaidMinor }: PairRow, payments: readonly PaymentRow[]): void {
    const imported = payments.filter(({ isImported }) => isImported);
    // One that was reversed is a debt again.
    const paid = sum(imported.map(({ dueMinor }) => dueMinor));
    const used = prepaidMinor + sum(payments.map((payment) => payment.prepaidMinor));
    if (paid !== used) throw new Violation("I4", `${name}: imported fees have paid ${paid}, and ${used} were used`);
    const due = sum(payments.map(({ kind, dueMinor }) => (kind === "PF" ? dueMinor : 0n)));
    const open = sum(payments.map((payment) => (isOpenPayment(payment) ? payment.dueMinor : 0n)));
    const taken = sum(payments.map(({ status, takenMinor }) => (status === "EXECUTED" ? takenMinor : 0n)));
    if (due !== open + taken + debtMinor) {
      throw new Violation("I4", `${name}: ${due} were due; ${taken} taken, ${open} open, ${debtMinor} debt`);
    }
  }

  /** I11: the sum of all fees is the rate times the high-water mark, less a rounding of under a cent for each fee. */
  #checkRate(name: string, { investor, markE8 }: PairRow, fees: readonly bigint[]): void {
    const exact = markE8 * BigInt(this.#facts.rates.get(investor) ?? 0);
    const charged = sum(fees) * CENT_AT_RATE;
    if (charged > exact || charged <= exact - BigInt(fees.length) * CENT_AT_RATE - 1n) {
      throw new Violation("I11", `${name}: fees of ${charged}, and the high-water mark allows ${exact}`);
    }
  }

  /**
   * I11: the high-water mark never decreases, or a profit would be charged twice, and never exceeds the best result, or
   * more than the profit would be charged.
   */
  #checkMark(name: string, pair: PairRow): void {
    const before = this.#marks.get(name) ?? 0n;
    if (pair.markE8 < before) {
      throw new Violation("I11", `${name}: the high-water mark decreased from ${before} to ${pair.markE8}`);
    }
    this.#marks.set(name, pair.markE8);
    const best = this.#facts.fees.bestResult(pair) * E8_PER_CENT;
    if (pair.markE8 > best) {
      throw new Violation("I11", `${name}: the high-water mark is ${pair.markE8}, and only ${best} were earned`);
    }
  }
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
