import type { Row } from "../postgres/row.ts";
import type { HeldRow } from "../postgres/transaction.ts";
import { textOf, type Values } from "../postgres/types.ts";
import type { ServerDeal } from "../world/trade-server.ts";
import type { Books, OperationRow } from "./books.ts";
import { type FeeBooks, isOpenPayment, pairOf, type PairRow, paymentOf, type PaymentRow } from "./fee-books.ts";
import { readSentReference } from "./reference.ts";
import { Violation } from "./violation.ts";
import type { PlatformWatch } from "./watch-platform.ts";

export type FeeFacts = {
  readonly fees: FeeBooks;
  readonly books: Books;
  readonly platform: PlatformWatch;
  /** What each Investor agreed to, in parts per million; it never changes in a history. */
  readonly rates: ReadonlyMap<string, number>;
};

/** The only keys under which fees are taken. */
const PAYMENT_KEY = /^fee:payment:(\d+)/;
const E8_PER_CENT = 1_000_000n;
/** A cent at a rate of one, in the unit of mark times rate. */
const CENT_AT_RATE = E8_PER_CENT * 1_000_000n;
const DEBIT = 1;

/** Looks at every deal of a fee, and at what each commit of the fee service leaves. */
export class FeesWatch {
  readonly #facts: FeeFacts;
  /** Who has been debited for what, by the transfer that did it. */
  readonly #taken = new Map<string, bigint>();
  readonly #marks = new Map<string, bigint>();

  constructor(facts: FeeFacts) {
    this.#facts = facts;
  }

  /** I11: each debit is that of a payment which was decided, and of no other one for the same run and Investor. */
  onDeal(deal: ServerDeal): void {
    const { books, fees } = this.#facts;
    const operation = books.operation(readSentReference(deal.sentComment)?.number ?? -1n);
    if (operation?.kind !== "fee_debit" && operation?.kind !== "fee_credit") return;
    const key = books.keyOf(operation.transferId);
    const payment = fees.payment(idIn(key));
    if (payment === undefined) throw new Violation("I11", `${key} moves a fee that nobody owes`);
    this.#checkAccount(deal, operation, payment);
    if (operation.leg !== DEBIT) return;
    const { runId, investor, master, suffix } = payment;
    const owed = `run ${runId}, ${investor}, ${master}, ${suffix}`;
    const before = this.#taken.get(owed) ?? operation.transferId;
    if (before !== operation.transferId) throw new Violation("I11", `${owed}: taken twice, the second time as ${key}`);
    this.#taken.set(owed, operation.transferId);
  }

  onCommit(changed: readonly HeldRow[]): void {
    const pairs = new Map<string, PairRow>();
    for (const held of changed) {
      const { table, committed } = held as Row;
      if (committed === undefined) continue;
      if (table === "fee_payment") this.#checkPayment(paymentOf(committed));
      if (table === "fee_run") this.#checkRun(committed);
      if (table === "fee_pair") pairs.set(nameOf(pairOf(committed)), pairOf(committed));
    }
    for (const held of changed) {
      const { table, committed } = held as Row;
      if (table !== "fee_payment" || committed === undefined) continue;
      const name = nameOf(paymentOf(committed));
      const pair = pairs.get(name) ?? this.#facts.fees.pairs().find((one) => nameOf(one) === name);
      if (pair !== undefined) pairs.set(name, pair);
    }
    for (const pair of pairs.values()) this.#checkPair(pair);
  }

  /** What is not read, or not at its end although no person has to decide about it; empty when all is quiet. */
  unsettled(): readonly string[] {
    const { fees } = this.#facts;
    const open = fees.payments().filter((payment) => isOpenPayment(payment) && !this.#liesBeforePerson(payment));
    return [
      ...open.map(({ key, status }) => `${key} is ${status}`),
      ...fees.unread().map((master) => `results of ${master} are not read`),
      ...fees.stops(),
    ];
  }

  /** Its own transfer, or one that holds up the account that it is to be taken from. */
  #liesBeforePerson({ investor, paymentAccount }: PaymentRow): boolean {
    const { books } = this.#facts;
    const operations = [...books.operationsOf(investor), ...books.operationsOf(paymentAccount)];
    return operations.some(({ state }) => state === "REVIEW");
  }

