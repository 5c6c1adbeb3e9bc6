import { expect, test } from "vitest";
import { type Simulator, startSimulator } from "../start.ts";
import { addUser, control, pay } from "../test/fixture.ts";
import { connectAuthenticated, connectRaw, type RawClient } from "../test/raw-client.ts";

type Fault = { command?: string; effect: string; times?: number; after?: number; delay_ms?: number };

/** Adds the faults, sends one payment and returns its outcome and the account. */
async function payWithFaults(simulator: Simulator, faults: readonly Fault[]) {
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  for (const fault of faults) await control(simulator, "POST", "faults", { command: "trade/balance", ...fault });
  const begin = Date.now();
  const outcome = await pay(client, login, "10.00").then(
    ({ retcode }) => retcode,
    (error: Error) => error.message,
  );
  return { login, outcome, tookMs: Date.now() - begin, deals: await dealsOf(simulator, login) };
}

async function dealsOf(simulator: Simulator, login: string): Promise<{ deal: number; comment: string }[]> {
  return (await control(simulator, "GET", `accounts/${login}/deals`)).body;
}

test("each fault counts its own calls, and all matching faults apply together", async () => {
  await using simulator = await startSimulator();
  const first = await payWithFaults(simulator, [
    { effect: "cut_comment", times: 2 },
    { effect: "drop_after" },
    { effect: "delay", delay_ms: 200 },
    { command: "*", effect: "retcode:10", after: 1 },
  ]);
  expect(first.outcome).toBe("the connection was lost");
  expect(first.deals).toMatchObject([{ comment: "" }]);
  expect(first.tookMs).toBeGreaterThanOrEqual(195);
  // The fault on * has let one call pass; of the others, one cut is left.
  expect((await control(simulator, "GET", "faults")).body).toEqual([
    { id: 1, command: "trade/balance", effect: "cut_comment", times: 1, after: 0, delay_ms: 1000 },
    { id: 4, command: "*", effect: "retcode:10", times: 1, after: 0, delay_ms: 1000 },
  ]);
});

test("after and times select the affected calls, and calls without a session do not count", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  await control(simulator, "POST", "faults", { command: "/api/user/total", effect: "retcode:12", after: 1, times: 2 });
  expect(await statusWithoutSession(simulator)).toBe(403);
  const codes: string[] = [];
  for (let index = 0; index < 4; index += 1) codes.push(await retcodeOf(client));
  expect(codes).toEqual(["0 Done", "12 Too frequent requests", "12 Too frequent requests", "0 Done"]);
  expect((await control(simulator, "GET", "faults")).body).toEqual([]);
});

async function retcodeOf(client: RawClient): Promise<string> {
  return (await client.json("/api/user/total")).retcode;
}

async function statusWithoutSession(simulator: Simulator): Promise<number> {
  await using unauthenticated = await connectRaw(simulator);
  return (await unauthenticated.call("/api/user/total")).status;
}

test("the number of faults is limited, and all faults can be removed", async () => {
  await using simulator = await startSimulator();
  for (let index = 0; index < 100; index += 1) {
    await control(simulator, "POST", "faults", { command: "*", effect: "delay" });
  }
  expect(await control(simulator, "POST", "faults", { command: "*", effect: "delay" })).toMatchObject({
    status: 409,
    body: { code: "too_many_faults" },
  });
  expect((await control(simulator, "DELETE", "faults")).body).toEqual({ removed: 100 });
  expect((await control(simulator, "POST", "faults", { command: "*", effect: "delay" })).body).toEqual({ id: 101 });
});
