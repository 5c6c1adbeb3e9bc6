import { expect, test } from "vitest";
import { statesOf } from "#kernel/testing/states.ts";
import { STATES_FEED } from "../service.ts";
import { decideWeeks } from "./deciding.ts";
import { INVESTOR, MASTER } from "./fee.ts";
import { aWeek, anInvestor, aWorld, passTime, paymentsOf, settle } from "./world.ts";

test("a fee is noted when it was paid, as the listing shows it, and not while it is due", async () => {
  const world = await aWorld();
  await anInvestor(world, { deposit: "1000.00" });
  aWeek(world, { [INVESTOR]: "+100.00" });
  await decideWeeks(world);
  expect(await paymentsOf(world)).toHaveLength(1);
  expect(await statesOf(world.deps.pool, STATES_FEED)).toEqual([]);

  await settle(world);
  await passTime(world);
  await settle(world);

  expect(await statesOf(world.deps.pool, STATES_FEED)).toEqual([
    {
      kind: "fee",
      state: "EXECUTED",
      subject: "1",
      notedAt: expect.any(Date),
      login: INVESTOR,
      masterLogin: MASTER,
      operationId: "",
      amount: { currencyCode: "USD", minorUnits: 30_00n },
      dealId: expect.any(BigInt),
      reason: "",
    },
  ]);
});
