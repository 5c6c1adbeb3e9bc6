import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Settings } from "#kernel/process/config.ts";
import { VARIABLE_NAMES } from "#catalogue/variables.ts";
import { SETTINGS as makeRun } from "../../deploy/local/settings.ts";
import { settings as streams } from "../../deploy/nats/streams.ts";
import { settings as account } from "../../services/account/config.ts";
import { settings as edge } from "../../services/edge/config.ts";
import { settings as fee } from "../../services/fee/config.ts";
import { settings as funding } from "../../services/funding/config.ts";
import { settings as platform } from "../../services/platform/config.ts";
import { settings as simulator } from "../../services/simulator/config.ts";
import { settings as subscription } from "../../services/subscription/config.ts";

const SERVICES = { account, edge, fee, funding, platform, simulator, streams, subscription };
const PAGE = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

const documented = new Set(PAGE.match(/`[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+`/g)?.map((name) => name.slice(1, -1)));
const variables = Object.entries(SERVICES).flatMap(([service, settings]) =>
  Object.entries<Settings[string]>(settings).map(([name, { whenMissing }]) => ({ service, name, whenMissing })),
);

test.each(variables)("$name of $service is in docs/configuration.md, with its default", ({ name, whenMissing }) => {
  const rows = PAGE.split("\n").filter((line) => line.startsWith("|") && line.includes(`\`${name}\``));

  expect(rows.length).toBeGreaterThan(0);
  if (whenMissing !== undefined) expect(rows.join("\n")).toContain(`\`${whenMissing}\``);
});

test("the variables that services know by name are those that they read", () => {
  const { simulator: _, streams: __, ...services } = SERVICES;
  const read = Object.values(services).flatMap((settings) => Object.keys(settings));
  expect([...VARIABLE_NAMES]).toEqual([...new Set(read)].filter((name) => name.startsWith("PAMM_")).toSorted());
});

test("docs/configuration.md has no variable that no service reads", () => {
  const known = new Set([
    ...variables.map(({ name }) => name),
    ...Object.keys(makeRun),
    "DATABASE_MIGRATION_URL",
    "NAME_FILE",
  ]);

  expect([...documented].filter((name) => !known.has(name))).toEqual([]);
});
