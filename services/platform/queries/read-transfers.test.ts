import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit, aTransfer, aWithdrawal } from "../testing/requests.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

test.concurrent("transfers are read by their keys as each by itself, and keys that were never recorded are left out", async (context) => {
  const { service, ...instance } = await (await aWorld(context)).start();
  const [payer, receiver] = [await anAccount({ ...instance, service }), await anAccount({ ...instance, service })];
  const requests = [
    aDeposit(payer, 100_00n),
    aWithdrawal(payer, 500_00n),
    aTransfer(`fee:${payer}`, [
      { login: payer, kind: MovementKind.FEE_DEBIT, minor: -5_00n },
      { login: receiver, kind: MovementKind.FEE_CREDIT, minor: 5_00n },
    ]),
  ];
  const results = [];
  for (const request of requests) results.push(await service.transfer(request, aCall()));
  expect(results.map(({ state }) => state)).toEqual([
    TransferState.APPLIED,
    TransferState.REFUSED,
    TransferState.APPLIED,
  ]);

  const keys = [...requests.map(({ key }) => key), "never"];
  expect(await service.readTransfers({ keys }, aCall())).toEqual({ transfers: results });
  await expect(service.readTransfers({ keys: [] }, aCall())).rejects.toMatchObject({ code: "validation_failed" });
  const tooMany = Array.from({ length: 1_001 }, (_, index) => `key:${index}`);
  await expect(service.readTransfers({ keys: tooMany }, aCall())).rejects.toMatchObject({ code: "validation_failed" });
});
