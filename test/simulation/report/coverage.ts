/** Operations for each combination of kind, crash point and other fault that hit while the operation was under way. */
export type Hits = Record<string, number>;

/** The part of an operation that the table needs. */
export type Met = { readonly number: bigint; readonly kind: string };

const NOTHING = "none";

/** Collects, for each operation, the faults that came while it was under way. */
export class Coverage {
  /** All crashes and faults, also those without an operation under way. */
  crashes = 0;
  faults = 0;
  readonly #kinds = new Map<bigint, string>();
  readonly #crashed = new Map<bigint, Set<string>>();
  readonly #faulted = new Map<bigint, Set<string>>();

  see(operations: readonly Met[]): void {
    for (const { number, kind } of operations) this.#kinds.set(number, kind);
  }

  crash(point: string, operations: readonly Met[]): void {
    this.see(operations);
    this.crashes += 1;
    for (const { number } of operations) addTo(this.#crashed, number, point);
  }

  fault(name: string, operations: readonly Met[]): void {
    this.see(operations);
    this.faults += 1;
    for (const { number } of operations) addTo(this.#faulted, number, name);
  }

  /** `kind | crash point | fault` -> operations. */
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
