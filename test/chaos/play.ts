import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../journey/support/client.ts";
import type { Asked } from "../journey/support/asked.ts";
import type { Stage } from "./stage.ts";
import { startTraffic } from "./traffic.ts";
import type { Fault } from "./faults.ts";
import { judge, type Verdict } from "./verdict.ts";

export type Played = Verdict & {
  readonly name: string;
  readonly asked: readonly Asked[];
  /** How long the trouble lasted, and from its end until the first command that began after it was executed. */
  readonly lastedMs: number;
  readonly servedAfterMs: number;
};

/** Customers are at work before the trouble and after it. */
const BEFORE_MS = 700;
const AFTER_MS = 1_500;
const SERVED_WITHIN_MS = 60_000;

/** Lets something happen in the middle of the traffic and judges everything that the customers were told. */
export async function play(stage: Stage, { name, happen }: Fault): Promise<Played> {
  const { client, logins, all, quietPeriodMs } = stage;
  const traffic = startTraffic(client, logins);
  await sleep(BEFORE_MS);
  const since = performance.now();
  try {
    await happen(stage);
  } finally {
    await client.control("DELETE", "faults");
  }
  const lastedMs = performance.now() - since;
  const servedAfterMs = await untilServed(traffic.asked);
  await sleep(AFTER_MS);
  await traffic.end();
  all.push(...traffic.asked);
  const verdict = await judge(client, { asked: traffic.asked, all, quietPeriodMs });
  return { ...verdict, name, asked: traffic.asked, lastedMs, servedAfterMs };
}

async function untilServed(asked: readonly Asked[]): Promise<number> {
  const since = performance.now();
  const before = asked.length;
  await eventually(async () => {
    if (!asked.slice(before).some(({ said }) => said === "done")) throw new Error("nobody is served");
  }, SERVED_WITHIN_MS);
  return performance.now() - since;
}
