import assert from "node:assert/strict";
import { formatRate, parseRate, rateFromPpm } from "#kernel/rate.ts";

/** Always six decimals: 0.300000. */
export function rateText(ppm: number): string {
  return formatRate(rateFromPpm(BigInt(ppm)));
}

/** Text that the schema has found to be a rate from 0 to 1. */
export function ratePpm(text: string | undefined): number {
  const rate = parseRate(text ?? "");
  assert(rate !== undefined, "the schema has checked the rate");
  return Number(rate.ppm);
}
