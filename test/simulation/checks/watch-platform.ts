import { readSentReference, type SentReference } from "./reference.ts";
import type { Books, LegRow } from "./books.ts";
import { Violation } from "./violation.ts";
import type { BalanceCommand, ServerDeal } from "../world/trade-server.ts";

/** Socket time-out of a command. The quiet period begins this long after the end of the permit. */
const COMMAND_TIMEOUT_MS = 5_000;
/** Clocks of processes differ, so deals that come just at the end of the quiet period are not checked. */
const CLOCKS_MS = 3_000;

export type PlatformFacts = {
  readonly books: Books;
  readonly quietPeriodMs: number;
  readonly nowMs: () => number;
};

/** Checks every command when the platform receives it, and every deal when the platform creates it. */
export class PlatformWatch {
  /** Deals of commands, by leg; without those that the platform lost. */
  readonly #byLeg = new Map<bigint, ServerDeal[]>();
  readonly #written = new Set<string>();
  readonly #attempts = new Set<bigint>();
  readonly #deals = new Map<bigint, ServerDeal>();
  readonly #excluded = new Map<string, ExcludedLegs>();
  readonly #facts: PlatformFacts;

  constructor(facts: PlatformFacts) {
    this.#facts = facts;
  }

  /** I13: called when the bytes of a command are sent. */
  onWrite(command: BalanceCommand): void {
    const { books, nowMs } = this.#facts;
    const reference = referenceOf(command.comment);
    const attempt = books.attempt(reference.number, reference.attempt);
    if (attempt === undefined) throw new Violation("I13", `${reference.text} was sent without a committed permit`);
    if (nowMs() > attempt.expiresAtMs) {
      throw new Violation("I13", `${reference.text} was sent after its permit had ended`);
    }
    if (this.#written.has(reference.text)) throw new Violation("I13", `${reference.text} was sent twice`);
    this.#written.add(reference.text);
    const kind = books.leg(reference.number)?.kind ?? "";
    const hasBeenWritten = this.#attempts.has(reference.number);
    this.#attempts.add(reference.number);
    if (EXTERNAL.has(kind) && hasBeenWritten) {
      throw new Violation("I13", `the ${kind} ${reference.number} was sent again`);
    }
  }

  onDeal(deal: ServerDeal): void {
    this.#deals.set(deal.ticket, deal);
    if (deal.by !== "command") return;
    const { books } = this.#facts;
    const reference = referenceOf(deal.sentComment);
    const leg = books.leg(reference.number);
    if (leg === undefined) throw new Violation("I13", `${reference.text} was applied without a leg`);
    this.#countDeal(deal, reference, leg);
    this.#checkOrder(leg);
    const key = books.keyOf(leg.transferId);
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

  forget(forgotten: readonly ServerDeal[]): void {
    for (const { ticket, sentComment } of forgotten) {
      const { number } = readSentReference(sentComment) ?? { number: 0n };
      this.#byLeg.set(
        number,
        this.dealsOf(number).filter((deal) => deal.ticket !== ticket),
      );
    }
  }

  /** The leg that a command is an attempt of. */
  legOf(comment: string): readonly LegRow[] {
    const leg = this.#facts.books.leg(readSentReference(comment)?.number ?? -1n);
    return leg === undefined ? [] : [leg];
  }

  dealsOf(leg: bigint): ServerDeal[] {
    return this.#byLeg.get(leg) ?? [];
  }

  /** Includes deals that the platform lost later. */
  deal(ticket: bigint): ServerDeal | undefined {
    return this.#deals.get(ticket);
  }

  /** Whether the protocol guarantees anything about the deal: it was applied and shown within the quiet period. */
  isWithinBounds({ sentComment, shownFromMs }: ServerDeal): boolean {
    const { books, quietPeriodMs } = this.#facts;
    const { number, attempt } = referenceOf(sentComment);
    const permit = books.attempt(number, attempt);
    const overMs = (permit?.expiresAtMs ?? 0) + COMMAND_TIMEOUT_MS + quietPeriodMs;
    return permit === undefined || shownFromMs <= overMs - CLOCKS_MS;
  }

  #countDeal(deal: ServerDeal, reference: SentReference, { number }: LegRow): void {
    const others = this.dealsOf(number);
    this.#byLeg.set(number, [...others, deal]);
    if (others.some(({ sentComment }) => readSentReference(sentComment)?.attempt === reference.attempt)) {
      throw new Violation("I1", `${reference.text} was applied twice`);
    }
    const claimed = [...others, deal].filter((one) => this.isWithinBounds(one));
    // A deal beyond the bounds may justify a second one; two deals within the bounds are never justified.
    if (others.length > 0 && claimed.length > 1) {
      throw new Violation("I1", `leg ${number} was applied under two references`);
    }
  }

  /** I7: legs are applied in order, and a reversal only after a refused credit. */
  #checkOrder(leg: LegRow): void {
    if (leg.ordinal === 1) return;
    const legs = this.#facts.books.legsOf(leg.transferId);
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
/** Kinds that the service never attempts twice: the caller decides whether to request the transfer again. */
const EXTERNAL = new Set(["deposit", "withdrawal"]);

function referenceOf(comment: string): SentReference {
  const reference = readSentReference(comment);
  if (reference === undefined) throw new Violation("I13", `a command carries no reference: ${comment}`);
  return reference;
}
