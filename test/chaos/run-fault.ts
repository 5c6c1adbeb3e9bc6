import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../journey/support/client.ts";
import type { AnsweredRequest } from "../journey/support/money-request.ts";
import { QUIET_PERIOD_MS, type SystemUnderTest } from "./system-under-test.ts";
import { startTraffic } from "./traffic.ts";
import type { Fault } from "./faults.ts";
import { checkAnswers, type Verdict } from "./verdict.ts";

export type FaultRun = Verdict & {
  readonly name: string;
  readonly requests: readonly AnsweredRequest[];
  /** The duration of the fault, and the time from its end until a command that was sent afterwards is executed. */
  readonly lastedMs: number;
  readonly servedAfterMs: number;
};

/** Who moves money during the faults. */
export type Customers = {
  readonly logins: readonly string[];
  /** All requests of theirs. */
  readonly all: AnsweredRequest[];
};

/** Traffic runs before and after the fault. */
const BEFORE_MS = 700;
const AFTER_MS = 1_500;
const SERVED_WITHIN_MS = 60_000;

/** Injects a fault during traffic, then checks every answer that customers received. */
export async function runFault(
  tested: SystemUnderTest,
  { logins, all }: Customers,
  { name, inject }: Fault,
): Promise<FaultRun> {
  const { client } = tested;
  const traffic = startTraffic(client, logins);
  await sleep(BEFORE_MS);
  const since = performance.now();
  try {
    await inject(tested);
  } finally {
    await client.control("DELETE", "faults");
  }
  const lastedMs = performance.now() - since;
  const servedAfterMs = await untilServed(traffic.requests);
  await sleep(AFTER_MS);
  await traffic.end();
  all.push(...traffic.requests);
  const verdict = await checkAnswers(client, { requests: traffic.requests, all, quietPeriodMs: QUIET_PERIOD_MS });
  return { ...verdict, name, requests: traffic.requests, lastedMs, servedAfterMs };
}

async function untilServed(requests: readonly AnsweredRequest[]): Promise<number> {
  const since = performance.now();
  const before = requests.length;
  await eventually(async () => {
    if (!requests.slice(before).some(({ answer }) => answer === "done")) throw new Error("no command is executed");
  }, SERVED_WITHIN_MS);
  return performance.now() - since;
}
