import { setImmediate as nextTurn } from "node:timers/promises";
import { Histogram } from "prom-client";
import { outsideTraces } from "../tracing/span.ts";
import { deadlineExceeded, busy } from "../contract/refusals.ts";

const batchItems = new Histogram({
  name: "pamm_batch_items",
  help: "Items of a batch that one transaction or call has processed together, by queue.",
  labelNames: ["queue"],
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
});

export type BatchQueue<Item, Result> = {
  /**
   * Resolves with the result of the item. Rejects with the error of the item or of its batch; with `busy` when too many items wait,
   * and with `deadline_exceeded` when its batch begins after `byMs`, a monotonic instant: then nothing was done for the item.
   */
  readonly add: (item: Item, byMs?: number) => Promise<Result>;
};

/** What a batch needs and what limits it, for example free sessions. */
export type Prepared = { readonly maxItems: number };

export type BatchQueueOptions<Item, Result, Needs extends Prepared = Prepared> = {
  /** For the metrics: a constant text. */
  readonly name: string;
  /** Result or error of each item, in their order. When it throws, the error is that of every item. */
  readonly run: (items: readonly Item[], needs: Needs | undefined) => Promise<readonly (Result | Error)[]>;
  /** Most items of one batch. */
  readonly maxItems: number;
  /** Called before the items of a batch are taken, and for each half of one that is repeated; `run` gets what it returns, also when no item is left. */
  readonly prepare?: (waiting: readonly Item[]) => Promise<Needs>;
  readonly maxWaiting: number;
  /** Batches in progress at once. */
  readonly maxBatches?: number;
  /** Two items with the same key are never in one batch. */
  readonly keyOf?: (item: Item) => string;
  /** Whether a batch that failed with this error did nothing and is repeated in halves, so that one item cannot fail the others. */
  readonly maySplit?: (error: unknown) => boolean;
};

type Waiting<Item, Result> = {
  readonly item: Item;
  readonly byMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Group commit: a batch is what was added while the last batches ran, and a single item is a batch of one. No timer delays an
 * item. Items with an earlier deadline come first.
 */
export function batchQueue<Item, Result extends object | undefined, Needs extends Prepared = Prepared>(
  options: BatchQueueOptions<Item, Result, Needs>,
): BatchQueue<Item, Result> {
  const { maxWaiting, maxBatches = 1, keyOf, prepare } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;

  const take = (maxItems: number): Waiting<Item, Result>[] => {
    const now = performance.now();
    const keys = new Set<string>();
    const batch: Waiting<Item, Result>[] = [];
    const rest: Waiting<Item, Result>[] = [];
    if (waiting.length > maxItems) waiting.sort((left, right) => left.byMs - right.byMs);
    for (const each of waiting) {
      const key = keyOf?.(each.item);
      if (each.byMs <= now) each.reject(deadlineExceeded());
      else if (batch.length === maxItems || (key !== undefined && keys.has(key))) rest.push(each);
      else {
        batch.push(each);
        if (key !== undefined) keys.add(key);
      }
    }
    waiting = rest;
    return batch;
  };
  const work = async (): Promise<void> => {
    running += 1;
    // Items that arrive in the same turn of the event loop are in the same batch.
    await nextTurn();
    while (waiting.length > 0) {
      try {
        const needs = await prepare?.(waiting.map(({ item }) => item));
        await runBatch(options, take(Math.min(options.maxItems, needs?.maxItems ?? Infinity)), needs);
      } catch (error) {
        for (const { reject } of take(options.maxItems)) reject(error);
      }
    }
    running -= 1;
  };
  return {
    add(item, byMs = Infinity) {
      if (waiting.length >= maxWaiting) return Promise.reject(busy());
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      waiting.push({ item, byMs, resolve, reject });
      if (running < maxBatches) void outsideTraces(work);
      return promise;
    },
  };
}

/** A half of a failed batch needs what the whole batch has used up. Never rejects. */
async function prepareAndRun<Item, Result extends object | undefined, Needs extends Prepared>(
  options: BatchQueueOptions<Item, Result, Needs>,
  batch: readonly Waiting<Item, Result>[],
): Promise<void> {
  try {
    await runBatch(options, batch, await options.prepare?.(batch.map(({ item }) => item)));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

/** Ends with the result or the error of every item; never rejects. */
async function runBatch<Item, Result extends object | undefined, Needs extends Prepared>(
  options: BatchQueueOptions<Item, Result, Needs>,
  batch: readonly Waiting<Item, Result>[],
  needs: Needs | undefined,
): Promise<void> {
  const { run, maySplit = () => false } = options;
  if (batch.length === 0 && needs === undefined) return;
  if (batch.length > 0) batchItems.observe({ queue: options.name }, batch.length);
  try {
    const results = await run(
      batch.map(({ item }) => item),
      needs,
    );
    for (const [index, { resolve, reject }] of batch.entries()) {
      const result = results[index] as Result | Error;
      if (result instanceof Error) reject(result);
      else resolve(result);
    }
  } catch (error) {
    if (batch.length <= 1 || !maySplit(error)) {
      for (const { reject } of batch) reject(error);
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await prepareAndRun(options, batch.slice(0, half));
    await prepareAndRun(options, batch.slice(half));
  }
}
