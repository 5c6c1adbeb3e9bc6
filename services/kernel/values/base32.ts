/** Crockford's base32: no I, L, O or U. */
export const BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The lowest `length * 5` bits of a number. */
export function toBase32(value: bigint, length: number): string {
  return Array.from({ length }, (_, index) =>
    BASE32.charAt(Number((value >> BigInt(5 * (length - 1 - index))) & 31n)),
  ).join("");
}
