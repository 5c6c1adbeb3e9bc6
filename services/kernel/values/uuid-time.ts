/** A UUID of version 7 begins with its time: 48 bits of milliseconds since 1970. */
const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const TIME_DIGITS = 12;
const HIGH_DIGITS = 8;
const MAX_MS = 16 ** TIME_DIGITS - 1;

/** A text that is not above the first id of this instant, and above every earlier one, compared byte by byte. */
export function firstIdAt(instant: Date): string {
  const ms = Math.min(Math.max(instant.getTime(), 0), MAX_MS);
  const digits = ms.toString(16).padStart(TIME_DIGITS, "0");
  return `${digits.slice(0, HIGH_DIGITS)}-${digits.slice(HIGH_DIGITS)}`;
}

/** When the edge gave the id to a request; undefined when it did not. */
export function instantOfId(id: string): Date | undefined {
  const [, high, low] = UUID_7.exec(id) ?? [];
  return high === undefined ? undefined : new Date(Number.parseInt(`${high}${low}`, 16));
}
