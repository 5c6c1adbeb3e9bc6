import assert from "node:assert/strict";
import { MINUTE_MS } from "#kernel/values/duration.ts";

const DATETIME =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/i;

/** UTC without an offset and with six decimals: 2026-01-02T03:04:05.678000. */
export function timestamp(date: Date | undefined): string {
  assert(date !== undefined, "a timestamp is missing");
  return `${date.toISOString().slice(0, -1)}000`;
}

export function nullableTimestamp(date: Date | null | undefined): string | null {
  return date ? timestamp(date) : null;
}

/** What four digits of a year and the platform's seconds since 1970 can say. */
const [EARLIEST, LATEST] = [0, Date.parse("9999-12-31T23:59:59.999Z")];

/** ISO 8601 date and time; no offset means UTC. Undefined when it is none, a 30 February included, and outside of the years 1970 to 9999. */
export function parseTimestamp(text: string): Date | undefined {
  const match = DATETIME.exec(text);
  if (match === null) return undefined;
  const [fraction = "", zone = "Z"] = match.slice(7);
  const plain = `${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6] ?? "00"}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  const date = new Date(plain);
  // Written back and compared, because Date reads 30 February as 2 March.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== plain) return undefined;
  const instant = new Date(date.getTime() - offsetMs(zone));
  return isInYears(instant) ? instant : undefined;
}

/** In the years 1970 to 9999, in UTC. */
export function isInYears(instant: Date): boolean {
  return instant.getTime() >= EARLIEST && instant.getTime() <= LATEST;
}

function offsetMs(zone: string): number {
  if (zone.toUpperCase() === "Z") return 0;
  const digits = zone.replace(":", "");
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5));
  return (digits.startsWith("-") ? -minutes : minutes) * MINUTE_MS;
}
