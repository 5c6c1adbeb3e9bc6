import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, aWithdrawal, feeLegs } from "../testing/requests.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

test.concurrent("transfers are read by their keys as each by itself, keys that were never recorded are left out, and a transfer is found by its deal", async (context) => {
  const world = await aWorld(context);
  const { service, ...instance } = await world.start();
  const [payer, receiver] = [await anAccount({ ...instance, service }), await anAccount({ ...instance, service })];
  const requests = [
    aDeposit(payer, 100_00n),
    aWithdrawal(payer, 500_00n),
    aTransfer(`fee:${payer}`, feeLegs(payer, receiver, 5_00n)),
  ];
  const results = [];
  for (const request of requests) results.push(await service.transfer(request, aCall()));
  expect(results.map(({ state }) => state)).toEqual([
    TransferState.APPLIED,
    TransferState.REFUSED,
    TransferState.APPLIED,
  ]);

  const find = (dealId: bigint) => service.findTransferOfDeal({ dealId }, aCall());
  expect(await find(results[0]?.legs[0]?.dealId ?? 0n)).toEqual({ key: requests[0]?.key, kind: MovementKind.DEPOSIT });
  const { deal: ofDealer } = await world.control.balance(payer, "5.00");
  for (const dealId of [BigInt(ofDealer), 2n ** 63n - 1n, 0n]) {
    expect(await find(dealId)).toEqual({ key: "", kind: MovementKind.UNSPECIFIED });
  }

  const keys = [...requests.map(({ key }) => key), "never"];
  expect(await service.readTransfers({ keys }, aCall())).toEqual({ transfers: results });
  await expect(service.readTransfers({ keys: [] }, aCall())).rejects.toMatchObject({ code: "validation_failed" });
  const tooMany = Array.from({ length: 1_001 }, (_, index) => `key:${index}`);
  await expect(service.readTransfers({ keys: tooMany }, aCall())).rejects.toMatchObject({ code: "validation_failed" });
});
