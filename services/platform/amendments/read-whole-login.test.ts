import { expect, test } from "vitest";
import { corrupt } from "#test/support/corrupt.ts";
import { HOUR_MS } from "#kernel/values/duration.ts";
import { moveReadTo } from "../store/reader-cursor.ts";
import { logOf, summaryOf } from "../testing/log-of.ts";
import { aDeposit } from "../testing/requests.ts";
import { openReviews } from "../testing/reviews.ts";
import { aCall, aProcessWith } from "../testing/world.ts";
import { readWholeLogin } from "./read-whole-login.ts";

test.concurrent("a login is read as a whole: a late deal is filed, and a deleted and an edited one are reported once", async (context) => {
  const { world, instance, login } = await aProcessWith("investor", context, { hasJobs: false });
  for (const key of ["a", "b"]) await instance.service.transfer(aDeposit(login, 100_00n, { key }), aCall());
  const [first, second] = await world.control.deals(login);
  // What happened on the account is older than all that the reader reads again, and than a deal that may still be shown late.
  await moveReadTo(instance.deps.pool, new Date(Date.now() + 3 * HOUR_MS));
  await corrupt(instance.deps.pool, "update log_entry set deal_at = deal_at - interval '2 minutes' where number > 0");
  await world.control.balance(login, "7.00");
  await world.control.removeDeal(first!.deal);
  await world.control.editDeal(second!.deal, { profit: "90.00" });

  for (let times = 0; times < 2; times += 1) await readWholeLogin(instance.deps, login);

  expect((await logOf(instance, login, 5)).map(summaryOf)).toEqual([
    "DEPOSIT 100.00",
    "DEPOSIT 100.00",
    "EXTERNAL 7.00",
    "AMENDMENT 0.00",
    "AMENDMENT 0.00",
  ]);
  const [review, ...others] = await openReviews(instance);
  expect(others).toEqual([]);
  const { deals } = JSON.parse(review!.evidence) as { deals: { deal_id: string }[] };
  expect(deals.map(({ deal_id: id }) => id).toSorted()).toEqual([first!.deal, second!.deal].map(String).toSorted());
});
