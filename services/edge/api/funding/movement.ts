import { type Static, Type } from "typebox";
import type { Labels } from "#proto/pamm/common/v1/labels.ts";
import type { RouteContext } from "../../http/route.ts";
import { amount, comment, currency, investorLogin } from "../schemas/request-fields.ts";
import { moneyOf } from "../../wire/money.ts";

/** The query of a deposit or withdrawal; `standard` is its default comment. */
export function movementQuery(standard: string) {
  const optional = { currency: Type.Optional(currency), comment: Type.Optional(comment(standard)) };
  return Type.Object({ login: investorLogin, amount, ...optional });
}

/** The request to funding. The default comment, sent or omitted, does not identify a request in the search for duplicates. */
export function movementOf(
  { labels, ...query }: Static<ReturnType<typeof movementQuery>> & { readonly labels: Labels | undefined },
  { client: { id, rejectsDuplicates }, idempotencyKey }: RouteContext,
  standard: string,
) {
  const { login, comment: text = standard } = query;
  const client = { keyId: id, choseComment: text !== standard, rejectsDuplicates };
  return { login, amount: moneyOf(query.amount), comment: text, client, idempotencyKey, labels };
}

/** The request was executed; the header names the deal that it may duplicate. */
export function reportDuplicate({ setHeader }: RouteContext, dealId: bigint | undefined): void {
  if (dealId !== undefined) setHeader("x-possible-duplicate-of", String(dealId));
}
