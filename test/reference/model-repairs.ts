import { type AllocatedResult, divideRepair } from "../../services/subscription/domain/divide-repair.ts";
import type { Allocation } from "../../services/subscription/domain/pool/allocate-deal.ts";
import { valueOfUnits } from "../../services/subscription/domain/pool/equity.ts";
import { giveResult } from "../../services/subscription/domain/pool/give-result.ts";
import { raiseNegative } from "../../services/subscription/domain/pool/raise-negative.ts";
import { takeOut } from "../../services/subscription/domain/pool/take-out.ts";
import { OWN_CAPITAL, type UnitPool } from "../../services/subscription/domain/pool/unit-pool.ts";
import { allHoldings, totalUnits } from "../../services/subscription/domain/pool/units.ts";
import { dollars, type Payment } from "./engine/cents.ts";
import { floor, fraction, larger, minus, ONE, over } from "./engine/fraction.ts";
import type { Owner } from "./engine/pool.ts";
import type { PoolEngine } from "./engine/pool-engine.ts";
import type { modelPerformance } from "./model-performance.ts";
import { E8_PER_CENT } from "./tolerance.ts";

/** Compensations that raised holdings below zero, and decisions on what dealers have moved. */
export type RepairTally = { compensated: number; repaired: number };

/** The pool of the code under test, beside that of the reference. */
type Side = {
  readonly reference: PoolEngine;
  readonly tally: RepairTally;
  /** Results as they are stored, for those that repair them. */
  readonly allocated: readonly AllocatedResult[];
  readonly performance: Pick<ReturnType<typeof modelPerformance>, "add" | "at">;
  readonly both: (exact: () => void, change: () => UnitPool, moved?: bigint) => void;
  readonly pool: () => UnitPool;
  readonly setPaid: (parts: ReadonlyMap<Owner, bigint>) => void;
};

type Repairs = Pick<PoolEngine, "relieve" | "give" | "receive" | "partsOfRepair">;

/** What the broker pays for a stop-out, and what operators decide about money of dealers. */
export function modelRepairs({ reference, tally, allocated, performance, both, pool, setPaid }: Side): Repairs {
  /** Own capital gives it, so it is no part of what the others had. */
  const gained = (given: bigint, parts: readonly Payment<Owner>[]): void => {
    const before = valueOfUnits(pool()) - (given > 0n && pool().own.units > 0n ? given * E8_PER_CENT : 0n);
    const result = parts.reduce((sum, { owner, cents }) => (owner === "own" ? sum : sum + cents), 0n);
    const isOpen = pool().positions.length > 0;
    const units = totalUnits(allHoldings(pool()));
    const after = before + result * E8_PER_CENT;
    performance.add([{ ...performance.at(), before, after, units, isOpen, result }]);
  };
  const moveIn = (from: UnitPool, id: bigint, cents: bigint): UnitPool => {
    return cents < 0n ? takeOut(from, id, -cents) : arriveIn(from, id, cents);
  };
  return {
    relieve(cents) {
      const { pool: after, raised, own } = raiseNegative(pool(), cents);
      let outcome: ReturnType<PoolEngine["relieve"]> = { raised: [], rest: cents };
      both(
        () => (outcome = reference.relieve(cents)),
        () => after,
      );
      if (outcome.raised.length > 0) tally.compensated += 1;
      const shown = [...raised.map((part) => `${part.subscriptionId} ${dollars(part.amount)}`), `own ${dollars(own)}`];
      const exact = outcome.raised.map((part) => `${part.owner} ${dollars(part.cents)}`);
      if (own === 0n) shown.pop();
      if (shown.join() !== exact.join()) {
        throw new Error(`${shown.join()} is paid, and ${exact.join()} by the reference`);
      }
      return outcome;
    },
    give(cents) {
      const result = giveResult(pool(), cents);
      if (result === undefined) return undefined;
      const { pool: after, parts, given, worth } = result;
      setPaid(paidBy(parts, cents - given));
      tally.repaired += 1;
      const others = larger(minus(ONE, reference.share("own")), fraction(1n, E8_PER_CENT));
      let payments: readonly Payment<Owner>[] | undefined;
      both(
        () => (payments = reference.give(cents)),
        () => {
          const units = totalUnits(allHoldings(after));
          const isOpen = after.positions.length > 0;
          performance.add([{ ...performance.at(), ...worth, units, isOpen, result: given }]);
          return after;
        },
        // An error in a share grows as the pool shrinks to those that get something.
        floor(over(fraction(cents), others)),
      );
      return payments;
    },
    receive(parts) {
      const given = parts.reduce((sum, { cents }) => sum + cents, 0n);
      const holdingsNow = new Set(pool().holdings.map(({ subscriptionId }) => subscriptionId));
      const present = parts.filter(({ owner }) => holdingsNow.has(idOf(owner)));
      both(
        () => reference.receive(parts),
        () => {
          gained(given, present);
          const left = moveIn(pool(), OWN_CAPITAL, -given);
          return present.reduce((after, { owner, cents }) => moveIn(after, idOf(owner), cents), left);
        },
      );
    },
    partsOfRepair(repaired, before, cents) {
      tally.repaired += 1;
      const exact = reference.partsOfRepair(repaired, before, cents);
      const { parts, own } = divideRepair(allocated[before]!, cents);
      const paidThen = paidBy(parts, own);
      const isEqual = exact.every(({ owner, cents: part }) => part === (paidThen.get(owner) ?? 0n));
      if (isEqual && exact.length === [...paidThen.values()].filter((part) => part !== 0n).length) return exact;
      const shown = [...paidThen].map(([owner, part]) => `${owner} ${dollars(part)}`).join();
      const wanted = exact.map((part) => `${part.owner} ${dollars(part.cents)}`).join();
      throw new Error(`a repair of ${dollars(cents)} is split ${shown}, and ${wanted} by the reference`);
    },
  };
}

export function paidBy(parts: Allocation["parts"], own: bigint): Map<Owner, bigint> {
  return new Map<Owner, bigint>([...parts.map((part) => [part.subscriptionId, part.amount] as const), ["own", own]]);
}

export function idOf(owner: Owner): bigint {
  return owner === "own" ? OWN_CAPITAL : owner;
}

export const NO_HOLDING = { units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n };

export function arriveIn(pool: UnitPool, subscriptionId: bigint, cents: bigint): UnitPool {
  if (subscriptionId === OWN_CAPITAL) return { ...pool, own: { ...pool.own, waiting: pool.own.waiting + cents } };
  const holding = pool.holdings.find((each) => each.subscriptionId === subscriptionId) ?? {
    subscriptionId,
    ...NO_HOLDING,
  };
  const others = pool.holdings.filter((each) => each.subscriptionId !== subscriptionId);
  const holdings = [...others, { ...holding, waiting: holding.waiting + cents }];
  return { ...pool, holdings: holdings.toSorted((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1)) };
}
