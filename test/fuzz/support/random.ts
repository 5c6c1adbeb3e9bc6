/** Pseudo-random numbers, the same for the same seed (splitmix32 over a hash of the text of the seed). */
export type Random = {
  /** 0 <= n < below. */
  readonly below: (below: number) => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
  /** True with this probability, in percent. */
  readonly chance: (percent: number) => boolean;
};

export function randomOf(...seed: readonly (string | number | bigint)[]): Random {
  let state = hashOf(seed.join("/"));
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    chance: (percent) => below(100) < percent,
  };
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return hash;
}
