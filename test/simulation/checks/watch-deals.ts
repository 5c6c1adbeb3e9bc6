import { isUnder, movementOf } from "./movement.ts";
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
  /** All legs and permits that were ever committed, and the keys of the legs. */
  readonly #legs = new Map<bigint, LegRow>();
  readonly #keys = new Map<bigint, string>();
  readonly #permits = new Map<string, { readonly expiry: number; readonly expiresAtMs: number }>();
  /** Deals by movement and leg. */
  readonly #moved = new Map<string, readonly ServerDeal[]>();
  readonly #excluded = new Map<string, ExcludedLegs>();
  /** The references of commands whose permits the database has lost. */
  readonly #lostReferences = new Set<string>();
  #hasRewound = false;
  readonly #facts: DealsFacts;

  constructor(facts: DealsFacts) {
    this.#facts = facts;
  }

  /** I13: called when the bytes of a command are sent. */
  onWrite(command: BalanceCommand): void {
    const { nowMs } = this.#facts;
    const reference = referenceOf(command.comment);
    const permit = this.#permitOf(reference);
    if (permit === undefined) throw new Violation("I13", `${reference.text} was sent without a committed permit`);
    if (nowMs() > permit.expiresAtMs) {
      throw new Violation("I13", `${reference.text} was sent after its permit had expired`);
    }
    const mayBeSentAgain = this.#lostReferences.has(reference.text) && !this.#hasDeal(reference);
    if (this.#sentReferences.has(reference.text) && !mayBeSentAgain) {
      throw new Violation("I13", `${reference.text} was sent twice`);
    }
    this.#sentReferences.add(reference.text);
    const kind = this.#leg(reference.number)?.kind ?? "";
    const wasSent = this.#sentLegs.has(reference.number);
    this.#sentLegs.add(reference.number);
    if (EXTERNAL.has(kind) && wasSent && !mayBeSentAgain) {
      throw new Violation("I13", `the ${kind} ${reference.number} was sent again`);
    }
  }

  onDeal(deal: ServerDeal): void {
    this.#deals.set(deal.ticket, deal);
    if (deal.by !== "command") return;
    const reference = referenceOf(deal.sentComment);
    const leg = this.#leg(reference.number);
    if (leg === undefined) throw new Violation("I13", `${reference.text} was applied without a leg`);
    this.#countDeal(deal, reference, leg);
    if (!this.#lostReferences.has(reference.text)) this.#checkOrder(leg);
    const key = this.#keys.get(leg.number) ?? "";
    this.#countMovement(key, deal, leg);
    const excluded = this.#excluded.get(key);
    const isExcluded = excluded === "all" ? leg.ordinal !== REVERSAL : excluded === "credit" && leg.ordinal === CREDIT;
    if (isExcluded && this.isWithinBounds(deal)) {
      throw new Violation("I3", `${key} got a deal after it was answered or recorded that it is not applied`);
    }
  }

  /** Called for each row of a leg that is committed: the database may lose it later. */
  noteLeg(leg: LegRow): void {
    if (!this.#legs.has(leg.number)) this.#keys.set(leg.number, this.#facts.platformRows.keyOf(leg.transferId));
    this.#legs.set(leg.number, leg);
  }

  /** Called for each row of an attempt that is committed, with its expiry and the error of the database's clock. */
  notePermit(name: string, expiry: number, aheadMs: number): void {
    // The row is committed again with its answer, when the clock may have been set.
    if (this.#permits.get(name)?.expiry !== expiry) this.#permits.set(name, { expiry, expiresAtMs: expiry - aheadMs });
  }

  /** The database has lost commits: what platform then finds in the history has to be known before it sends anything. */
  onRewind(): void {
    const { platformRows } = this.#facts;
    const references = [...this.#sentReferences].map((text) => readSentReference(`${text} `)!);
    const lost = references.filter(({ number, attempt }) => platformRows.attempt(number, attempt) === undefined);
    this.#hasRewound = true;
    for (const { text } of lost) this.#lostReferences.add(text);
  }

  /** Called when it is answered or recorded that these legs are not applied, now or later. */
  onExcluded(key: string, legs: ExcludedLegs): void {
    this.#excluded.set(key, legs);
  }

  forgetExcluded(prefix: string): void {
    for (const key of this.#excluded.keys()) if (isUnder(prefix, key)) this.#excluded.delete(key);
  }

  /** I17: called when a key was answered as not executed: no number may have a deal for it. */
  requireUnmoved(key: string, refusalCode: string): void {
    const moved = this.#moved.get(`${movementOf(key)} 1`) ?? [];
    const deal = moved.find((one) => this.isWithinBounds(one));
    if (deal !== undefined && this.#hasRewound) {
      throw new Violation("I17", `${key} was answered ${refusalCode}, and deal ${deal.ticket} was made for it`);
    }
  }

  onDealsLost(lost: readonly ServerDeal[]): void {
    const tickets = new Set(lost.map(({ ticket }) => ticket));
    for (const [name, deals] of this.#moved) {
      this.#moved.set(
        name,
        deals.filter(({ ticket }) => !tickets.has(ticket)),
      );
    }
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

  /** The key under which a leg was requested, also when its transfer was lost and imported. */
  keyOfLeg(number: bigint): string | undefined {
    return this.#keys.get(number);
  }

  dealsOf(leg: bigint): ServerDeal[] {
    return this.#byLeg.get(leg) ?? [];
  }

  /** Includes deals that the platform lost later. */
  deal(ticket: bigint): ServerDeal | undefined {
    return this.#deals.get(ticket);
  }

  /** Whether a command has moved this amount on the account. */
  hasEqual(login: string, amountMinor: bigint): boolean {
    return [...this.#deals.values()].some(
      (deal) => deal.by === "command" && deal.login === login && deal.amountMinor === amountMinor,
    );
  }

  /** Whether a command has taken so much off the account, or less. */
  hasDebit(login: string, amountMinor: bigint): boolean {
    return [...this.#deals.values()].some((deal) => {
      return deal.by === "command" && deal.login === login && deal.amountMinor < 0n && -deal.amountMinor <= amountMinor;
    });
  }

  /** Deals of the transfer that is recorded under this key. */
  dealsUnder(key: string): readonly ServerDeal[] {
    const { platformRows } = this.#facts;
    const transferId = platformRows.transferIdOf(key);
    const legs = transferId === undefined ? [] : platformRows.legsOf(transferId);
    return legs.flatMap(({ number }) => this.dealsOf(number));
  }

  /** Whether the guarantees of the protocol hold for the deal: it was applied and shown within the quiet period. */
  isWithinBounds({ sentComment, shownFromMs }: ServerDeal): boolean {
    const { quietPeriodMs } = this.#facts;
    const permit = this.#permitOf(referenceOf(sentComment));
    const overMs = (permit?.expiresAtMs ?? 0) + COMMAND_TIMEOUT_MS + quietPeriodMs;
    return permit === undefined || shownFromMs <= overMs - CLOCK_MARGIN_MS;
  }

  #permitOf({ number, attempt }: SentReference): { readonly expiresAtMs: number } | undefined {
    return this.#permits.get(`${number}:${attempt}`);
  }

  #leg(number: bigint): LegRow | undefined {
    return this.#facts.platformRows.leg(number) ?? this.#legs.get(number);
  }

  /** I17: one deal for each leg of a movement, under whatever numbers and keys it was requested. */
  #countMovement(key: string, deal: ServerDeal, { ordinal }: LegRow): void {
    // Exits are sums: an imported one settles the oldest exit of its Master, whose key is that of another Investor.
    const isSum = key.startsWith(EXIT_KEY);
    if (!this.#hasRewound || ordinal === REVERSAL || isSum) return this.#noteMovement(key, deal, ordinal);
    const others = this.#moved.get(`${movementOf(key)} ${ordinal}`) ?? [];
    const isReversed = this.#moved.has(`${movementOf(key)} ${REVERSAL}`);
    const before = others.find((one) => this.isWithinBounds(one));
    this.#noteMovement(key, deal, ordinal);
    const isExcepted = isReversed || !this.isWithinBounds(deal);
    if (before !== undefined && !isExcepted) {
      throw new Violation("I17", `${key} was moved by deal ${before.ticket}, and again by ${deal.ticket}`);
    }
  }

  #noteMovement(key: string, deal: ServerDeal, ordinal: number): void {
    const name = `${movementOf(key)} ${ordinal}`;
    this.#moved.set(name, [...(this.#moved.get(name) ?? []), deal]);
  }

  /** After the gate has opened, a command whose permit is lost is sent again only when the platform has not executed it. */
  #hasDeal({ number, text }: SentReference): boolean {
    return this.dealsOf(number).some((deal) => {
      return referenceOf(deal.sentComment).text === text && this.isWithinBounds(deal);
    });
  }

  #countDeal(deal: ServerDeal, reference: SentReference, { number }: LegRow): void {
    const others = this.dealsOf(number);
    this.#byLeg.set(number, [...others, deal]);
    const isSame = ({ sentComment }: ServerDeal) => readSentReference(sentComment)?.attempt === reference.attempt;
    if (others.some(isSame)) {
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
const EXIT_KEY = "exit:";
/** Kinds of legs that the service never attempts twice: the caller decides whether to request the transfer again. */
const EXTERNAL = new Set(["deposit", "withdrawal"]);

function referenceOf(comment: string): SentReference {
  const reference = readSentReference(comment);
  if (reference === undefined) throw new Violation("I13", `a command carries no reference: ${comment}`);
  return reference;
}
