import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

test("the transfer that has made a deal is found by its ticket; a deal of another party and an unknown one have none", async (context) => {
  const world = await aWorld(context);
  const { service, ...instance } = await world.start();
  const login = await anAccount({ ...instance, service });
  const order = aDeposit(login, 100_00n);
  const [leg] = (await service.transfer(order, aCall())).legs;
  const { deal: ofDealer } = await world.control.balance(login, "5.00");
  const find = (dealId: bigint) => service.findTransferOfDeal({ dealId }, aCall());
  const none = { key: "", kind: MovementKind.UNSPECIFIED };

  expect(await find(leg?.dealId ?? 0n)).toEqual({ key: order.key, kind: MovementKind.DEPOSIT });
  expect(await find(BigInt(ofDealer))).toEqual(none);
  expect(await find(2n ** 63n - 1n)).toEqual(none);
  expect(await find(0n)).toEqual(none);
});
