import type { Brand } from "#kernel/values/brand.ts";

/** Number of a leg; it is unique for ever, also after a restore of the database to an earlier time. */
export type LegNumber = Brand<bigint, "LegNumber">;

/** Ten characters of the reference, five bits each. */
export const LEG_NUMBER_BITS = 50n;
export const LAST_LEG_NUMBER = (1n << LEG_NUMBER_BITS) - 1n;

/** 2025-01-01T00:00:00Z. */
const EPOCH_MS = 1_735_689_600_000;
/** Legs that may be numbered in one millisecond before the sequence runs ahead of the clock; lasts until 2094. */
const NUMBERS_PER_MS = 512n;

/**
 * The sequence is raised to this at every start. A restored database would otherwise assign numbers whose references
 * are in the platform's history already, and a scan would take an old deal for the new one.
 */
export function numberFloor(nowMs: number): LegNumber {
  return legNumber(BigInt(Math.trunc(nowMs) - EPOCH_MS) * NUMBERS_PER_MS);
}

/** Throws a RangeError when the value does not fit into a reference. */
export function legNumber(value: bigint): LegNumber {
  if (!isLegNumber(value)) throw new RangeError("A leg number has 50 bits and is not negative.");
  return value;
}

function isLegNumber(value: bigint): value is LegNumber {
  return value >= 0n && value <= LAST_LEG_NUMBER;
}
