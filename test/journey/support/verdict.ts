import { expect } from "vitest";
import type { Asked } from "./asked.ts";
import { type Client, type Deal, dealsOf } from "./client.ts";

/** The deals that an order has led to. */
export function dealsFor({ comment }: Pick<Asked, "comment">, deals: readonly Deal[]): readonly Deal[] {
  return deals.filter((deal) => deal.comment.endsWith(` ${comment}`));
}

/** What is wrong between what a caller was told and the deals of its account, in sentences that go on from the comment. */
export function brokenByDeals(asked: Asked, deals: readonly Deal[]): string[] {
  const { said, ticket, moved, defect } = asked;
  const own = dealsFor(asked, deals);
  const isTold = own[0]?.ticket === ticket && own[0]?.minor === moved;
  const isDenied = said === "not_executed" || said === "nothing";
  return [
    ...(defect === undefined ? [] : [`was answered ${defect}`]),
    ...(own.length <= 1 ? [] : ["moved money twice"]),
    ...(said !== "done" || isTold ? [] : ["has not the deal that was told"]),
    ...(isDenied && own.length > 0 ? ["moved money that was denied"] : []),
  ];
}

/** Deals that nobody asked for. */
export function strangersAmong(deals: readonly Deal[], asked: readonly Asked[]): readonly Deal[] {
  const known = new Set(asked.map(({ comment }) => comment));
  return deals.filter(({ comment }) => !known.has(comment.split(" ").at(-1) ?? ""));
}

/** Done is one deal with that ticket, not executed is none, unknown is one or none; and there are no others. */
export async function expectKept(client: Client, login: string, promises: readonly Asked[]): Promise<void> {
  const deals = await dealsOf(client, login);
  const broken = promises.flatMap((asked) => brokenByDeals(asked, deals).map((how) => `${asked.comment} ${how}`));
  expect(broken).toEqual([]);
  expect(strangersAmong(deals, promises)).toEqual([]);
}
