import { setImmediate as nextTurn } from "node:timers";
import { hashText, type Random } from "./random.ts";

export type Scheduled = { readonly cancel: () => void };

type Event = {
  readonly atMs: number;
  /** The order among events of one instant; random, so that every order occurs. */
  readonly order: number;
  readonly label: string;
  readonly run: () => void;
  isCancelled: boolean;
};

const TURNS_PER_ROUND = 100;

/** Saved before the clock is made virtual. */
const realImmediate = nextTurn;

/**
 * Runs all events of a world, one at a time: all promises that can settle after an event settle before the next one runs.
 * So the seed alone decides a history.
 */
export class Scheduler {
  nowMs: number;
  events = 0;
  #hash = 0;
  readonly #random: Random;
  readonly #heap: Event[] = [];

  constructor(startMs: number, random: Random) {
    this.nowMs = startMs;
    this.#random = random;
  }

  /** Equal for equal histories. It covers the time and the label of every event, so a changed label changes it. */
  get traceHash(): string {
    return this.#hash.toString(16).padStart(8, "0");
  }

  /** Adds an observation to the hash of the history. */
  trace(text: string): void {
    this.#hash = hashText(text, this.#hash);
  }

  after(ms: number, label: string, run: () => void): Scheduled {
    const event: Event = {
      atMs: this.nowMs + Math.max(0, ms),
      order: this.#random.next(),
      label,
      run,
      isCancelled: false,
    };
    push(this.#heap, event);
    return {
      cancel() {
        event.isCancelled = true;
      },
    };
  }

  /** Runs events until `isOver`, or until none is left. */
  runUntil(isOver: () => boolean): Promise<void> {
    return inTurns(() => {
      if (isOver()) return false;
      const event = this.#next();
      if (event === undefined) return false;
      this.nowMs = Math.max(this.nowMs, event.atMs);
      this.events += 1;
      this.#hash = hashText(event.label, Math.imul(this.#hash, 31) + Math.floor(event.atMs * 1_000));
      event.run();
      return true;
    });
  }

  #next(): Event | undefined {
    for (;;) {
      const event = pop(this.#heap);
      if (event?.isCancelled !== true) return event;
    }
  }
}

/**
 * Takes turns until one returns false. Node runs all settled promises after each immediate, so also between two turns; many
 * immediates share one round of the event loop, which is faster.
 */
function inTurns(takeTurn: () => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    try {
      isOver = !takeTurn();
    } catch (problem) {
      isOver = true;
      reject(problem);
    }
    if (isOver) return resolve();
    left -= 1;
    if (left === 0) queue();
  };
  const queue = (): void => {
    for (left = 0; left < TURNS_PER_ROUND; left += 1) realImmediate(turn);
  };
  queue();
  return promise;
}

function isBefore(left: Event, right: Event): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
}

function push(heap: Event[], event: Event): void {
  let index = heap.push(event) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isBefore(heap[child]!, last)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
  return first;
}
