import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newInvestor } from "../journey/support/client-requests.ts";
import { pooled } from "../journey/support/trading.ts";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { table } from "./report.ts";
import { type Customers, type FaultRun, runFault } from "./run-fault.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

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
  const runs: FaultRun[] = [];

  beforeAll(async () => {
    const { client } = tested();
    const { investors } = await pooled(client, POOLED);
    const outside = await Promise.all(OUTSIDE.map((capital) => newInvestor(client, capital)));
    customers = { logins: [...investors, ...outside], all: [] };
  }, START_TIMEOUT_MS);
  afterAll(() => {
    if (IS_PROOF) process.stdout.write(`\n${table(runs)}\n`);
  });

  test.each(chosen.map((fault): [string, Fault] => [fault.name, fault]))("%s", TIMEOUT, async (_, fault) => {
    const result = await runFault(tested(), customers, fault);
    runs.push(result);
    countFigures({ "commands sent": result.requests.length, "wrong answers": result.wrongAnswers.length });
    expect(result.wrongAnswers).toEqual([]);
    expect(result.requests.some(({ answer }) => answer === "done")).toBe(true);
  });
}
