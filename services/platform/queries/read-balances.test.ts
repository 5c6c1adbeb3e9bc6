import { expect, test } from "vitest";
import { logOf } from "../testing/log-of.ts";
import { aDeposit, moneyOf } from "../testing/requests.ts";
import { aCall, anAccount, aProcess } from "../testing/world.ts";

test.concurrent("the sum of a log at a log position never changes and is returned with the platform's balance", async (context) => {
  const { instance, service } = await aProcess(context);
  const [first, second] = [await anAccount(instance), await anAccount(instance)];
  await service.transfer(aDeposit(first, 100_00n), aCall());
  await service.transfer(aDeposit(first, 5_00n), aCall());
  const [deposit, next] = await logOf(instance, first, 2);

  const positions = [
    { login: first, number: 1n },
    { login: second, number: 0n },
    { login: "1999999999", number: 0n },
  ];
  const { balances } = await service.readBalances({ positions }, aCall());

  expect(balances.toSorted((left, right) => left.login.localeCompare(right.login))).toEqual([
    {
      login: first,
      balance: moneyOf(105_00n),
      log: {
        login: first,
        balance: moneyOf(100_00n),
        dealId: deposit!.dealId,
        dealAt: deposit!.dealAt,
        lastNumber: 2n,
        lastDealAt: next!.dealAt,
        archived: false,
        otherCurrency: false,
        notShown: false,
      },
    },
    {
      login: second,
      balance: moneyOf(0n),
      log: {
        login: second,
        balance: moneyOf(0n),
        dealId: 0n,
        dealAt: undefined,
        lastNumber: 0n,
        lastDealAt: undefined,
        archived: false,
        otherCurrency: false,
        notShown: false,
      },
    },
  ]);
  const before = await service.readLogBalances({ positions: [{ login: first, number: -1n }] }, aCall());
  expect(before.balances).toMatchObject([{ balance: moneyOf(0n), dealId: 0n, lastNumber: 2n }]);
});

test.concurrent("an unreachable platform is platform_unavailable, and an invalid list is refused", async (context) => {
  const { world, instance, service } = await aProcess(context, { hasJobs: false });
  const positions = [{ login: await anAccount(instance), number: 0n }];
  await world.control.fault({ command: "user/get_batch", effect: "retcode:7", times: 9 });
  await expect(service.readBalances({ positions }, aCall())).rejects.toMatchObject({ code: "platform_unavailable" });
  await expect(service.readLogBalances({ positions }, aCall())).resolves.toMatchObject({
    balances: [{ lastNumber: 0n }],
  });
  const refused = { code: "validation_failed" };
  await expect(service.readBalances({ positions: [] }, aCall())).rejects.toMatchObject(refused);
  const twice = { login: "3000001", number: 0n };
  await expect(service.readLogBalances({ positions: [twice, twice] }, aCall())).rejects.toMatchObject(refused);
});
