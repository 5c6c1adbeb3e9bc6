import { expect, test } from "vitest";
import { ALL_RIGHTS, MANAGER_RIGHT } from "#test/support/simulator.ts";
import { startPlatformServer } from "./testing/platform-server.ts";
import { byPath, done } from "./testing/answering.ts";
import { startScriptedServer } from "./testing/scripted-server.ts";
import { aClient } from "./testing/test-client.ts";

const INVESTORS = String.raw`pamm\investor`;
const GROUPS = [INVESTORS, String.raw`pamm\master`];
const without = (...missing: number[]) => ALL_RIGHTS.filter((right) => !missing.includes(right));

test("a manager with all rights lacks nothing, and no command is sent to find that out", async () => {
  await using platform = await startPlatformServer();
  using client = platform.client();
  await platform.account("5.00");
  expect(await client.probeRights(GROUPS)).toEqual({ needed: [], limiting: [], unchecked: [] });
  const { calls } = await platform.control<{ calls: Record<string, number> }>("GET", "stats");
  const reads = ["deal/get_total", "group/get", "tick/last", "user/get", "user/logins"];
  expect(Object.keys(calls).toSorted()).toEqual(["auth/answer", "auth/start", ...reads]);
});

test("each missing right that money depends on is named", async () => {
  const { readAccounts, readTrades } = MANAGER_RIGHT;
  const cases: [number[], string[]][] = [
    [[readTrades], ["orders, deals and positions"]],
    [[readAccounts], ["'Access to accounts'"]],
  ];
  for (const [missing, named] of cases) {
    await using platform = await startPlatformServer({ managerRights: without(...missing) });
    await platform.account("5.00");
    using client = platform.client();
    const { needed } = await client.probeRights(GROUPS);
    expect(
      needed.map((text, index) => text.includes(named[index] ?? "?")),
      needed.join(),
    ).toEqual(named.map(() => true));
  }
});

test("a group that the manager does not see, and a manager without any account, only limit the service", async () => {
  await using platform = await startPlatformServer({ managerRights: without(MANAGER_RIGHT.readTrades) });
  using client = platform.client();
  expect(await client.probeRights([...GROUPS, "other"])).toEqual({
    needed: [],
    limiting: [expect.stringContaining("group other, which the manager does not see")],
    unchecked: [expect.stringContaining("there is no account")],
  });
});

const probed = (answers: Parameters<typeof byPath>[0]) => byPath(answers).probeRights([INVESTORS]);
const USD = done({ Group: INVESTORS, Currency: "USD", CurrencyDigits: "2" });
const ANSWERS = { "group/get": USD, "user/logins": done(["7"]), "user/get": done({ Login: "7" }) };

test("HTTP 403 is a missing right, and any other refusal is none", async () => {
  const forbidden = await probed({ ...ANSWERS, "deal/get_total": { status: 403 } });
  expect(forbidden.needed).toEqual([expect.stringContaining("deal/get_total is refused")]);
  for (const code of [3, 4, 13, 4005, 10_019]) {
    const { needed, limiting } = await probed({ ...ANSWERS, "deal/get_total": `{"retcode":"${code} No"}` });
    expect([needed, limiting]).toEqual([[], []]);
  }
});

test("a group in another currency, or with other digits, cannot be used", async () => {
  for (const [Currency, CurrencyDigits] of [
    ["JPY", "0"],
    ["USD", "4"],
  ]) {
    const { needed } = await probed({ ...ANSWERS, "group/get": done({ Group: INVESTORS, Currency, CurrencyDigits }) });
    expect(needed).toEqual([expect.stringContaining(`it is in ${Currency} with ${CurrencyDigits}`)]);
  }
});

test("a manager who may not read prices limits what is valued, and the start says so", async () => {
  for (const refused of [{ status: 403 }, '{"retcode":"8 Not enough permissions"}']) {
    const { needed, limiting } = await probed({
      ...ANSWERS,
      "tick/last": refused,
    });
    expect([needed, limiting]).toEqual([[], [expect.stringContaining("tick/last is refused")]]);
  }
});

test("a platform that does not answer proves nothing about rights", async () => {
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path !== "group/get") return undefined;
    connection.raw.resetAndDestroy();
    return "nothing";
  });
  using client = aClient(server, { maxSessions: 1 });
  await expect(client.probeRights([INVESTORS])).rejects.toMatchObject({ problem: "lost" });
});
