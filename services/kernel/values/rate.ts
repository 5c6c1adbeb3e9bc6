import { formatUnits, parseExact } from "./exact-decimal.ts";

/** A share in parts per million: exactly the six decimals of a rate such as 0.300000. */
export type Rate = { readonly ppm: bigint };

/** 1.000000. */
export const WHOLE: Rate = { ppm: 1_000_000n };
const RATE = /^\d{1,9}(?:\.\d{1,6})?$/;
const DECIMALS = 6;

export function rateFromPpm(ppm: bigint): Rate {
  return { ppm };
}

/** Reads 0.3 or 0.300000; undefined when it is not a decimal or has more than six decimals. Never negative. */
export function parseRate(text: string): Rate | undefined {
  const ppm = RATE.test(text) ? parseExact(text, DECIMALS) : undefined;
  return ppm === undefined ? undefined : { ppm };
}

/** Always six decimals. */
export function formatRate({ ppm }: Rate): string {
  return formatUnits(ppm, DECIMALS);
}
