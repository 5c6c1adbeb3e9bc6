import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aCall, aDeposit, anAccount, aWorld } from "../testing/world.ts";

test("a deposit is one deal on the platform, one entry in the log and one fact in the feed", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const login = await anAccount(instance);

  const request = aDeposit(login, 100_00n, { comment: "CRM-2026-0001" });
  const result = await instance.service.transfer(request, aCall());

  expect(result.state).toBe(TransferState.APPLIED);
  const deals = await world.control.deals(login);
  expect(deals).toHaveLength(1);
  expect(deals[0]).toMatchObject({ profit: "100.00" });
  expect(deals[0]!.comment).toMatch(/^PD[0-9A-Z]{12} CRM-2026-0001$/);
  expect(result.legs[0]).toMatchObject({ dealId: BigInt(deals[0]!.deal), reference: deals[0]!.comment.slice(0, 14) });
  const log = await instance.service.readLog({ login, afterNumber: -1n, limit: 10 }, aCall());
  expect(log.entries.map(({ number, amount, key }) => [number, amount?.minorUnits, key])).toEqual([
    [0n, 0n, ""],
    [1n, 100_00n, request.key],
  ]);
  expect(await many(instance.deps.pool, sql`select subject from outbox order by id`)).toEqual([
    { subject: `mirror.v1.moved.${login}` },
    { subject: `mirror.v1.moved.${login}` },
  ]);
});

test("a repeated key is answered with its first result and moves nothing", async () => {
  const world = await aWorld();
  const instance = await world.start();
  const login = await anAccount(instance);
  const request = aDeposit(login, 5_00n);

  const first = await instance.service.transfer(request, aCall());
  const second = await instance.service.transfer(request, aCall());

  expect(second).toEqual(first);
  expect(await world.control.deals(login)).toHaveLength(1);
});
