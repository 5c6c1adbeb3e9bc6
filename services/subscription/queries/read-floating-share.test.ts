import { HOUR_MS } from "#kernel/duration.ts";
import { expect, test } from "vitest";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { enter } from "#test/support/platform-fake/ledger.ts";
import { deposit } from "../testing/funding.ts";
import { reviewWithReason } from "../testing/reviews.ts";
import { deliver, settle, subscribed } from "../testing/settle.ts";
import { trader } from "../testing/trader.ts";
import { aCall, aMaster, anInvestor, aWorld, passTime, type World } from "../testing/world.ts";

const shareOf = (world: World, investorLogin: string, withinMs = 5_000) =>
  world.service.readFloatingShare({ investorLogin }, aCall({ withinMs }));

test("the share of an Investor in a floating loss is that which a week at this moment would have", async () => {
  const cutOff = new Date(Date.now() + HOUR_MS / 2);
  const world = await aWorld({ week: { anchor: cutOff, periodMs: HOUR_MS } });
  const master = aMaster(world, 0n);
  const first = await subscribed(world, master, 1_000_00n);
  const { open, float, result } = trader(world, master);
  result(30_00n);
  const position = open();
  float(position, -100_00n);
  await settle(world);
  const second = await subscribed(world, master, 500_00n);
  float(position, -250_00n, -1n);
  await settle(world);

  const shares = [await shareOf(world, first.investorLogin), await shareOf(world, second.investorLogin)];
  expect(shares[0]).toMatchObject({ masterLogin: master, throughNumber: 1n, markedAt: expect.any(Date) });
  expect(shares.reduce((sum, { floatingE8 }) => sum + floatingE8, 0n)).toBe(-250_01n * 1_000_000n);

  await passTime(world, HOUR_MS / 2 + 6_000);
  await settle(world);
  const { lastNumber } = await world.service.readAllocations(
    { masterLogin: master, afterNumber: 0n, limit: 500 },
    aCall(),
  );
  const range = { masterLogin: master, afterNumber: lastNumber, afterSubscriptionId: 0n, throughNumber: lastNumber };
  const { rows } = await world.service.readAllocationRows({ ...range, limit: 10 }, aCall());
  expect(rows.map(({ floatingE8 }) => floatingE8)).toEqual(shares.map(({ floatingE8 }) => floatingE8));
});

test("a flat Master is not read, and an Investor in no pool has no share", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, master, 1_000_00n);
  trader(world, master).result(30_00n);
  await settle(world);
  world.platform.state.isDown = true;
  const flat = { floatingE8: 0n, markedAt: undefined };
  expect(await shareOf(world, investorLogin)).toMatchObject({ ...flat, masterLogin: master, throughNumber: 1n });
  expect(await shareOf(world, anInvestor(world, 0n))).toEqual({ ...flat, masterLogin: undefined, throughNumber: 0n });
});

test("deals that are not in the books are waited for, and refused when that takes longer than the call", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, master, 1_000_00n);
  const { open, float, close } = trader(world, master);
  const position = open();
  float(position, -100_00n);
  await settle(world);
  open();
  const waiting = shareOf(world, investorLogin);
  await settle(world);
  expect(await waiting).toMatchObject({ floatingE8: -100_00n * 1_000_000n });
  close(position, { profit: -100_00n });
  await expect(shareOf(world, investorLogin, 700)).rejects.toMatchObject({
    code: "allocation_in_progress",
    outcome: "not_executed",
  });
});

test("a stopped Master has no share to show", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, master, 1_000_00n);
  enter(world.platform.ledger, master, {
    kind: MovementKind.AMENDMENT,
    amount: 0n,
    reason: "deal_changed",
    dealId: 77n,
  });
  await settle(world);
  await reviewWithReason(world, "stopped");
  await expect(shareOf(world, investorLogin)).rejects.toMatchObject({ code: "safety_stop" });
});

test("a pool has not converged while the units of a fee are still to be redeemed", async () => {
  const world = await aWorld();
  const master = aMaster(world, 0n);
  const { investorLogin } = await subscribed(world, master, 1_000_00n);
  await subscribed(world, master, 1_000_00n);
  const { open, closeAll } = trader(world, master);
  open();
  await settle(world);
  const proofOf = () => world.service.getProof({ masterLogin: master, afterSubscriptionId: 0n, limit: 10 }, aCall());
  const closedThrough = (await proofOf()).weeksClosedThrough;
  expect(closedThrough).toBeInstanceOf(Date);

  // Marks cannot be taken: the fee leaves the pool at once, and its units follow.
  enter(world.platform.ledger, investorLogin, { kind: MovementKind.FEE_DEBIT, amount: -75_00n, key: "fee:payment:1" });
  await deliver(world);
  await world.deps.pool.query("update master_pool set mark_next_at = 'infinity'");
  await settle(world);
  expect(await proofOf()).toMatchObject({ converged: false, unredeemed: moneyToProto(usd(75_00n)) });
  await world.deps.pool.query("update master_pool set mark_next_at = '-infinity'");
  await settle(world);
  expect(await proofOf()).toMatchObject({ converged: true, unredeemed: moneyToProto(usd(0n)) });

  closeAll();
  await settle(world);
  await deposit(world, investorLogin, 1_00n);
  await settle(world);
  expect(await proofOf()).toMatchObject({ converged: true, weeksClosedThrough: closedThrough });
});
