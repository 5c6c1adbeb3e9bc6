import { expect, test } from "vitest";
import { deposit } from "../commands/deposit.ts";
import { withdraw } from "../commands/withdraw.ts";
import { aCall, INVESTOR, usd, world } from "../testing/funding.ts";
import { fundingService } from "../service.ts";

test("the legs of deposits are found by their keys as they were requested, no other key is, and too many are refused", async () => {
  const deps = await world();
  const request = { login: INVESTOR, comment: "", client: undefined, idempotencyKey: undefined };
  await deposit(deps, { ...request, amount: usd(100_00n) }, aCall("op-1"));
  await withdraw(deps, { ...request, amount: usd(30_00n) }, aCall("op-2"));
  expect(deps.platform.deals).toHaveLength(2);
  const find = (keys: string[]) => fundingService(deps).findTransfers({ keys }, aCall("check"));

  const keys = ["funding:deposit:op-1", "funding:deposit:op-2", "funding:deposit:op-3", "withdrawal:op-2", "fee:op-1"];
  expect((await find(keys)).legs).toEqual([
    { key: "funding:deposit:op-1", login: INVESTOR, kind: "deposit", amount: usd(100_00n) },
  ]);
  for (const wrong of [[], Array.from({ length: 1_001 }, (_, index) => `funding:deposit:${index}`)]) {
    await expect(find(wrong)).rejects.toMatchObject({ code: "validation_failed" });
  }
});
