import { expect, test } from "vitest";
import { type RunningSystem, startupBanner } from "./startup-banner.ts";

const SYSTEM: RunningSystem = {
  url: "http://127.0.0.1:8080",
  apiKey: "pamm_dev_1",
  simulatorControlUrl: "http://127.0.0.1:8444",
  metricsUrl: "http://127.0.0.1:9090/metrics",
  metricsUrls: { account: "", edge: "", fee: "", funding: "", platform: "", subscription: "" },
  stateDir: "/state",
  feePeriodMs: 604_800_000,
  feeAnchor: "2025-01-04T00:00:00.000Z",
  edgeDatabaseUrl: null,
  natsUrl: null,
  natsCaFile: null,
  pepperFile: null,
};

test("with the simulator the example requests create an Investor in its group and deposit", () => {
  const banner = startupBanner(SYSTEM, { MT5_INVESTOR_GROUPS: "real\\inv,other" });
  expect(banner).toContain("/api/v1/investor/create");
  expect(banner).toContain('"platform_group":"real\\\\inv"');
  expect(banner).toContain(
    '-H "Authorization: Bearer pamm_dev_1" -H "Idempotency-Key: first-$LOGIN" "http://127.0.0.1:8080/api/v1/investor/deposit?login=$LOGIN',
  );
});

test("with a real platform the example request only reads", () => {
  const banner = startupBanner({ ...SYSTEM, simulatorControlUrl: null, apiKey: null }, {});
  expect(banner).toContain('curl -H "Authorization: Bearer $PAMM_BOOTSTRAP_API_KEY"');
  expect(banner).not.toContain("deposit");
});
