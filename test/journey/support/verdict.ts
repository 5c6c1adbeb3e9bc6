import type { AnsweredRequest } from "./money-request.ts";
import type { Deal } from "./client.ts";

/** The deals of a request. */
export function dealsFor({ comment }: Pick<AnsweredRequest, "comment">, deals: readonly Deal[]): readonly Deal[] {
  return deals.filter((deal) => deal.comment.endsWith(` ${comment}`));
}

/** Contradictions between an answer and the deals of the account, each as the rest of a sentence about the request. */
export function contradictionsWithDeals(request: AnsweredRequest, deals: readonly Deal[]): string[] {
  const { answer, ticket, moved, defect } = request;
  const own = dealsFor(request, deals);
  const isReported = own[0]?.ticket === ticket && own[0]?.minor === moved;
  const isDenied = answer === "not_executed" || answer === "nothing";
  return [
    ...(defect === undefined ? [] : [`was answered ${defect}`]),
    ...(own.length <= 1 ? [] : ["moved money twice"]),
    ...(answer !== "done" || isReported ? [] : ["has another deal than the answer"]),
    ...(isDenied && own.length > 0 ? ["moved money, although the answer denies it"] : []),
  ];
}

/** Deals without a request. */
export function unrequestedDeals(deals: readonly Deal[], requests: readonly AnsweredRequest[]): readonly Deal[] {
  const known = new Set(requests.map(({ comment }) => comment));
  return deals.filter(({ comment }) => !known.has(comment.split(" ").at(-1) ?? ""));
}
