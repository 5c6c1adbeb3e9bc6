import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { sharedSystem, START_TIMEOUT_MS } from "../journey/support/shared-system.ts";
import type { RunningSystem } from "../journey/support/system.ts";
import { report, type Row, runKit } from "./run-kit.ts";
import { SPECIFICATION } from "./specification.ts";
import type { Settings } from "./world.ts";

/** Mirrors, results and exits of several pools take seconds each, and other tests use the system at the same time. */
const TIMEOUT = { timeout: 180_000 };

let system: RunningSystem;
beforeAll(async () => {
  system = await sharedSystem();
}, START_TIMEOUT_MS);

function settings(more: Partial<Settings> = {}): Settings {
  const { url, apiKey, simulatorControlUrl } = system.info();
  return { url, key: apiKey, simulator: simulatorControlUrl, ...more };
}

const idsOf = (rows: readonly Row[], result: Row["result"]): string[] =>
  rows.filter((row) => row.result === result).map(({ id }) => id);

const SENTENCES = SPECIFICATION.flat();
const OBSERVABLE = SENTENCES.filter((sentence) => "check" in sentence).map(({ id }) => id);

test("no sentence of the specification differs on the running system", TIMEOUT, async () => {
  const rows = await runKit(settings(), SPECIFICATION);

  expect(
    rows.filter(({ result }) => result === "differs"),
    report(rows),
  ).toEqual([]);
  // A weekly run is seen on a system with short fee weeks, in test/journey/reference.test.ts.
  expect(idsOf(rows, "works")).toEqual(OBSERVABLE.filter((id) => id !== "4.5 weekly"));
});

test("every sentence has a name of its own", () => {
  expect(new Set(SENTENCES.map(({ id }) => id)).size).toBe(SENTENCES.length);
});

test("no sentence works on a server that answers every request with nothing", TIMEOUT, async () => {
  const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rows = await runKit({ ...settings(), url, allowMoney: true }, SPECIFICATION);
  server.close();

  expect(idsOf(rows, "works")).toEqual([]);
  expect(idsOf(rows, "differs")).toEqual(OBSERVABLE.filter((id) => id !== "4.5 weekly"));
});

test("a key of a live system moves no money unless it is allowed", TIMEOUT, async () => {
  const sent: string[] = [];
  const live: typeof fetch = async (input, init) => {
    const { url } = new Request(input);
    sent.push(url.replace(/^.*\/api\/v1/, ""));
    const response = await fetch(input, init);
    if (!url.endsWith("/whoami")) return response;
    return new Response((await response.text()).replace('"test"', '"live"'), response);
  };
  const rows = await runKit(settings({ fetch: live }), SPECIFICATION);

  const moving = sent.filter((path) => /^\/investor\/(deposit|withdraw)\?login=(?!1&)/.test(path));
  expect(moving).toEqual([]);
  expect(rows.filter(({ result }) => result === "differs")).toEqual([]);
  expect(rows.find(({ id }) => id === "4.4 deposit")).toMatchObject({
    result: "not tested",
    observed: "needs money to be moved: a test key, or --allow-money",
  });
});
