import type { Error as ErrorMessage } from "#proto/pamm/common/v1/error.ts";
import { type WithdrawResponse, WithdrawalState } from "#proto/pamm/subscription/v1/subscription.ts";
import { type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Refusal } from "../../../services/kernel/values/refusal.ts";
import type { Leg } from "../plan/plan.ts";
import { isUnder, payoutKey } from "./movement.ts";
import { readSentReference } from "./reference.ts";
import { Violation } from "./violation.ts";
import type { DealsWatch } from "./watch-deals.ts";

const { APPLIED, REFUSED } = TransferState;
/** The refusal of a reversed transfer: its debit was applied and reversed, so it has deals. */
const CREDIT_REFUSED = "credit_refused";
/** The amount was calculated without deals that the database had lost: it is calculated again, with a new key. */
const OUTDATED = "outdated";
/** An equal deposit or withdrawal had been executed, which the database had lost. */
const DUPLICATE = "possible_duplicate";

type Requested = Pick<Leg, "login" | "amountMinor">;

/** Compares every answer that a caller received with the deals at the platform. */
export class CallersWatch {
  readonly #dealsWatch: DealsWatch;
  readonly #first = new Map<string, TransferResult>();
  /** Of withdrawals, by the keys of their payouts. */
  readonly #ends = new Map<string, string>();

  constructor(dealsWatch: DealsWatch) {
    this.#dealsWatch = dealsWatch;
  }

  onAnswer(key: string, result: TransferResult): void {
    this.#checkStable(key, result);
    if (result.state === APPLIED) this.#checkApplied(key, result);
    if (result.state === REFUSED) this.#checkRefused(key, result);
  }

  /** I17: a request is refused as a possible duplicate only when an equal one was executed. */
  onDuplicate(requested: Requested, { details }: Refusal): void {
    const ticket = BigInt(details["deal_id"] ?? 0);
    const deal = this.#dealsWatch.deal(ticket);
    if (deal?.login !== requested.login || deal.amountMinor !== requested.amountMinor) {
      throw new Violation(
        "I17",
        `${requested.amountMinor} on ${requested.login} was refused because of deal ${ticket}`,
      );
    }
  }

  /** As `onAnswer`, of a withdrawal that subscription carries out. */
  onWithdrawal(operationId: string, { login, amountMinor }: Requested, response: WithdrawResponse): void {
    const { state, refusal, figures, dealId } = response;
    if (state !== WithdrawalState.PAID && state !== WithdrawalState.REFUSED) return;
    const key = payoutKey(operationId);
    const effective = figures?.effective?.minorUnits ?? 0n;
    const end = state === WithdrawalState.PAID ? `paid ${effective} (${dealId ?? ""})` : `refused (${refusal?.code})`;
    const first = this.#ends.get(key) ?? end;
    this.#ends.set(key, end);
    if (first !== end) throw new Violation("I15", `${key} was answered ${first} and then ${end}`);
    if (state === WithdrawalState.REFUSED) return this.#checkUnpaid(key, { login, amountMinor }, refusal);
    const deal = dealId === undefined ? undefined : this.#dealsWatch.deal(dealId);
    const number = readSentReference(deal?.sentComment ?? "")?.number ?? -1n;
    const isOwn = this.#dealsWatch.keyOfLeg(number) === key && deal?.login === login;
    const isPaid = dealId === undefined ? effective === 0n : isOwn && deal.amountMinor === -effective;
    if (!isPaid || effective > amountMinor) {
      throw new Violation("I2", `${key} was answered with ${effective} in deal ${dealId}, which was not made for it`);
    }
  }