  /** I4: the leg is on the account of who owes it, or is owed, and within what is due. */
  #checkAccount({ login, amountMinor }: ServerDeal, { leg }: OperationRow, payment: PaymentRow): void {
    const [wanted, sign] = leg === DEBIT ? [payment.investor, -1n] : [payment.paymentAccount, 1n];
    const moved = amountMinor * sign;
    if (login !== wanted || moved <= 0n || moved > payment.dueMinor) {
      throw new Violation("I4", `leg ${leg} of ${payment.key} moved ${amountMinor} on ${login}`);
    }
  }

  #checkPayment(payment: PaymentRow): void {
    if (payment.status === "EXECUTED") this.#checkExecuted(payment);
    if (payment.status === "DEFERRED" || payment.status === "SKIPPED") this.#checkNothing(payment);
    if (payment.status === "REVERSED") this.#facts.platform.onToldNothing(payment.key, "credit");
  }

  /** I2: both deals were made for this very payment, with the amount that is on record. */
  #checkExecuted(payment: PaymentRow): void {
    const credit = this.#facts.fees.credit(payment.creditId ?? -1n);
    const { id, investor, paymentAccount, takenMinor, debitDeal } = payment;
    const isPaid = this.#isDealOf(debitDeal ?? 0n, { id, login: investor, amountMinor: -takenMinor });
    const credited = { id, login: paymentAccount, amountMinor: takenMinor };
    if (!isPaid || !this.#isDealOf((credit?.["deal_id"] ?? 0n) as bigint, credited)) {
      throw new Violation("I2", `${payment.key} is on record as paid with deals that were not made for it`);
    }
  }

  #isDealOf(ticket: bigint, wanted: { readonly id: bigint; readonly login: string; readonly amountMinor: bigint }) {
    const { platform, books } = this.#facts;
    const deal = platform.deal(ticket);
    const operation = books.operation(readSentReference(deal?.sentComment ?? "")?.number ?? -1n);
    const isIts = operation !== undefined && idIn(books.keyOf(operation.transferId)) === wanted.id;
    return isIts && deal?.login === wanted.login && deal.amountMinor === wanted.amountMinor;
  }

  /** I3: what was not taken is not taken later either; it is debt, and is taken under another key. */
  #checkNothing({ key }: PaymentRow): void {
    const { platform, books } = this.#facts;
    const transferId = books.transferIdOf(key);
    const legs = transferId === undefined ? [] : books.legsOf(transferId);
    const deals = legs.flatMap(({ number }) => platform.dealsOf(number));
    const claimed = deals.find((deal) => platform.isWithinBounds(deal));
    if (claimed !== undefined) throw new Violation("I3", `${key} is on record as not paid and has ${claimed.ticket}`);
    platform.onToldNothing(key, "all");
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
    const fees = payments.filter(({ kind }) => kind === "PF");
    this.#checkRate(name, pair, fees);
    this.#checkMark(name, pair);
  }

  /** I4: each cent that was ever due is in one place. */
  #checkBuckets(name: string, { debtMinor }: PairRow, payments: readonly PaymentRow[]): void {
    const due = sum(payments.map(({ kind, dueMinor }) => (kind === "PF" ? dueMinor : 0n)));
    const open = sum(payments.map((payment) => (isOpenPayment(payment) ? payment.dueMinor : 0n)));
    const taken = sum(payments.map(({ status, takenMinor }) => (status === "EXECUTED" ? takenMinor : 0n)));
    if (due !== open + taken + debtMinor) {
      throw new Violation("I4", `${name}: ${due} were due; ${taken} taken, ${open} open, ${debtMinor} debt`);
    }
  }

  /** I11: all fees together are the agreed part of all profit up to the mark, less than a cent a fee below it. */
  #checkRate(name: string, { investor, markE8 }: PairRow, fees: readonly PaymentRow[]): void {
    const exact = markE8 * BigInt(this.#facts.rates.get(investor) ?? 0);
    const charged = sum(fees.map(({ dueMinor }) => dueMinor)) * CENT_AT_RATE;
    if (charged > exact || charged <= exact - BigInt(fees.length) * CENT_AT_RATE - 1n) {
      throw new Violation("I11", `${name}: fees of ${charged} for a mark that allows ${exact}`);
    }
  }

  /** I11: the mark never falls, and is never above what was earned: otherwise a profit is charged twice, or one that was none. */
  #checkMark(name: string, pair: PairRow): void {
    const before = this.#marks.get(name) ?? 0n;
    if (pair.markE8 < before) throw new Violation("I11", `${name}: the mark fell from ${before} to ${pair.markE8}`);
    this.#marks.set(name, pair.markE8);
    const best = this.#facts.fees.bestResult(pair) * E8_PER_CENT;
    if (pair.markE8 > best) {
      throw new Violation("I11", `${name}: a mark of ${pair.markE8}, and only ${best} were earned`);
    }
  }
}

/** The payment that a key is about. */
function idIn(key: string): bigint {
  return BigInt(PAYMENT_KEY.exec(key)?.[1] ?? -1);
}

function nameOf({ investor, master }: Pick<PairRow, "investor" | "master">): string {
  return `${investor} with ${master}`;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
