import { now } from "./ticker.ts";
import { lastDays, type Period, periodOf } from "../formats/period.ts";

const SHOWN_DAYS = 90;

/** The period of the address, or the last days. */
export function usePeriod(query: URLSearchParams): Period {
  return periodOf(query, lastDays(SHOWN_DAYS, now.value));
}
