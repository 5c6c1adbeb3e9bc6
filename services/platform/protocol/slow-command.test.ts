import { expect, test } from "vitest";
import { SECOND_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { aDeposit } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, type Instance, aProcess } from "../testing/world.ts";

/** The platform leaves a command unanswered until the test ends its faults. */
const SLOW = { command: "trade/balance", effect: "delay", delay_ms: 600_000, times: 1 };
/** No session gives up the slow command before that. */
const PATIENT_MS = 60 * SECOND_MS;
/** After these the platform counts as fast, and a session is given several commands at once. */
const FAST_ANSWERS = 20;
async function accountsOnAFastPlatform(instance: Instance, count: number): Promise<string[]> {
  const logins: string[] = [];
  for (let account = 0; account < count; account += 1) logins.push(await anAccount(instance));
  for (let answer = 0; answer < FAST_ANSWERS; answer += 1) {
    await instance.service.transfer(aDeposit(logins[answer % count]!, 1_00n), aCall());
  }
  return logins;
}

/** Deposits that are requested at the same time, and those that have ended. */
function depositAll({ service }: Instance, logins: readonly string[]) {
  const ended: TransferState[] = [];
  const all = Promise.all(
    logins.map(async (login) => {
      const result = await service.transfer(aDeposit(login, 2_00n), aCall());
      ended.push(result.state);
      return result;
    }),
  );
  return { ended, all };
}

test("a command that the platform leaves unanswered delays no other account while a session is free", async (context) => {
  const { world, instance } = await aProcess(context, { hasJobs: false, commandTimeoutMs: PATIENT_MS });
  const logins = await accountsOnAFastPlatform(instance, 8);
  await world.control.fault(SLOW);

  const { ended, all } = depositAll(instance, logins);

  await expect.poll(() => ended.length).toBe(7);
  expect(new Set(ended)).toEqual(new Set([TransferState.APPLIED]));
  await world.control.endFaults();
  await all;
});

test("a session that is lost with its command takes no command of another account with it", async (context) => {
  const { world, instance } = await aProcess(context);
  const logins = await accountsOnAFastPlatform(instance, 8);
  await world.control.fault({ command: "trade/balance", effect: "drop_after", times: 1 });

  await depositAll(instance, logins.slice(1)).all;

  const lost = sql`select number from attempt where answer = 'connection_lost'`;
  expect(await many(instance.deps.pool, lost)).toHaveLength(1);
});

test("a deposit that no session sends in time is refused because of the platform, not because of its account", async (context) => {
  const world = await aWorld(context);
  const settings = { turnWaitMs: 500 };
  const instance = await world.start({ sessions: 1, commandTimeoutMs: PATIENT_MS, sessionWaitMs: 500, settings });
  const [slow, ...logins] = (await accountsOnAFastPlatform(instance, 4)) as [string, ...string[]];
  await world.control.fault(SLOW);
  const held = instance.service.transfer(aDeposit(slow, 2_00n), aCall(PATIENT_MS));
  await expect.poll(() => instance.deps.inFlight.size).toBe(1);

  const deposits = await depositAll(instance, logins).all;

  expect(deposits).toMatchObject(logins.map(() => ({ state: TransferState.REFUSED, refusalCode: "expired" })));
  await world.control.endFaults();
  expect((await held).state).toBe(TransferState.APPLIED);
});
