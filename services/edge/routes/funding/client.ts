import type { Client } from "#proto/pamm/funding/v1/funding.ts";
import type { RouteContext } from "../../route.ts";

/** Who asks, for the search for twins; our default tells nothing apart, left out or written out. */
export function clientOf({ key }: RouteContext, comment: string, standard: string): Client {
  return { keyId: key.id, choseComment: comment !== standard, rejectsDuplicates: key.rejectsDuplicates };
}

/** Executed as it was asked; the header says that it may be the same thing twice. */
export function tellDuplicate({ setHeader }: RouteContext, dealId: bigint | undefined): void {
  if (dealId !== undefined) setHeader("x-possible-duplicate-of", String(dealId));
}
