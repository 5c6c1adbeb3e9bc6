import type { DealOfLogin } from "../store/amendments.ts";
import { SlotIndex } from "./slot-index.ts";

/** Of SHA-256. */
const MARK_BYTES = 32;

/**
 * A bounded table of deals, in columns: some eighty bytes for each deal, where an object for each would take four times as much.
 * A row is named by its slot. Slots are used in turn, so that the next one is free or has the deal that was added first.
 */
export class DealTable {
  readonly #slots: number;
  readonly #isUsed: Uint8Array;
  readonly #tickets: BigUint64Array;
  readonly #logins: BigUint64Array;
  readonly #marks: Buffer;
  readonly #byName: SlotIndex;
  readonly #byMark: SlotIndex;
  readonly #sought = Buffer.alloc(MARK_BYTES);
  readonly atMs: Float64Array;
  /** Of the monotonic clock. */
  readonly shownAtMs: Float64Array;
  readonly isRecorded: Uint8Array;
  #next = 0;
  #count = 0;
  /** The slot of the oldest deal, or one before it in turn: while there are few deals, few slots are looked at. */
  #first = 0;

  /** `slots` is a power of two. */
  constructor(slots: number) {
    this.#slots = slots;
    this.#isUsed = new Uint8Array(slots);
    this.#tickets = new BigUint64Array(slots);
    this.#logins = new BigUint64Array(slots);
    this.#marks = Buffer.alloc(slots * MARK_BYTES);
    this.#byName = new SlotIndex(slots);
    this.#byMark = new SlotIndex(slots);
    this.atMs = new Float64Array(slots);
    this.shownAtMs = new Float64Array(slots);
    this.isRecorded = new Uint8Array(slots);
  }

  /** By ticket and login: a server that lost its last deals assigns their tickets again, possibly on another login. */
  find({ ticket, login }: DealOfLogin): number | undefined {
    const ofLogin = BigInt(login);
    return this.#byName.find(
      hashOf(ticket),
      (slot) => this.#tickets[slot] === ticket && this.#logins[slot] === ofLogin,
    );
  }

  /** `mark` is a SHA-256 in base64. */
  findMarked(mark: string): number | undefined {
    this.#sought.write(mark, "base64");
    return this.#byMark.find(this.#sought.readUInt32LE(), (slot) => this.#hasSoughtMark(slot));
  }

  hasMark(slot: number, mark: string): boolean {
    this.#sought.write(mark, "base64");
    return this.#hasSoughtMark(slot);
  }

  #hasSoughtMark(slot: number): boolean {
    const at = slot * MARK_BYTES;
    return this.#marks.compare(this.#sought, 0, MARK_BYTES, at, at + MARK_BYTES) === 0;
  }

  nameOf(slot: number): DealOfLogin {
    return { ticket: this.#tickets[slot] ?? 0n, login: String(this.#logins[slot]) };
  }

  /** The slot that the next deal is added to, when it has a deal. */
  get oldest(): number | undefined {
    return this.#isUsed[this.#next] === 1 ? this.#next : undefined;
  }

  /** Requires that the next slot is free. */
  add({ ticket, login }: DealOfLogin, mark: string): number {
    const slot = this.#next;
    this.#next = (slot + 1) % this.#slots;
    if (slot === this.#first && this.#count > 0) this.#first = this.#next;
    this.#isUsed[slot] = 1;
    this.#count += 1;
    this.#tickets[slot] = ticket;
    this.#logins[slot] = BigInt(login);
    this.#marks.write(mark, slot * MARK_BYTES, "base64");
    this.#byName.add(hashOf(ticket), slot);
    this.#byMark.add(this.#markHashOf(slot), slot);
    return slot;
  }

  remove(slot: number): void {
    this.#byName.remove(hashOf(this.#tickets[slot] ?? 0n), slot);
    this.#byMark.remove(this.#markHashOf(slot), slot);
    this.#isUsed[slot] = 0;
    this.#count -= 1;
  }

  /** Slots with a deal, in the order in which they were added. The one that is listed may be removed. */
  *used(): Iterable<number> {
    let left = this.#count;
    while (left > 0 && this.#isUsed[this.#first] === 0) this.#first = (this.#first + 1) % this.#slots;
    for (let slot = this.#first; left > 0; slot = (slot + 1) % this.#slots) {
      if (this.#isUsed[slot] === 0) continue;
      left -= 1;
      yield slot;
    }
  }

  #markHashOf(slot: number): number {
    return this.#marks.readUInt32LE(slot * MARK_BYTES);
  }
}

/** Tickets are assigned one after the other, so their last bits differ. */
function hashOf(ticket: bigint): number {
  return Number(BigInt.asUintN(32, ticket));
}
