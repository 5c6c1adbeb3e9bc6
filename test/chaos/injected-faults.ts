import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../journey/support/client.ts";
import { newInvestor } from "../journey/support/client-requests.ts";
import { pooled } from "../journey/support/trading.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { QUIET_PERIOD_MS, type SystemUnderTest } from "./system-under-test.ts";
import { type AnsweredRequest, startTraffic } from "./traffic.ts";
import { findWrongAnswers } from "./verdict.ts";

const START_TIMEOUT_MS = 180_000;
const TIMEOUT = { timeout: 300_000 };
/** The capital of the Investors in a pool, and of those without a Master. */
const POOLED = ["1000", "2000"];
const OUTSIDE = ["500", "500"];

/** The fault of each kind that finds most defects. `make proof` runs all faults, in ten minutes. */
const USUAL = ["kill -9 platform", "JetStream's files deleted", "answer lost, command executed", "applied late"];

const chosen = FAULTS.filter(({ name }) => IS_PROOF || USUAL.includes(name));

/** After each fault every answer is correct, and no transfer is executed twice. */
export function injectedFaults(tested: () => SystemUnderTest): void {
  let customers: Customers;

  beforeAll(async () => {
    const { client } = tested();
    const { investors } = await pooled(client, POOLED);
    const outside = await Promise.all(OUTSIDE.map((capital) => newInvestor(client, capital)));
    customers = { logins: [...investors, ...outside], all: [] };
  }, START_TIMEOUT_MS);

  test.each(chosen.map((fault): [string, Fault] => [fault.name, fault]))("%s", TIMEOUT, async (_, fault) => {
    const result = await runFault(tested(), customers, fault);
    countFigures({ "commands sent": result.requests.length, "wrong answers": result.wrongAnswers.length });
    expect(result.wrongAnswers).toEqual([]);
    expect(result.requests.some(({ answer }) => answer === "done")).toBe(true);
  });
}

type FaultRun = {
  readonly requests: readonly AnsweredRequest[];
  /** One sentence for each. */
  readonly wrongAnswers: readonly string[];
};

/** Who moves money during the faults. */
type Customers = {
  readonly logins: readonly string[];
  /** All requests of theirs. */
  readonly all: AnsweredRequest[];
};

/** Traffic runs before and after the fault. */
const BEFORE_MS = 700;
const AFTER_MS = 1_500;
const SERVED_WITHIN_MS = 60_000;

/** Injects a fault during traffic, then checks every answer that customers received. */
async function runFault(tested: SystemUnderTest, { logins, all }: Customers, { inject }: Fault): Promise<FaultRun> {
  const { client } = tested;
  const traffic = startTraffic(client, logins);
  await sleep(BEFORE_MS);
  try {
    await inject(tested);
  } finally {
    await client.control("DELETE", "faults");
  }
  await untilServed(traffic.requests);
  await sleep(AFTER_MS);
  await traffic.end();
  all.push(...traffic.requests);
  const { requests } = traffic;
  return { requests, wrongAnswers: await findWrongAnswers(client, { requests, all, quietPeriodMs: QUIET_PERIOD_MS }) };
}

/** Until a command that was sent afterwards is executed. */
async function untilServed(requests: readonly AnsweredRequest[]): Promise<void> {
  const before = requests.length;
  await eventually(async () => {
    if (!requests.slice(before).some(({ answer }) => answer === "done")) throw new Error("no command is executed");
  }, SERVED_WITHIN_MS);
}
