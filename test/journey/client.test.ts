import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../services/client/client.ts";
import { type Client, clientOf, dealsOf } from "./support/client.ts";
import { newInvestor } from "./support/client-requests.ts";
import {
  type FaultyEdge,
  loseAnswer,
  loseRequest,
  startFaultyEdge,
  unavailable,
  unknownOutcome,
} from "./support/faulty-edge.ts";
import { cleanEnvironment, run } from "./support/running.ts";
import { makeRunFolder } from "../support/run-folder.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import type { RunningSystem } from "./support/system.ts";

const PACKAGE = join(import.meta.dirname, "../../services/client");
const DEPOSIT = "/api/v1/investor/deposit";

let system: RunningSystem;
let platform: Client;
let edge: FaultyEdge;

beforeAll(async () => {
  system = await sharedSystem();
  platform = clientOf(system);
  edge = await startFaultyEdge(system.info().url);
}, START_TIMEOUT_MS);
afterAll(async () => edge[Symbol.asyncDispose]());

test("a deposit is executed once and its deal is returned, whatever happens to its requests and answers", async () => {
  const faults = [loseRequest, unavailable, loseAnswer, unavailable, unknownOutcome, loseAnswer];
  const login = await newInvestor(platform);
  edge.meet(DEPOSIT, ...faults);
  const before = edge.seen.length;
  const result = await createClient({ baseUrl: edge.url, apiKey: system.info().apiKey }).command("depositFunds", {
    query: { login, amount: "250.50", comment: "CRM-7" },
  });

  if (result.outcome !== "executed") throw new Error(result.outcome);
  const deals = await dealsOf(platform, login);
  expect(deals.map(({ minor }) => minor)).toEqual([250_50n]);
  expect([result.answer.deal_id, result.answer.amount]).toEqual([BigInt(deals[0]?.ticket ?? 0), "250.5"]);
  const attempts = edge.seen.slice(before).filter((line) => line.startsWith(`POST ${DEPOSIT}`));
  expect(attempts).toEqual(Array.from({ length: faults.length + 1 }, () => `POST ${DEPOSIT} ${result.idempotencyKey}`));
  const lookUps = edge.seen.slice(before).filter((line) => line.startsWith("GET /api/v1/operations/"));
  expect(lookUps).toHaveLength(1);
});

test("the program of the README runs, and says what happened", async () => {
  const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
  const [, sample = ""] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  using folder = makeRunFolder();
  const file = join(folder.path, "sample.mts");
  writeFileSync(file, sample.replace('"pamm-integration-client"', JSON.stringify(join(PACKAGE, "index.ts"))));
  const { url, apiKey } = system.info();
  const env = { ...cleanEnvironment(), PAMM_URL: url, PAMM_API_KEY: apiKey, NODE_NO_WARNINGS: "1" };
  const { ended, output } = run([process.execPath, file], env);

  expect(await ended, output()).toBe(0);
  expect(output().trim().split("\n")).toEqual([
    "deposited 25050n cents",
    "balance 250.5",
    "deposit executed",
    "no fee configuration",
  ]);
});
