import { afterAll, beforeAll, expect, test } from "vitest";
import { itemsOf, type JsonObject, objectOf, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, dealsOf, eventually, minorOf, type Reply } from "./support/client.ts";
import { deposit, expectDone, withdraw } from "./support/people.ts";
import { startTestSystem, type TestSystem } from "./support/system.ts";
import { bookResult, type Pool, pooled } from "./support/trading.ts";
import { untilNextWeek } from "./support/weeks.ts";

const PATIENCE = { timeout: 60_000 };
const START_PATIENCE_MS = 180_000;
const WEEK_MS = 6_000;

let system: TestSystem;
let client: Client;

beforeAll(async () => {
  system = await startTestSystem({ PAMM_FEE_PERIOD: `PT${WEEK_MS / 1_000}S`, PAMM_CHECK_INTERVAL: "PT1S" });
  client = clientOf(system);
}, START_PATIENCE_MS);
afterAll(() => system[Symbol.asyncDispose](), START_PATIENCE_MS);

const proofOf = ({ login }: Pool, seconds = 20): Promise<Reply> =>
  client.get(`/api/v1/info/master/${login}/proof?wait=${seconds}`);

const breaks = (): Promise<Reply> => client.get("/api/v1/ops/breaks?limit=100");

const cents = (sums: JsonObject, name: string): bigint => minorOf(textOf(sums, name));

/** Each account of the proof: what it shows is what the books say, and nothing else is anywhere. */
async function expectConverged(pool: Pool, expected: Readonly<Record<string, string>>): Promise<void> {
  const { status, body, text } = await proofOf(pool);
  expect(status, text).toBe(200);
  expect(body["converged"], text).toBe(true);
  const accounts = [objectOf(body, "master"), ...itemsOf(body["investors"] ?? [])];
  const found = accounts.map((account) => [textOf(account, "mt5_login"), cents(account, "platform_balance")]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(expected).map(([login, amount]) => [login, minorOf(amount)])),
  );
  for (const account of accounts) {
    expect(cents(account, "ledger_balance")).toBe(cents(account, "platform_balance"));
    for (const name of ["in_flight", "quarantined", "difference"]) expect(cents(account, name)).toBe(0n);
  }
  const total = Object.values(expected).reduce((sum, amount) => sum + minorOf(amount), 0n);
  expect(cents(objectOf(body, "total"), "platform_balance")).toBe(total);
}

test("from the first deposit over a fee week to a withdrawal everything of a Master ties", PATIENCE, async () => {
  const pool = await pooled(client, ["10000", "5000"]);
  const [first = "", second = ""] = pool.investors;
  await expectConverged(pool, { [pool.login]: "15000", [first]: "10000", [second]: "5000" });

  await untilNextWeek(system);
  await bookResult(client, pool.login, "1500");
  // 30 % of the profit of the week is taken when it is over.
  await eventually(async () => {
    await expectConverged(pool, { [pool.login]: "16050", [first]: "10700", [second]: "5350" });
  });
  await expectDone(deposit(client, second, "650", "more"));
  await expectDone(withdraw(client, first, "700"));
  await expectConverged(pool, { [pool.login]: "16000", [first]: "10000", [second]: "6000" });
  const { body } = await breaks();
  expect(itemsOf(body["items"] ?? [])).toEqual([]);
});

test("a dealer's deposit is quarantined, and a proof that waits for it does not converge", PATIENCE, async () => {
  const pool = await pooled(client, ["1000"]);
  await client.control("POST", "balance", { login: pool.login, amount: "25.00", comment: "dealer" });
  await eventually(async () => {
    const { body } = await proofOf(pool, 1);
    expect(cents(objectOf(body, "master"), "quarantined")).toBe(25_00n);
    expect(cents(objectOf(body, "master"), "difference")).toBe(0n);
    expect(body["converged"]).toBe(false);
  });
});

test("a deal that the platform loses is a break, stops its Master and nobody else", PATIENCE, async () => {
  const [pool, other] = [await pooled(client, ["1000"]), await pooled(client, ["2000"])];
  const [mirror] = await dealsOf(client, pool.login);
  await client.control("DELETE", `deals/${mirror?.ticket}`);

  const found = await eventually(async () => {
    const { body } = await breaks();
    const own = itemsOf(body["items"] ?? []).find((each) => textOf(each, "key").startsWith(`deal_gone:${pool.login}:`));
    expect(own).toBeDefined();
    return own ?? {};
  });
  expect(textOf(found, "check")).toBe("R3");
  expect(textOf(found, "master_login")).toBe(pool.login);
  expect(cents(found, "at_risk")).toBe(1_000_00n);
  await eventually(async () => {
    const { status, body } = await withdraw(client, pool.investors[0] ?? "", "1");
    expect([status, textOf(body, "code"), textOf(body, "outcome")]).toEqual([503, "safety_stop", "not_executed"]);
  });
  await expectDone(withdraw(client, other.investors[0] ?? "", "1"));
});

test("every check is complete, none is stale, and everybody answers", PATIENCE, async () => {
  await eventually(async () => {
    const { body, text } = await breaks();
    const checks = itemsOf(body["checks"] ?? []);
    const names = checks.map((check) => textOf(check, "check"));
    expect(names.toSorted(), text).toEqual([
      "R1",
      "R10",
      "R12",
      "R2",
      "R3",
      "R4a",
      "R4b",
      "R5",
      "R6",
      "R7",
      "R9",
      "R9b",
    ]);
    for (const check of checks) {
      expect(check["completed_at"], text).not.toBeNull();
      expect(check["stale"], text).toBe(false);
      expect(check["error"], text).toBeNull();
    }
    expect(body["unreachable"]).toEqual([]);
  });
});
