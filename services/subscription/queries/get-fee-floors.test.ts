import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { deposit, holdForWithdrawal } from "../testing/funding.ts";
import { enter, lastEntry } from "#test/support/platform-fake/ledger.ts";
import { deliver, settle, aPair } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, anInvestor } from "../testing/world.ts";

test("the fee floor is external funds, inbound money and unposted losses", async () => {
  const { world, masterLogin, investorLogin } = await aPair(100_00n);
  const outside = anInvestor(world, 50_00n);
  await deliver(world);
  const { ledger } = world.platform;
  const floors = async () => {
    const answer = await world.service.getFeeFloors({ investorLogins: [investorLogin, outside, "99"] }, aCall());
    return answer.floors;
  };
  const floor = (login: string, minor: bigint, filedNumber = lastEntry(ledger, login).number) => ({
    investorLogin: login,
    floor: moneyToProto(usd(minor)),
    filedNumber,
  });
  expect(await floors()).toEqual([floor(investorLogin, 0n), floor(outside, 0n)]);
  const { number: filed } = lastEntry(ledger, investorLogin);
  enter(ledger, investorLogin, { kind: MovementKind.EXTERNAL, amount: 7_00n });
  expect(await floors()).toEqual([floor(investorLogin, 0n, filed), floor(outside, 0n)]);
  await deposit(world, investorLogin, 20_00n);
  await deliver(world);
  expect(await floors()).toEqual([floor(investorLogin, 27_00n), floor(outside, 0n)]);
  await settle(world);
  expect(await floors()).toEqual([floor(investorLogin, 7_00n), floor(outside, 0n)]);
  await holdForWithdrawal(world, investorLogin, 1n);
  trader(world, masterLogin).result(-30_00n);
  await settle(world);
  expect(await floors()).toEqual([floor(investorLogin, 37_00n), floor(outside, 0n)]);
});
