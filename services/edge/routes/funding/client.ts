import type { Client } from "#proto/pamm/funding/v1/funding.ts";
import type { RouteContext } from "../../route.ts";

/** The client for the search for duplicates; the default comment does not identify a request, sent or omitted. */
export function clientOf({ key }: RouteContext, comment: string, standard: string): Client {
  return { keyId: key.id, choseComment: comment !== standard, rejectsDuplicates: key.rejectsDuplicates };
}

/** The request was executed; the header says that it may be a duplicate. */
export function reportDuplicate({ setHeader }: RouteContext, dealId: bigint | undefined): void {
  if (dealId !== undefined) setHeader("x-possible-duplicate-of", String(dealId));
}
