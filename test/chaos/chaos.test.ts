import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countFigures } from "../support/figures.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type Played, play } from "./play.ts";
import { table } from "./report.ts";
import { aStage, type Stage } from "./stage.ts";
import { type Fault, FAULTS } from "./faults.ts";

const START_TIMEOUT_MS = 180_000;
const TIMEOUT = { timeout: 300_000 };

/** `make proof` runs all of them, for a quarter of an hour. These are of each kind the one that finds most. */
const USUAL = [
  "kill -9 platform",
  "kill -9 postgres",
  "JetStream's files deleted",
  "answer lost after",
  "applied late",
];

const chosen = FAULTS.filter(({ name }) => IS_PROOF || USUAL.includes(name));

describe("whatever happens while money moves, every answer is true and no movement is made twice", () => {
  let stage: Stage & AsyncDisposable;
  const played: Played[] = [];

  beforeAll(async () => {
    stage = await aStage();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    if (IS_PROOF) process.stdout.write(`\n${table(played)}\n`);
    await stage[Symbol.asyncDispose]();
  }, START_TIMEOUT_MS);

  test.each(chosen.map((fault): [string, Fault] => [fault.name, fault]))("%s", TIMEOUT, async (_, fault) => {
    const result = await play(stage, fault);
    played.push(result);
    countFigures({ "commands asked": result.asked.length, "broken promises": result.broken.length });
    expect(result.broken).toEqual([]);
    expect(result.asked.some(({ said }) => said === "done")).toBe(true);
  });
});
