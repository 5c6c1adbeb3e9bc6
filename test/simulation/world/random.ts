/** Seeded random numbers. A draw for one purpose does not change the draws for another. */
export type Random = {
  /** From 0 to below 1. */
  readonly next: () => number;
  /** A whole number from `from` to `to`, both included. */
  readonly whole: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly T[]) => T;
  /** A separate sequence for a purpose, whose name is part of its seed. */
  readonly for: (purpose: string) => Random;
};

export function createRandom(seed: number): Random {
  let state = mix(seed);
  const next = (): number => {
    // Mulberry32: 32 bits of state are enough for one history.
    state = (state + 0x6d_2b_79_f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick: (items) => items[whole(0, items.length - 1)]!,
    for: (purpose) => createRandom(hashText(purpose, seed)),
  };
}

/** One of the items, each as likely as its weight says, a whole number. */
export function pickWeighted<T extends readonly [number, ...unknown[]]>(random: Random, items: readonly T[]): T {
  let left = random.whole(0, items.reduce((total, [weight]) => total + weight, 0) - 1);
  return items.find(([weight]) => (left -= weight) < 0)!;
}

export function hashText(text: string, start = 0): number {
  let hash = start ^ 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  }
  return hash >>> 0;
}

function mix(seed: number): number {
  let bits = seed | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x45_d9_f3_b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45_d9_f3_b);
  return bits ^ (bits >>> 16);
}