  /** I3: nothing was paid out, and nothing will be. */
  #checkUnpaid(key: string, requested: Requested, refusal: ErrorMessage | undefined): void {
    if (refusal?.code === DUPLICATE) this.#checkEarlierPayout(key, requested);
    const deal = this.#dealsWatch.dealsUnder(key).find((one) => this.#dealsWatch.isWithinBounds(one));
    if (deal !== undefined) {
      throw new Violation("I3", `${key} was answered ${refusal?.code} and has deal ${deal.ticket}`);
    }
    this.#dealsWatch.onExcluded(key, "all");
  }

  /** I17: as `onDuplicate`; what was paid out may be less than what was requested. */
  #checkEarlierPayout(key: string, { login, amountMinor }: Requested): void {
    if (!this.#dealsWatch.hasDebit(login, amountMinor)) {
      throw new Violation("I17", `${key} was refused as a duplicate, and no withdrawal was made before`);
    }
  }

  /** The services have lost all answers to these keys, and request them again. */
  forget(prefix: string): void {
    this.#ends.delete(prefix);
    for (const key of this.#first.keys()) if (isUnder(prefix, key)) this.#first.delete(key);
    this.#dealsWatch.forgetExcluded(prefix);
  }

  answerTo(key: string): TransferResult | undefined {
    return this.#first.get(key);
  }

  /** I15: a final answer never changes. */
  #checkStable(key: string, result: TransferResult): void {
    const first = this.#first.get(key);
    if (first === undefined) {
      if (result.state === APPLIED || result.state === REFUSED) this.#first.set(key, result);
      return;
    }
    const isSame = first.state === result.state && describe(first) === describe(result);
    if (!isSame) throw new Violation("I15", `${key} was answered ${describe(first)} and then ${describe(result)}`);
  }

  /** I2: an applied transfer has its own deals. */
  #checkApplied(key: string, { legs }: TransferResult): void {
    for (const { login, amount, dealId, reference } of legs) {
      const deal = this.#dealsWatch.deal(dealId);
      const isMatch =
        deal?.login === login &&
        deal.amountMinor === amount?.minorUnits &&
        readSentReference(deal.sentComment)?.text === reference;
      if (!isMatch) {
        throw new Violation("I2", `${key} was answered with deal ${dealId}, which was not made for ${reference}`);
      }
    }
  }

  /** I3: a refused transfer has no deals, and a reversed one moved nothing in total. */
  #checkRefused(key: string, { legs, refusalCode }: TransferResult): void {
    const deals = legs.flatMap(({ reference }) => {
      const number = readSentReference(reference)?.number;
      return number === undefined ? [] : this.#dealsWatch.dealsOf(number);
    });
    const withinBounds = deals.filter((deal) => this.#dealsWatch.isWithinBounds(deal));
    if (refusalCode !== CREDIT_REFUSED) {
      if (withinBounds.length > 0) {
        throw new Violation("I3", `${key} was answered ${refusalCode} and has deal ${withinBounds[0]!.ticket}`);
      }
      if (refusalCode === DUPLICATE) this.#checkDuplicate(key, legs);
      else if (refusalCode !== OUTDATED) this.#dealsWatch.requireUnmoved(key, refusalCode);
      this.#dealsWatch.onExcluded(key, "all");
      return;
    }
    this.#dealsWatch.onExcluded(key, "credit");
    // A deal that an answer names was made, however late it is shown, so it counts.
    const named = new Set(legs.map(({ dealId }) => dealId));
    const moved = deals.filter((deal) => this.#dealsWatch.isWithinBounds(deal) || named.has(deal.ticket));
    const net = moved.reduce((total, { amountMinor }) => total + amountMinor, 0n);
    const hasCredit = legs[1] !== undefined && moved.some(({ login }) => login === legs[1]!.login);
    const isLost = legs.some(({ dealId }) => dealId !== 0n && !deals.some(({ ticket }) => ticket === dealId));
    if ((net !== 0n || hasCredit) && !isLost) {
      throw new Violation("I3", `${key} was reversed and still moved ${net}`);
    }
  }

  /** I17: as `onDuplicate`, for a request that was recorded before the lost one was found. */
  #checkDuplicate(key: string, [leg]: TransferResult["legs"]): void {
    if (leg === undefined || !this.#dealsWatch.hasEqual(leg.login, leg.amount?.minorUnits ?? 0n)) {
      throw new Violation("I17", `${key} was refused as a duplicate, and no equal deal was made before`);
    }
  }
}

function describe({ state, refusalCode, legs }: TransferResult): string {
  const deals = legs.map(({ dealId }) => dealId).join(", ");
  return state === APPLIED ? `applied (${deals})` : `refused (${refusalCode})`;
}
