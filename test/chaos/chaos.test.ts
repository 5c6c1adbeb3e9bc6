import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type FaultRun, runFault } from "./run-fault.ts";
import { table } from "./report.ts";
import { startSystemUnderTest, type SystemUnderTest } from "./system-under-test.ts";
import { type Fault, FAULTS } from "./faults.ts";

const START_TIMEOUT_MS = 180_000;
const TIMEOUT = { timeout: 300_000 };

/** The fault of each kind that finds most defects. `make proof` runs all faults, in ten minutes. */
const USUAL = ["kill -9 platform", "JetStream's files deleted", "answer lost, command executed", "applied late"];

const chosen = FAULTS.filter(({ name }) => IS_PROOF || USUAL.includes(name));

describe("after each fault every answer is correct and no transfer is executed twice", () => {
  let tested: SystemUnderTest & AsyncDisposable;
  const runs: FaultRun[] = [];

  beforeAll(async () => {
    tested = await startSystemUnderTest();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    if (IS_PROOF) process.stdout.write(`\n${table(runs)}\n`);
    await tested[Symbol.asyncDispose]();
  }, START_TIMEOUT_MS);

  test.each(chosen.map((fault): [string, Fault] => [fault.name, fault]))("%s", TIMEOUT, async (_, fault) => {
    const result = await runFault(tested, fault);
    runs.push(result);
    countFigures({ "commands sent": result.requests.length, "wrong answers": result.wrongAnswers.length });
    expect(result.wrongAnswers).toEqual([]);
    expect(result.requests.some(({ answer }) => answer === "done")).toBe(true);
  });
});
