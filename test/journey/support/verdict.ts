import { expect } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, minorOf, type Reply } from "./client.ts";

export type Wish = { readonly login: string; readonly amount: string; readonly comment: string };
export type Told = Wish & { readonly said: "done" | "not_executed" | "unknown"; readonly ticket: string | undefined };

/** What the answer to a money command promises. Anything that is neither done, surely not done nor unknown is a defect. */
export function told(wish: Wish, { status, body, text }: Reply): Told {
  if (status === 200) {
    expect(minorOf(textOf(body, "amount")), text).toBe(minorOf(wish.amount));
    return { ...wish, said: "done", ticket: textOf(body, "deal_id") };
  }
  expect([409, 503, 504], text).toContain(status);
  expect(body["outcome"], text).toBe(status === 504 ? "unknown" : "not_executed");
  return { ...wish, said: status === 504 ? "unknown" : "not_executed", ticket: undefined };
}

/** Done is one deal with that ticket, not executed is none, unknown is one or none; and there are no others. */
export async function expectKept(client: Client, login: string, promises: readonly Told[]): Promise<void> {
  const deals = await dealsOf(client, login);
  for (const { said, comment, amount, ticket } of promises) {
    const own = deals.filter((deal) => deal.comment.endsWith(` ${comment}`));
    if (said === "done") {
      expect(own).toEqual([{ ticket, minor: minorOf(amount), comment: expect.any(String) }]);
    } else {
      expect(own.length, comment).toBeLessThanOrEqual(said === "unknown" ? 1 : 0);
    }
  }
  const strangers = deals.filter((deal) => !promises.some(({ comment }) => deal.comment.endsWith(` ${comment}`)));
  expect(strangers).toEqual([]);
}
