/** A power of 2 above every position of a log. */
const ABOVE_ALL = 2n ** 32n;

/**
 * The last position for which something holds that holds for all positions before it; `none` when it holds for no position above `none`.
 * Few positions are asked for, at most 32, one after the other, and the same ones however many have been added after `last`.
 */
export async function findLastPosition(
  { none, last }: { readonly none: bigint; readonly last: bigint },
  holds: (position: bigint) => Promise<boolean>,
): Promise<bigint> {
  let found = none;
  for (let step = ABOVE_ALL; step > 0n; step /= 2n) {
    if (found + step <= last && (await holds(found + step))) found += step;
  }
  return found;
}
