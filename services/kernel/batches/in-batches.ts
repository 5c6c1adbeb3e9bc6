/** The items in their order, at most `max` together. */
export function inBatches<Item>(items: readonly Item[], max: number): Item[][] {
  const batches: Item[][] = [];
  for (let from = 0; from < items.length; from += max) batches.push(items.slice(from, from + max));
  return batches;
}
