/**
 * The number of legs for each combination `kind|crash point|fault`: a leg counts for each crash point and each fault that
 * came while it was under way.
 */
export type Hits = Record<string, number>;

/** The fields of a leg that the table needs. */
export type CoveredLeg = { readonly number: bigint; readonly kind: string };

const NOTHING = "none";

/** Collects, for each leg, the faults that came while it was under way. */
export class Coverage {
  /** All crashes and faults, also those without a leg under way. */
  crashes = 0;
  faults = 0;
  readonly #kinds = new Map<bigint, string>();
  readonly #crashed = new Map<bigint, Set<string>>();
  readonly #faulted = new Map<bigint, Set<string>>();

  addLegs(legs: readonly CoveredLeg[]): void {
    for (const { number, kind } of legs) this.#kinds.set(number, kind);
  }

  crash(point: string, legs: readonly CoveredLeg[]): void {
    this.addLegs(legs);
    this.crashes += 1;
    for (const { number } of legs) addTo(this.#crashed, number, point);
  }

  fault(name: string, legs: readonly CoveredLeg[]): void {
    this.addLegs(legs);
    this.faults += 1;
    for (const { number } of legs) addTo(this.#faulted, number, name);
  }

  hits(): Hits {
    const hits: Hits = {};
    for (const [number, kind] of this.#kinds) {
      for (const crash of this.#crashed.get(number) ?? [NOTHING]) {
        for (const fault of this.#faulted.get(number) ?? [NOTHING]) count(hits, `${kind}|${crash}|${fault}`, 1);
      }
    }
    return hits;
  }
}

export function addHits(total: Hits, more: Hits): void {
  for (const [cell, times] of Object.entries(more)) count(total, cell, times);
}

function count(hits: Hits, cell: string, times: number): void {
  hits[cell] = (hits[cell] ?? 0) + times;
}

function addTo(sets: Map<bigint, Set<string>>, number: bigint, name: string): void {
  const set = sets.get(number);
  if (set === undefined) sets.set(number, new Set([name]));
  else set.add(name);
}
