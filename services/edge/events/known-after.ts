import { invalid } from "../problems/problem.ts";
import type { EventPage } from "./store/events.ts";

/** An id that no event has had is of another system, or a mistake: the events until then would be left out without a word. */
export function demandKnown(after: bigint, { issuedThrough }: Pick<EventPage, "issuedThrough">): void {
  if (after <= issuedThrough) return;
  const message = `after must be the id of an event; the highest one is ${issuedThrough}.`;
  throw invalid([{ field: "after", code: "invalid_cursor", message }]);
}
