import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { codeOf } from "./metrics.ts";
import { startPlatformServer } from "./testing/platform-server.ts";
import { anOrder } from "./testing/test-client.ts";

async function callsOf(command: string): Promise<Record<string, number>> {
  const values = await metricValues("pamm_platform_calls_total");
  const own = Object.entries(values).filter(([labels]) => labels.startsWith(`${command},`));
  return Object.fromEntries(own.map(([labels, value]) => [labels.slice(command.length + 1), value]));
}

test("calls of the platform are counted by command and return code, and a lost answer as lost", async () => {
  await using server = await startPlatformServer();
  using client = server.client();
  const login = await server.account("10.00");
  const callsBefore = await callsOf("trade/balance");
  const secondsBefore = (await metricValues("pamm_platform_call_duration_seconds"))["trade/balance"] ?? 0;
  const move = async (amountMinor: bigint) => {
    using session = await client.acquireForCommand();
    expect(await metricValues("pamm_platform_sessions")).toMatchObject({ in_use: 1 });
    return await session.changeBalance(anOrder({ login, amountMinor }));
  };

  expect(await move(5_00n)).toMatchObject({ kind: "applied" });
  expect(await move(-500_00n)).toMatchObject({ kind: "refused", code: 10_019 });
  await server.fault("trade/balance", "drop_after");
  expect(await move(1_00n)).toMatchObject({ kind: "unknown" });

  // Other tests of the same process have made calls, too.
  const calls = Object.entries(await callsOf("trade/balance")).map(
    ([code, count]) => [code, count - (callsBefore[code] ?? 0)] as const,
  );
  expect(Object.fromEntries(calls.filter(([, count]) => count > 0))).toEqual({
    "0": 1,
    "10019": 1,
    connection_lost: 1,
  });
  expect(await callsOf("auth/answer")).toMatchObject({ "0": expect.any(Number) as number });
  const seconds = await metricValues("pamm_platform_call_duration_seconds");
  expect((seconds["trade/balance"] ?? 0) - secondsBefore).toBe(3);
  expect(await metricValues("pamm_platform_sessions_max")).toEqual({ "": 4 });
  const [expires] = Object.values(await metricValues("pamm_platform_certificate_expires_timestamp_seconds"));
  expect(expires).toBeGreaterThan(Date.now() / 1_000);
});

test.each([
  ['{"retcode":"0 Done","answer":{}}', "0"],
  ['{ "Retcode" : 3004 }', "3004"],
  [`{"answer":[${'{"Login":"1"},'.repeat(500)}{}],"retcode":"13 Not found"}`, "13"],
  ['{"retcode":"987654 what is this"}', "other"],
  ["<html>", "unreadable"],
])("the label of %s is %s", (body, code) => {
  const answer = { status: 200, headers: new Map(), body: Buffer.from(body), keepsAlive: true };
  expect(codeOf({ kind: "answered", answer })).toBe(code);
});
