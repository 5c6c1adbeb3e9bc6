import type { Brand } from "#kernel/brand.ts";

/** Number of a money operation; it is unique for ever, also after a restore of the database to an earlier time. */
export type OperationNumber = Brand<bigint, "OperationNumber">;

/** Ten characters of the reference, five bits each. */
export const OPERATION_NUMBER_BITS = 50n;
export const LAST_OPERATION_NUMBER = (1n << OPERATION_NUMBER_BITS) - 1n;

/** 2025-01-01T00:00:00Z. */
const EPOCH_MS = 1_735_689_600_000;
/** Operations that may be numbered in one millisecond before the sequence runs ahead of the clock; lasts until 2094. */
const NUMBERS_PER_MS = 512n;

/**
 * The sequence is raised to this at every start. A restored database would otherwise assign numbers whose references
 * are in the platform's history already, and a scan would take an old deal for the new one.
 */
export function numberFloor(nowMs: number): OperationNumber {
  return operationNumber(BigInt(Math.trunc(nowMs) - EPOCH_MS) * NUMBERS_PER_MS);
}

/** Throws a RangeError when the value does not fit into a reference. */
export function operationNumber(value: bigint): OperationNumber {
  if (!isOperationNumber(value)) throw new RangeError("An operation number has 50 bits and is not negative.");
  return value;
}

function isOperationNumber(value: bigint): value is OperationNumber {
  return value >= 0n && value <= LAST_OPERATION_NUMBER;
}
