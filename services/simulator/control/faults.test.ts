import { expect, test } from "vitest";
import { type Simulator, startSimulator } from "../start.ts";
import { addUser, control, pay } from "../test/fixture.ts";
import { connectAuthenticated, connectRaw, type RawClient } from "../test/raw-client.ts";

/** Longer than any test waits. */
const MUCH_LATER_MS = 600_000;

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

test("drop_before: the connection closes and nothing was executed", async () => {
  await using simulator = await startSimulator();
  const { outcome, deals } = await payWithFaults(simulator, [{ effect: "drop_before" }]);
  expect([outcome, deals.length]).toEqual(["the connection was lost", 0]);
});

test("drop_after: the connection closes and the command was executed", async () => {
  await using simulator = await startSimulator();
  const { outcome, deals } = await payWithFaults(simulator, [{ effect: "drop_after" }]);
  expect([outcome, deals.length]).toEqual(["the connection was lost", 1]);
});

test("a dropped connection is reset, and its session ends", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  await control(simulator, "POST", "faults", { command: "test/access", effect: "drop_before" });
  const failure = new Promise<Error & { code?: string }>((resolve) => void client.socket.once("error", resolve));
  await expect(client.json("/api/test/access")).rejects.toThrow("was lost");
  expect((await failure).code).toBe("ECONNRESET");
  expect((await control(simulator, "GET", "stats")).body.sessions).toBe(0);
});

test("delay: executed at once, answered later", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  await control(simulator, "POST", "faults", { command: "trade/balance", effect: "delay", delay_ms: MUCH_LATER_MS });
  let isAnswered = false;
  const answer = pay(client, login, "1.00").finally(() => (isAnswered = true));
  await expect.poll(() => dealsOf(simulator, login)).toHaveLength(1);
  expect(isAnswered).toBe(false);
  await control(simulator, "POST", "faults/end");
  expect((await answer).retcode).toBe("0 Done");
});

test("late_apply: the connection closes at once, the command is executed later, also when faults are removed", async () => {
  await using simulator = await startSimulator();
  const late = await payWithFaults(simulator, [{ effect: "late_apply", delay_ms: MUCH_LATER_MS }]);
  expect([late.outcome, late.deals.length]).toEqual(["the connection was lost", 0]);
  expect((await control(simulator, "DELETE", "faults")).body).toEqual({ removed: 0 });
  expect(await dealsOf(simulator, late.login)).toEqual([]);
  expect((await control(simulator, "POST", "faults/end")).body).toEqual({});
  await expect.poll(() => dealsOf(simulator, late.login)).toHaveLength(1);
  const soon = await payWithFaults(simulator, [{ effect: "late_apply", delay_ms: 100 }]);
  await expect.poll(() => dealsOf(simulator, soon.login)).toHaveLength(1);
});

test("retcode: refused with that code, not executed", async () => {
  await using simulator = await startSimulator();
  const { outcome, deals } = await payWithFaults(simulator, [{ effect: "retcode:9" }]);
  expect([outcome, deals.length]).toEqual(["9 Operation timeout", 0]);
});

test("http: answered with that status without JSON, not executed, and the session remains", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  for (const status of [403, 500, 204, 302]) {
    await control(simulator, "POST", "faults", { command: "trade/balance", effect: `http:${status}` });
    const answer = await client.call(`/api/trade/balance?login=${login}&type=2&balance=1&comment=x`, {
      method: "POST",
    });
    expect(answer.status).toBe(status);
    expect(() => JSON.parse(answer.text)).toThrow();
  }
  expect(await dealsOf(simulator, login)).toEqual([]);
  expect((await client.json("/api/test/access")).retcode).toBe("0 Done");
});

test("hide_deal: executed and part of the balance, but not in the history until the end of its delay", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  await control(simulator, "POST", "faults", {
    command: "trade/balance",
    effect: "hide_deal",
    delay_ms: MUCH_LATER_MS,
  });
  const hidden = (await pay(client, login, "1.00")).answer.ticket;
  const shown = (await pay(client, login, "2.00")).answer.ticket;
  const period = "from=0&to=9999999999";
  const page = async (): Promise<string[]> => {
    const { answer } = await client.json(`/api/deal/get_page?login=${login}&${period}&offset=0&total=100`);
    return answer.map(({ Deal }: { Deal: string }) => Deal);
  };
  expect((await client.json(`/api/user/get?login=${login}`)).answer.Balance).toBe("3.00");
  expect(await page()).toEqual([shown]);
  expect((await client.json(`/api/deal/get?ticket=${hidden}`)).retcode).toBe("13 Not found");
  expect((await client.json(`/api/deal/get_total?login=${login}&${period}`)).answer.total).toBe("1");
  expect((await client.json(`/api/deal/get_batch?ticket=${hidden},${shown}`)).answer).toHaveLength(1);
  expect(await dealsOf(simulator, login)).toHaveLength(2);
  await control(simulator, "POST", "faults/end");
  expect(await page()).toEqual([hidden, shown]);
  await control(simulator, "POST", "faults", { command: "trade/balance", effect: "hide_deal", delay_ms: 100 });
  const soon = (await pay(client, login, "4.00")).answer.ticket;
  await expect.poll(page).toEqual([hidden, shown, soon]);
});

test("after the end of all faults none waits", async () => {
  await using simulator = await startSimulator();
  await control(simulator, "POST", "faults", { command: "trade/balance", effect: "drop_before" });
  await control(simulator, "POST", "faults/end");
  expect((await control(simulator, "GET", "faults")).body).toEqual([]);
  expect((await payWithFaults(simulator, [])).outcome).toBe("0 Done");
});

test("cut_comment: the comment is empty", async () => {
  await using simulator = await startSimulator();
  const { outcome, deals } = await payWithFaults(simulator, [{ effect: "cut_comment" }]);
  expect([outcome, deals.map(({ comment }) => comment)]).toEqual(["0 Done", [""]]);
});

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

test("effects that prevent the execution take precedence over those that execute now or later", async () => {
  await using simulator = await startSimulator();
  const dropped = await payWithFaults(simulator, [
    { effect: "drop_before" },
    { effect: "drop_after" },
    { effect: "hide_deal" },
  ]);
  expect([dropped.outcome, dropped.deals.length]).toEqual(["the connection was lost", 0]);
  const refused = await payWithFaults(simulator, [{ effect: "late_apply", delay_ms: 1 }, { effect: "retcode:3" }]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([refused.outcome, (await dealsOf(simulator, refused.login)).length]).toEqual(["the connection was lost", 0]);
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

test("an effect that does not apply to a command is ignored", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  for (const effect of ["hide_deal", "cut_comment"]) {
    await control(simulator, "POST", "faults", { command: "*", effect });
    expect(await retcodeOf(client)).toBe("0 Done");
  }
});

test("faults also apply to the handshake", async () => {
  await using simulator = await startSimulator();
  await control(simulator, "POST", "faults", { command: "auth/answer", effect: "http:403" });
  await expect(connectAuthenticated(simulator)).rejects.toThrow("HTTP 403");
  await using client = await connectAuthenticated(simulator);
  expect(await retcodeOf(client)).toBe("0 Done");
});

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
