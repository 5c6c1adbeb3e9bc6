import { expect } from "vitest";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf } from "../journey/support/client.ts";
import { INVESTOR_GROUP, personalFields } from "../journey/support/client-requests.ts";
import { reviewAbout } from "../journey/support/reviews.ts";
import { repeatUntilDone } from "./repeat-until-done.ts";

/** The absence of a deal is proven, and the reversal is sent again. */
const SETTLED_MS = 90_000;
const REVIEWS = "/api/v1/ops/reviews";

/**
 * A deal appears under the reference of an executed deposit, and two operators decide to reverse it. It is reversed once,
 * whichever process was killed.
 */
export async function reverseUnmatchedDeal(client: Client, first: Client, second: Client): Promise<void> {
  const created = await repeatUntilDone(client, "/api/v1/investor/create", {
    ...personalFields("Ines"),
    platform_group: INVESTOR_GROUP,
  });
  const login = textOf(created.body, "mt5_login");
  await repeatUntilDone(client, `/api/v1/investor/deposit?login=${login}&amount=5&comment=in`);
  const [deposit] = await dealsOf(client, login);
  await client.control("POST", "balance", { login, amount: "8", comment: deposit?.comment });

  const review = await reviewAbout(client, login, "unmatched_deal");
  const vote = { id: textOf(review, "id"), action: "reverse", note: "No leg accounts for it." };
  const proposed = await repeatUntilDone(first, REVIEWS, vote);
  const decided = await repeatUntilDone(second, REVIEWS, vote);
  expect([proposed.body["state"], decided.body["state"]]).toEqual(["proposed", "decided"]);

  await eventually(async () => expect(await platformBalanceOf(client, login)).toBe(minorOf("5")), SETTLED_MS);
  // The account accepts transfers again only when the outcome of the reversal is known.
  await repeatUntilDone(client, `/api/v1/investor/deposit?login=${login}&amount=1&comment=after`);
  const amounts = (await dealsOf(client, login)).map(({ minor }) => minor);
  expect(amounts.toSorted((left, right) => Number(left - right))).toEqual(["-8", "1", "5", "8"].map(minorOf));
}
