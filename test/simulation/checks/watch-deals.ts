import { readSentReference, type SentReference } from "./reference.ts";
import type { PlatformRows, LegRow } from "./platform-rows.ts";
import { Violation } from "./violation.ts";
import type { BalanceCommand, ServerDeal } from "../world/trade-server.ts";

/** Socket time-out of a command. The quiet period begins this long after the end of the permit. */
const COMMAND_TIMEOUT_MS = 5_000;
/** The clocks of the processes differ, so deals that come just at the end of the quiet period are not checked. */
const CLOCK_MARGIN_MS = 3_000;

export type DealsFacts = {
  readonly platformRows: PlatformRows;
  readonly quietPeriodMs: number;
  readonly nowMs: () => number;
};

/** Checks every command when the platform receives it, and every deal when the platform creates it. */
export class DealsWatch {
  /** Deals of commands, by leg; without those that the platform lost. */
  readonly #byLeg = new Map<bigint, ServerDeal[]>();
  /** The references of all commands that were sent, and the numbers of their legs. */
  readonly #sentReferences = new Set<string>();
  readonly #sentLegs = new Set<bigint>();
  readonly #deals = new Map<bigint, ServerDeal>();
  readonly #excluded = new Map<string, ExcludedLegs>();
  readonly #facts: DealsFacts;

  constructor(facts: DealsFacts) {
    this.#facts = facts;
  }

  /** I13: called when the bytes of a command are sent. */
  onWrite(command: BalanceCommand): void {
    const { platformRows, nowMs } = this.#facts;
    const reference = referenceOf(command.comment);
    const attempt = platformRows.attempt(reference.number, reference.attempt);
    if (attempt === undefined) throw new Violation("I13", `${reference.text} was sent without a committed permit`);
    if (nowMs() > attempt.expiresAtMs) {
      throw new Violation("I13", `${reference.text} was sent after its permit had expired`);
    }
    if (this.#sentReferences.has(reference.text)) throw new Violation("I13", `${reference.text} was sent twice`);
    this.#sentReferences.add(reference.text);
    const kind = platformRows.leg(reference.number)?.kind ?? "";
    const wasSent = this.#sentLegs.has(reference.number);
    this.#sentLegs.add(reference.number);
    if (EXTERNAL.has(kind) && wasSent) {
      throw new Violation("I13", `the ${kind} ${reference.number} was sent again`);
    }
  }

  onDeal(deal: ServerDeal): void {
    this.#deals.set(deal.ticket, deal);
    if (deal.by !== "command") return;
    const { platformRows } = this.#facts;
    const reference = referenceOf(deal.sentComment);
    const leg = platformRows.leg(reference.number);
    if (leg === undefined) throw new Violation("I13", `${reference.text} was applied without a leg`);
    this.#countDeal(deal, reference, leg);
    this.#checkOrder(leg);
    const key = platformRows.keyOf(leg.transferId);
    const excluded = this.#excluded.get(key);
    const isExcluded = excluded === "all" ? leg.ordinal !== REVERSAL : excluded === "credit" && leg.ordinal === CREDIT;
    if (isExcluded && this.isWithinBounds(deal)) {
      throw new Violation("I3", `${key} got a deal after it was answered or recorded that it is not applied`);
    }
  }

  /** Called when it is answered or recorded that these legs are not applied, now or later. */
  onExcluded(key: string, legs: ExcludedLegs): void {
    this.#excluded.set(key, legs);
  }

  onDealsLost(lost: readonly ServerDeal[]): void {
    for (const { ticket, sentComment } of lost) {
      const { number } = readSentReference(sentComment) ?? { number: 0n };
      this.#byLeg.set(
        number,
        this.dealsOf(number).filter((deal) => deal.ticket !== ticket),
      );
    }
  }

  /** The leg that a command is an attempt of. */
  legOf(comment: string): readonly LegRow[] {
    const leg = this.#facts.platformRows.leg(readSentReference(comment)?.number ?? -1n);
    return leg === undefined ? [] : [leg];
  }

  dealsOf(leg: bigint): ServerDeal[] {
    return this.#byLeg.get(leg) ?? [];
  }

  /** Includes deals that the platform lost later. */
  deal(ticket: bigint): ServerDeal | undefined {
    return this.#deals.get(ticket);
  }

  /** Whether the guarantees of the protocol hold for the deal: it was applied and shown within the quiet period. */
  isWithinBounds({ sentComment, shownFromMs }: ServerDeal): boolean {
    const { platformRows, quietPeriodMs } = this.#facts;
    const { number, attempt } = referenceOf(sentComment);
    const permit = platformRows.attempt(number, attempt);
    const overMs = (permit?.expiresAtMs ?? 0) + COMMAND_TIMEOUT_MS + quietPeriodMs;
    return permit === undefined || shownFromMs <= overMs - CLOCK_MARGIN_MS;
  }

  #countDeal(deal: ServerDeal, reference: SentReference, { number }: LegRow): void {
    const others = this.dealsOf(number);
    this.#byLeg.set(number, [...others, deal]);
    if (others.some(({ sentComment }) => readSentReference(sentComment)?.attempt === reference.attempt)) {
      throw new Violation("I1", `${reference.text} was applied twice`);
    }
    const withinBounds = [...others, deal].filter((one) => this.isWithinBounds(one));
    // A deal beyond the bounds may justify a second one; two deals within the bounds are never justified.
    if (others.length > 0 && withinBounds.length > 1) {
      throw new Violation("I1", `leg ${number} was applied under two references`);
    }
  }

  /** I7: legs are applied in order, and a reversal only after a refused credit. */
  #checkOrder(leg: LegRow): void {
    if (leg.ordinal === 1) return;
    const legs = this.#facts.platformRows.legsOf(leg.transferId);
    const before = legs.find(({ ordinal }) => ordinal === leg.ordinal - 1);
    const wanted = leg.ordinal === REVERSAL ? "REFUSED" : "APPLIED";
    if (before?.state !== wanted && before?.cameFrom !== wanted) {
      throw new Violation("I7", `leg ${leg.ordinal} was applied while leg ${leg.ordinal - 1} was ${before?.state}`);
    }
  }
}

/** The legs that must never get a deal: all of a refused transfer, only the credit of a reversed one. */
type ExcludedLegs = "all" | "credit";

const CREDIT = 2;
const REVERSAL = 3;
/** Kinds of legs that the service never attempts twice: the caller decides whether to request the transfer again. */
const EXTERNAL = new Set(["deposit", "withdrawal"]);

function referenceOf(comment: string): SentReference {
  const reference = readSentReference(comment);
  if (reference === undefined) throw new Violation("I13", `a command carries no reference: ${comment}`);
  return reference;
}
