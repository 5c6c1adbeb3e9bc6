import { expect, test } from "vitest";
import { SECOND_MS } from "#kernel/duration.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, type Instance } from "../testing/world.ts";

/** How long the platform leaves a command unanswered. */
const SLOW = { command: "trade/balance", effect: "delay", delay_ms: 8 * SECOND_MS };
/** After these the platform counts as fast, and a session is given several commands at once. */
const FAST_ANSWERS = 20;
/** A busy machine included; far below the time of the slow command. */
const SOON_MS = 3 * SECOND_MS;

async function accountsOnAFastPlatform(instance: Instance, count: number): Promise<string[]> {
  const logins: string[] = [];
  for (let account = 0; account < count; account += 1) logins.push(await anAccount(instance));
  for (let answer = 0; answer < FAST_ANSWERS; answer += 1) {
    await instance.service.transfer(aDeposit(logins[answer % count]!, 1_00n), aCall());
  }
  return logins;
}

/** Deposits that are requested at the same time, each with how long it took. */
async function depositAll({ service }: Instance, logins: readonly string[]) {
  return await Promise.all(
    logins.map(async (login) => {
      const startedMs = performance.now();
      const { state, refusalCode } = await service.transfer(aDeposit(login, 2_00n), aCall());
      return { state, refusalCode, ms: performance.now() - startedMs };
    }),
  );
}

test("a command that the platform leaves unanswered delays no other account while a session is free", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false, commandTimeoutMs: 10 * SECOND_MS });
  const logins = await accountsOnAFastPlatform(instance, 8);
  await world.control.fault({ ...SLOW, times: 1 });

  const deposits = await depositAll(instance, logins);

  const quick = deposits.filter(({ ms }) => ms < SOON_MS);
  expect(quick.map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => TransferState.APPLIED));
});

test("a session that is lost with its command takes no command of another account with it", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ hasJobs: false });
  const logins = await accountsOnAFastPlatform(instance, 8);
  await world.control.fault({ command: "trade/balance", effect: "drop_after", times: 1 });

  const deposits = await depositAll(instance, logins.slice(1));

  expect(deposits.filter(({ state }) => state === TransferState.APPLIED).length).toBeGreaterThanOrEqual(6);
});

test("a deposit that no session sends in time is refused because of the platform, not because of its account", async (context) => {
  const world = await aWorld(context);
  const instance = await world.start({ sessions: 1, commandTimeoutMs: 10 * SECOND_MS });
  const [slow, ...logins] = (await accountsOnAFastPlatform(instance, 4)) as [string, ...string[]];
  await world.control.fault({ ...SLOW, times: 1 });
  const held = instance.service.transfer(aDeposit(slow, 2_00n), aCall(12_000));
  await expect.poll(() => instance.deps.inFlight.size).toBe(1);

  const deposits = await depositAll(instance, logins);

  expect(deposits).toMatchObject(logins.map(() => ({ state: TransferState.REFUSED, refusalCode: "expired" })));
  expect((await held).state).toBe(TransferState.APPLIED);
});
