import type { Client } from "#proto/pamm/funding/v1/funding.ts";
import type { RouteContext } from "../../route.ts";

/** Who asks, for the search for twins; a comment that is only our default tells nothing apart. */
export function clientOf({ key }: RouteContext, comment: string | undefined): Client {
  return { keyId: key.id, choseComment: comment !== undefined, rejectsDuplicates: key.rejectsDuplicates };
}

/** Executed as it was asked; the header says that it may be the same thing twice. */
export function tellDuplicate({ setHeader }: RouteContext, dealId: bigint | undefined): void {
  if (dealId !== undefined) setHeader("x-possible-duplicate-of", String(dealId));
}
