import { expect, test } from "vitest";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { aCall, INVESTOR, world } from "../testing/funding.ts";
import { fundingService } from "../service.ts";

test("the legs of deposits are found by their keys as they were requested, and no other key is", async () => {
  const deps = await world();
  const amount = (minor: bigint) => ({ currencyCode: "USD", minorUnits: minor });
  await deposit(
    deps,
    { login: INVESTOR, amount: amount(100_00n), comment: "in", client: undefined, idempotencyKey: undefined },
    aCall("op-1"),
  );
  await withdraw(
    deps,
    { login: INVESTOR, amount: amount(30_00n), comment: "out", client: undefined, idempotencyKey: undefined },
    aCall("op-2"),
  );
  const requested = deps.platform.deals;
  expect(requested).toHaveLength(2);

  const keys = ["funding:deposit:op-1", "funding:deposit:op-2", "funding:deposit:op-3", "withdrawal:op-2", "fee:op-1"];
  const { legs } = await fundingService(deps).findTransfers({ keys }, aCall("check"));
  expect(legs).toEqual([{ key: "funding:deposit:op-1", login: INVESTOR, kind: "deposit", amount: amount(100_00n) }]);
});

test.for([0, 1_001])("a request for %i keys is refused", async (count) => {
  const deps = await world();
  const keys = Array.from({ length: count }, (_, index) => `funding:deposit:${index}`);
  await expect(fundingService(deps).findTransfers({ keys }, aCall("check"))).rejects.toMatchObject({
    code: "validation_failed",
  });
});
