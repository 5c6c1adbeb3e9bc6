import { formatRatio } from "../../formats/decimal.ts";

/** A rate of the API; null where several were joined, or where it is not known. */
export function rateText(rate: string | null): string {
  return rate === null ? "several rates" : formatRatio(rate);
}
