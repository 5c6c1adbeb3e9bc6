import { register } from "prom-client";
import { expect, test } from "vitest";
import { createReadiness, type Dependency, type Probe } from "./readiness.ts";

const NAMES: readonly Dependency[] = ["account", "funding", "subscription", "fee", "platform"];

function readinessOfFakes() {
  const down = new Set<string>();
  let broker = true;
  let draining = false;
  let at = 0;
  let probed = 0;
  const probe =
    (name: Dependency): Probe =>
    async () => {
      probed += 1;
      if (down.has(name)) throw new Error("down");
    };
  const probes = Object.fromEntries(NAMES.map((name) => [name, probe(name)])) as Record<Dependency, Probe>;
  const readiness = createReadiness({
    isBrokerConnected: () => broker,
    isDraining: () => draining,
    probes,
    now: () => new Date(at),
  });
  return {
    down,
    probes,
    readiness,
    loseBroker: () => (broker = false),
    drain: () => (draining = true),
    later: () => (at += 1_000),
    probed: () => probed,
  };
}

const UP = { reachable: true, lag_ms: 0 };
const DOWN = { reachable: false, lag_ms: null };

test("the edge is not ready before the broker and every service were reached once", async () => {
  const { readiness, down, later } = readinessOfFakes();
  down.add("fee");

  expect(await readiness.read()).toEqual({
    isReady: false,
    report: {
      status: "starting",
      broker: { reachable: true },
      services: { account: UP, funding: UP, subscription: UP, fee: DOWN },
      platform: UP,
      lag_ms: null,
    },
  });
  down.clear();
  later();
  expect(await readiness.read()).toMatchObject({ isReady: true, report: { status: "ready", platform: UP, lag_ms: 0 } });
});

test("the edge is ready, and degraded, while the trading platform has been away since its start", async () => {
  const { readiness, down } = readinessOfFakes();
  down.add("platform");

  expect(await readiness.read()).toMatchObject({ isReady: true, report: { status: "degraded", platform: DOWN } });
});

test("the metric of a dependency follows it, also when nothing reads the readiness of the HTTP port", async () => {
  const { down, later } = readinessOfFakes();
  const platform = async (): Promise<string | undefined> =>
    (await register.getSingleMetricAsString("pamm_dependency_reachable")).match(/dependency="platform"\} (\d)/)?.[1];

  expect(await platform()).toBe("1");
  down.add("platform");
  later();
  expect(await platform()).toBe("0");
});

test("an edge that drains is not ready, at once", async () => {
  const { readiness, drain } = readinessOfFakes();
  expect(await readiness.read()).toMatchObject({ isReady: true });
  drain();
  expect(await readiness.read()).toMatchObject({ isReady: false, report: { status: "draining" } });
});

test("a dependency that is lost later is reported, and the edge stays ready", async () => {
  const { readiness, down, later, loseBroker } = readinessOfFakes();
  await readiness.read();
  down.add("funding");
  loseBroker();
  later();

  expect(await readiness.read()).toMatchObject({
    isReady: true,
    report: {
      status: "degraded",
      broker: { reachable: false },
      services: { account: UP, funding: DOWN },
      lag_ms: null,
    },
  });
});

test("simultaneous reads probe each dependency once", async () => {
  const { readiness, probed } = readinessOfFakes();
  await Promise.all([readiness.read(), readiness.read(), readiness.read()]);

  expect(probed()).toBe(NAMES.length);
});

test("a dependency that does not answer is reported as unreachable in time", async () => {
  const { probes } = readinessOfFakes();
  const silent = { ...probes, account: () => new Promise<never>(() => {}) };
  const readiness = createReadiness({
    isBrokerConnected: () => true,
    isDraining: () => false,
    probes: silent,
    now: () => new Date(),
  });
  const begunAt = Date.now();

  expect(await readiness.read()).toMatchObject({
    isReady: false,
    report: { services: { account: DOWN, fee: { reachable: true } } },
  });
  expect(Date.now() - begunAt).toBeLessThan(20_000);
});
