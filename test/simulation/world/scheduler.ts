import { setImmediate as nextTurn } from "node:timers";
import { hashText, type Random } from "./random.ts";

export type Scheduled = { readonly cancel: () => void };

type Event = {
  readonly atMs: number;
  /** Decides among events of one instant; drawn, so that every order comes up. */
  readonly order: number;
  readonly label: string;
  readonly run: () => void;
  isCancelled: boolean;
};

const TURNS_PER_ROUND = 100;

/** Taken before the clock is made virtual. */
const realImmediate = nextTurn;

/**
 * Everything that happens in a world happens here, one thing at a time: after each, the code runs as far as it can without
 * anything else happening. So a history is decided by its seed alone.
 */
export class Scheduler {
  nowMs: number;
  steps = 0;
  #hash = 0;
  readonly #random: Random;
  readonly #heap: Event[] = [];

  constructor(startMs: number, random: Random) {
    this.nowMs = startMs;
    this.#random = random;
  }

  /** The same for the same history. */
  get traceHash(): string {
    return this.#hash.toString(16).padStart(8, "0");
  }

  /** Adds something that was observed to the hash of the history. */
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

  /** Lets things happen until it is so, or nothing is left. */
  runUntil(isOver: () => boolean): Promise<void> {
    return inTurns(() => {
      if (isOver()) return false;
      const event = this.#next();
      if (event === undefined) return false;
      this.nowMs = Math.max(this.nowMs, event.atMs);
      this.steps += 1;
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
 * Takes one turn after the other until one says that it was the last. Between two of them every promise that can go on
 * does, because Node sees to that after each immediate; of many in one round of its loop the round is paid once.
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
  let place = heap.push(event) - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[place] = heap[parent]!;
    place = parent;
  }
  heap[place] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isBefore(heap[child]!, last)) break;
    heap[place] = heap[child]!;
    place = child;
  }
  heap[place] = last;
  return first;
}
