/** A share in parts per million: exactly the six decimals of a rate such as 0.300000. */
export type Rate = { readonly ppm: bigint };

/** 1.000000. */
export const WHOLE: Rate = { ppm: 1_000_000n };
const DECIMAL = /^(\d{1,9})(?:\.(\d{1,6}))?$/;

export function rateFromPpm(ppm: bigint): Rate {
  return { ppm };
}

/** Reads 0.3 or 0.300000; undefined when it is not a decimal or has more than six decimals. Never negative. */
export function parseRate(text: string): Rate | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  return { ppm: BigInt(whole) * WHOLE.ppm + BigInt(fraction.padEnd(6, "0")) };
}

/** Always six decimals. */
export function formatRate({ ppm }: Rate): string {
  const digits = (ppm < 0n ? -ppm : ppm).toString().padStart(7, "0");
  return `${ppm < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
