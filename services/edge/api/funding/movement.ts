import type { Labels } from "#proto/pamm/common/v1/labels.ts";
import { optional } from "../../fields/message.ts";
import type { RouteContext } from "../../http/route.ts";
import { amount, comment, currency, investorLogin } from "../schemas/request-fields.ts";

/** The query of a deposit or withdrawal; `standard` is its default comment. */
export const movementQuery = (standard: string) => ({
  login: investorLogin,
  amount,
  currency: optional(currency),
  comment: comment(standard),
});

type Movement = { readonly comment: string; readonly labels: Labels | undefined };

/** Adds the client. The default comment, sent or omitted, does not identify a request in the search for duplicates. */
export function ofClient<Request extends Movement>(
  request: Request,
  { client: { id, rejectsDuplicates } }: RouteContext,
  standard: string,
) {
  return { ...request, client: { keyId: id, choseComment: request.comment !== standard, rejectsDuplicates } };
}

type Done = { readonly possibleDuplicateOf?: bigint | undefined };

/** The request was executed; the header names the deal that it may duplicate. */
export function reportDuplicate({ setHeader }: RouteContext, { possibleDuplicateOf: dealId }: Done): void {
  if (dealId !== undefined) setHeader("x-possible-duplicate-of", String(dealId));
}
