import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "../../services/client/client.ts";
import { isProblem } from "../../services/client/errors.ts";
import { type Client, clientOf, dealsOf } from "./support/client.ts";
import { newInvestor } from "./support/client-requests.ts";
import {
  type Fault,
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
const WITHDRAW = "/api/v1/investor/withdraw";

let system: RunningSystem;
let platform: Client;
let edge: FaultyEdge;
let login: string;

beforeAll(async () => {
  system = await sharedSystem();
  platform = clientOf(system);
  edge = await startFaultyEdge(system.info().url);
}, START_TIMEOUT_MS);
afterAll(async () => edge[Symbol.asyncDispose]());
beforeEach(async () => {
  login = await newInvestor(platform);
});

const pamm = () => createClient({ baseUrl: edge.url, apiKey: system.info().apiKey });
const deposited = async (): Promise<bigint[]> => (await dealsOf(platform, login)).map(({ minor }) => minor);

const FAULTS: readonly (readonly [string, readonly Fault[]])[] = [
  ["the answer is lost after the request was executed", [loseAnswer]],
  ["the request is lost", [loseRequest]],
  ["the service is unavailable, and then is not", [unavailable]],
  ["the outcome is unknown, and the ledger knows it", [unknownOutcome]],
  ["all of them happen", [loseRequest, unavailable, loseAnswer, unavailable, unknownOutcome, loseAnswer]],
];

test.each(FAULTS)("when %s, a deposit is executed once and its deal is returned", async (_, faults) => {
  edge.meet(DEPOSIT, ...faults);
  const before = edge.seen.length;
  const result = await pamm().command("depositFunds", { query: { login, amount: "250.50", comment: "CRM-7" } });

  if (result.outcome !== "executed") throw new Error(result.outcome);
  const deals = await dealsOf(platform, login);
  expect(deals.map(({ minor }) => minor)).toEqual([250_50n]);
  expect([result.answer.deal_id, result.answer.amount]).toEqual([BigInt(deals[0]?.ticket ?? 0), "250.5"]);
  const attempts = edge.seen.slice(before).filter((line) => line.startsWith(`POST ${DEPOSIT}`));
  expect(attempts).toEqual(Array.from({ length: faults.length + 1 }, () => `POST ${DEPOSIT} ${result.idempotencyKey}`));
  const lookUps = edge.seen.slice(before).filter((line) => line.startsWith("GET /api/v1/operations/"));
  expect(lookUps.length).toBe(faults.filter((fault) => fault === unknownOutcome).length);
});

test("a withdrawal whose call ended is found under its key, and paid once", async () => {
  await pamm().command("depositFunds", { query: { login, amount: "80.10" } });
  const withdrawal = { query: { login, amount: "30.05", comment: "CRM-8" } };
  edge.meet(WITHDRAW, loseAnswer, unavailable, unavailable);
  const ended = await pamm().command("withdrawFunds", withdrawal, { idempotencyKey: `order-${login}`, timeoutMs: 900 });
  expect(ended.outcome).toBe("unknown");

  const found = await pamm().command("withdrawFunds", withdrawal, { idempotencyKey: ended.idempotencyKey });
  expect(found).toMatchObject({ outcome: "executed", answer: { status: "success", effective_withdraw: "30.05" } });
  expect(await deposited()).toEqual([80_10n, -30_05n]);
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

test("a refusal has its code, and nothing is moved", async () => {
  const finer = await pamm().command("depositFunds", { query: { login, amount: "1.005" } });
  expect(finer).toMatchObject({ outcome: "not_executed", problem: { code: "amount_precision" } });
  const error: unknown = await pamm()
    .query("getFeeConfiguration", { path: { investor_login: login } })
    .catch((thrown) => thrown);

  expect(isProblem(error, "fee_configuration_not_found")).toBe(true);
  expect(await deposited()).toEqual([]);
});

test("a list is read in pages of the wanted size, newest first", async () => {
  for (const amount of ["1", "2", "3"]) await pamm().command("depositFunds", { query: { login, amount } });
  const before = edge.seen.length;
  const amounts: (string | null)[] = [];
  for await (const { amount } of pamm().items("listOperations", { query: { login, limit: 1 } })) amounts.push(amount);

  expect(amounts).toEqual(["3", "2", "1"]);
  expect(edge.seen.length - before).toBe(3);
});
