import { expect } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf } from "../journey/support/client.ts";
import { INVESTOR_GROUP, person } from "../journey/support/people.ts";
import { reviewAbout } from "../journey/support/reviews.ts";
import { insist } from "./insist.ts";

/** Absence is proven, and it is sent again. */
const SETTLED_MS = 90_000;
const REVIEWS = "/api/v1/ops/reviews";

/**
 * Money appears under the reference of a deposit that was executed already, and two people say that it goes back. Whoever
 * dies meanwhile, it goes back once.
 */
export async function takeBack(client: Client, second: Client): Promise<void> {
  const created = await insist(client, "/api/v1/investor/create", {
    ...person("Ines"),
    platform_group: INVESTOR_GROUP,
  });
  const login = textOf(created.body, "mt5_login");
  await insist(client, `/api/v1/investor/deposit?login=${login}&amount=5&comment=in`);
  const [deposit] = await dealsOf(client, login);
  await client.control("POST", "balance", { login, amount: "8", comment: deposit?.comment });

  const review = await reviewAbout(client, login, "unmatched_deal");
  const word = { id: textOf(review, "id"), action: "reverse", note: "Nobody ordered it." };
  const proposed = await insist(client, REVIEWS, word);
  const decided = await insist(second, REVIEWS, word);
  expect([proposed.body["state"], decided.body["state"]]).toEqual(["proposed", "decided"]);

  await eventually(async () => expect(await platformBalanceOf(client, login)).toBe(minorOf("5")), SETTLED_MS);
  // While nobody knew what became of it, nothing else would move on this account.
  await insist(client, `/api/v1/investor/deposit?login=${login}&amount=1&comment=after`);
  const amounts = (await dealsOf(client, login)).map(({ minor }) => minor);
  expect(amounts.toSorted((left, right) => Number(left - right))).toEqual(["-8", "1", "5", "8"].map(minorOf));
}
