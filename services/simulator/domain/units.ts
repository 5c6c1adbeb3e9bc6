import { formatScaled } from "./decimal.ts";

/** Digits of the one deposit currency: every amount of money is a bigint of cents. */
export const MONEY_DIGITS = 2;
/** Volumes are kept in units of 10^-8 lot, the smallest unit of the platform. */
export const VOLUME_DIGITS = 8;
export const LOT = 100_000_000n;
/** Fields without Ext in their name count volumes in units of 1/10 000 lot. */
export const COARSE_VOLUME = 10_000n;
/** Larger amounts are refused with 4005. */
export const MAX_AMOUNT = 1_000_000_000_00n;

export function formatMoney(minor: bigint): string {
  return formatScaled(minor, MONEY_DIGITS);
}

/** Lots with at least two decimals: 1.00, 0.015. */
export function formatLots(volume: bigint): string {
  const text = formatScaled(volume, VOLUME_DIGITS);
  return text.replace(/0{1,6}$/, "");
}
