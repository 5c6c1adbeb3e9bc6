import { batchQueue } from "./batch-queue.ts";

export type GatheredRead<Key, Value> = {
  /** The value of the key, undefined without one. `byMs` is that of `batchQueue`. */
  (key: Key, byMs?: number): Promise<Value | undefined>;
};

/** A statement or call for so many keys still takes about as long as for one. */
const MAX_KEYS = 100;
/** Above the number of calls that a service accepts at once, of all kinds. */
const MAX_WAITING = 5_000;
/** So that a slow read does not hold the others. */
const MAX_READS = 4;

/**
 * Reads of one key each as reads of many: what was asked for while the last reads ran is read together, and a key that was
 * asked for twice is read once. A read begins after it was asked for, so it sees all that was committed before. An error
 * among the values is that of its key alone.
 */
export function gatherReads<Key extends string | bigint, Value extends object>(
  read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value | Error>>,
): GatheredRead<Key, Value> {
  const queue = batchQueue<Key, Value | undefined>({
    name: "gathered reads",
    maxItems: MAX_KEYS,
    maxWaiting: MAX_WAITING,
    maxBatches: MAX_READS,
    async run(keys) {
      const values = await read([...new Set(keys)]);
      return keys.map((key) => values.get(key));
    },
  });
  return queue.add;
}

/** The values by their keys, for a read that returns a list. */
export function byKey<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value> {
  return new Map(values.map((value) => [keyOf(value), value]));
}
