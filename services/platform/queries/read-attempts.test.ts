import { expect, test } from "vitest";
import type { Pool } from "#kernel/postgres/pool.ts";
import { one, sql } from "#kernel/postgres/query.ts";
import { AttemptState } from "#proto/pamm/platform/v1/platform.ts";
import { legNumber, type LegNumber } from "../domain/leg-number.ts";
import { insertScan } from "../store/attempts.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

test("the attempts of a key say what was written and what came back, also when the answer was lost", async (context) => {
  const world = await aWorld(context);
  const { service, ...instance } = await world.start();
  const login = await anAccount({ ...instance, service });
  const [answered, lost] = [aDeposit(login, 100_00n, { comment: "CRM-1" }), aDeposit(login, 7_00n)];
  await service.transfer(answered, aCall());
  await world.control.fault({ command: "trade/balance", effect: "drop_after" });
  await service.transfer(lost, aCall());
  for (const startedAtMs of [1_000, 2_000]) {
    await insertScan(instance.deps.pool, await legUnder(instance.deps.pool, lost.key), 1, {
      startedAtMs,
      verdict: "clean",
      tickets: [],
    });
  }

  const { attempts } = await service.readAttempts({ keys: [lost.key, answered.key, "never"] }, aCall());
  const { transfers } = await service.readTransfers({ keys: [answered.key, lost.key] }, aCall());
  const deals = await world.control.deals(login);

  expect(attempts).toMatchObject([
    { key: answered.key, answerCode: 0, answer: "", searches: 0, searchedAt: undefined },
    { key: lost.key, answerCode: undefined, answer: "connection_lost", searches: 2, searchedAt: new Date(2_000) },
  ]);
  for (const [index, attempt] of attempts.entries()) {
    const [leg] = transfers[index]?.legs ?? [];
    const deal = deals[index];
    expect(attempt).toMatchObject({
      transferId: transfers[index]?.transferId,
      login,
      kind: leg?.kind,
      amount: leg?.amount,
      number: 1,
      reference: leg?.reference,
      comment: deal?.comment,
      dealId: leg?.dealId,
      state: AttemptState.APPLIED,
      endedAt: expect.any(Date),
    });
    expect(Number(attempt.permitExpiresAt)).toBeGreaterThan(Number(attempt.grantedAt));
  }
  await expect(service.readAttempts({ keys: [] }, aCall())).rejects.toMatchObject({ code: "validation_failed" });
});

async function legUnder(pool: Pool, key: string): Promise<LegNumber> {
  const { number } = await one<{ number: bigint }>(pool, sql`select number from recorded_leg where key = ${key}`);
  return legNumber(number);
}
