import { expect, test } from "vitest";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { balanceOf, enter } from "#test/support/platform-fake/ledger.ts";
import { expectBooksToReconcile } from "./books.ts";
import { settle, aPair } from "./settle.ts";
import { trader } from "./trader.ts";
import { aCall } from "./world.ts";

async function aPosting() {
  const { world, investorLogin: login, masterLogin } = await aPair(100_00n);
  return {
    world,
    login,
    master: trader(world, masterLogin),
    balance: () => balanceOf(world.platform.ledger, login),
    /** What the check of platform learns of the postings with these numbers: their amounts, or that they are known. */
    owned: async (...numbers: number[]) => {
      const keys = numbers.map((number) => `posting:${login}:${number}`);
      const { legs } = await world.service.findTransfers({ keys }, aCall());
      expect(legs.every((leg) => leg.login === login && leg.kind === "result")).toBe(true);
      return Object.fromEntries(legs.map(({ key, amount }) => [key.split(":")[2], amount?.minorUnits ?? "known"]));
    },
  };
}

test("platform learns the amount of the posting in flight, knows those before it, and no later one", async () => {
  const { world, master, owned } = await aPosting();
  master.result(10_00n);
  await settle(world);
  world.platform.rules.delay = () => true;
  master.result(-7_00n);
  await settle(world);
  expect(await owned(1, 2, 3)).toEqual({ 1: "known", 2: -7_00n });
});

test("a result that this service has not requested is taken back by the next posting, and is not owned, whatever its number", async () => {
  const { world, master, login, balance, owned } = await aPosting();
  const { RESULT } = MovementKind;
  master.result(10_00n);
  await settle(world);
  for (const number of [1, 2, 9]) {
    enter(world.platform.ledger, login, { kind: RESULT, amount: 5_00n, key: `posting:${login}:${number}` });
    await settle(world);
    expect(balance()).toBe(110_00n);
  }
  expect(await owned(1, 2, 3, 8, 9, 10)).toEqual({ 3: "known", 8: "known", 10: "known" });
  await expectBooksToReconcile(world);
});
