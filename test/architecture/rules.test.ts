import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkRules } from "./rules.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A tree without a violation. */
const CLEAN_TREE: Record<string, string> = {
  "node_modules/nats/package.json": `{ "name": "nats", "version": "1.0.0", "main": "index.js" }`,
  "node_modules/nats/index.js": "exports.connect = () => undefined;",
  "proto/gen/pamm/common/v1/money.ts": "export const Money = 1;",
  "proto/gen/pamm/fee/v1/fee.ts": "export const FeeService = 1;",
  "services/kernel/money.ts": "export const usd = 1;",
  "services/kernel/contract/money.ts": `import { Money } from "#proto/pamm/common/v1/money.ts"; export const toProto = Money;`,
  "services/kernel/nats/serve.ts": `import { connect } from "nats"; export const serve = connect;`,
  "services/kernel/postgres/query.ts": "export const sql = 1;",
  "services/fee/refusals.ts": "export const refuse = 1;",
  "services/fee/domain/charge.ts": `
    import { usd } from "#kernel/money.ts";
    import { refuse } from "../refusals.ts";
    export const charge = [usd, refuse];`,
  "services/fee/domain/charge.test.ts": `import { readFileSync } from "node:fs"; export const read = readFileSync;`,
  "services/fee/store/charges.ts": `
    import { sql } from "#kernel/postgres/query.ts";
    import { charge } from "../domain/charge.ts";
    export const insert = [sql, charge];`,
  "services/fee/commands/collect.ts": `
    import { FeeService } from "#proto/pamm/fee/v1/fee.ts";
    import { insert } from "../store/charges.ts";
    export const collect = [FeeService, insert];`,
  "services/platform/amendments/correct.ts": "export const correct = 1;",
  "services/fee/protocol/permit.ts": "export const permit = 1;",
  "services/fee/main.ts": `import { connect } from "nats"; import { serve } from "#kernel/nats/serve.ts"; export const main = [connect, serve];`,
  "services/client/client.ts": "export const client = 1;",
  "services/client/index.ts": `import { client } from "./client.ts"; export const all = client;`,
  "services/console/main.tsx": `import { all } from "../client/index.ts"; export const main = all;`,
  "services/edge/app.ts": `import { FeeService } from "#proto/pamm/fee/v1/fee.ts"; export const app = FeeService;`,
  "services/edge/http/route.ts": `import { scopes } from "../identity/scopes.ts"; export const route = scopes;`,
  "services/edge/identity/scopes.ts": "export const scopes = 1;",
  "services/simulator/main.ts": `import { usd } from "#kernel/money.ts"; export const main = usd;`,
  "test/support/database.ts": "export const testDatabase = 1;",
};

const FLOORS_OF_EDGE = ["wire", "problems", "fields", "identity", "events", "http", "api"];

/** Planted imports, with the rule that must report each. */
const PLANTED: { rule: string; from: string; to: string; text: string }[] = [
  ...FLOORS_OF_EDGE.map((floor, index) => {
    const text = [...FLOORS_OF_EDGE.map((above) => `../${above}/floor.ts`), "../app.ts"][index + 1] ?? "";
    const [from, to] = [`services/edge/${floor}/stairs.ts`, `services/edge/${text.slice("../".length)}`];
    return { rule: "edge-has-floors", from, to, text };
  }),
  {
    rule: "no-cycles",
    from: "services/fee/domain/charge.ts",
    to: "services/fee/domain/debt.ts",
    text: "../domain/debt.ts",
  },
  {
    rule: "kernel-knows-no-service",
    from: "services/kernel/rate.ts",
    to: "services/fee/refusals.ts",
    text: "../fee/refusals.ts",
  },
  {
    rule: "catalogue-needs-nothing",
    from: "services/catalogue/checks.ts",
    to: "services/kernel/postgres/query.ts",
    text: "#kernel/postgres/query.ts",
  },
  {
    rule: "kernel-knows-no-service",
    from: "services/kernel/feed/publish.ts",
    to: "proto/gen/pamm/fee/v1/fee.ts",
    text: "#proto/pamm/fee/v1/fee.ts",
  },
  {
    rule: "services-meet-only-in-proto",
    from: "services/funding/commands/withdraw.ts",
    to: "services/fee/commands/collect.ts",
    text: "../../fee/commands/collect.ts",
  },
  { rule: "domain-is-pure", from: "services/funding/domain/files.ts", to: "fs", text: "node:fs" },
  {
    rule: "domain-is-pure",
    from: "services/funding/domain/package.ts",
    to: "node_modules/nats/index.js",
    text: "nats",
  },
  {
    rule: "domain-is-pure",
    from: "services/funding/domain/message.ts",
    to: "proto/gen/pamm/fee/v1/fee.ts",
    text: "#proto/pamm/fee/v1/fee.ts",
  },
  {
    rule: "domain-is-pure",
    from: "services/funding/domain/query.ts",
    to: "services/kernel/postgres/query.ts",
    text: "#kernel/postgres/query.ts",
  },
  {
    rule: "store-knows-no-transport",
    from: "services/funding/store/messages.ts",
    to: "proto/gen/pamm/fee/v1/fee.ts",
    text: "#proto/pamm/fee/v1/fee.ts",
  },
  {
    rule: "store-knows-no-transport",
    from: "services/fee/store/sagas.ts",
    to: "services/fee/commands/collect.ts",
    text: "../commands/collect.ts",
  },
  {
    rule: "queries-know-no-commands",
    from: "services/fee/queries/get-fee.ts",
    to: "services/fee/commands/collect.ts",
    text: "../commands/collect.ts",
  },
  {
    rule: "commands-know-no-queries",
    from: "services/fee/commands/decide.ts",
    to: "services/fee/queries/list-fees.ts",
    text: "../queries/list-fees.ts",
  },
  {
    rule: "processes-know-no-entry",
    from: "services/fee/processes/pay.ts",
    to: "services/fee/commands/collect.ts",
    text: "../commands/collect.ts",
  },
  {
    rule: "edge-has-no-domain",
    from: "services/edge/routes/deposit.ts",
    to: "services/edge/domain/limit.ts",
    text: "../domain/limit.ts",
  },
  {
    rule: "edge-serves-no-sample",
    from: "services/edge/api/withdraw.ts",
    to: "services/edge/api/withdraw.exchange.ts",
    text: "./withdraw.exchange.ts",
  },
  {
    rule: "store-knows-no-protocol",
    from: "services/fee/store/permits.ts",
    to: "services/fee/protocol/permit.ts",
    text: "../protocol/permit.ts",
  },
  {
    rule: "store-knows-no-protocol",
    from: "services/fee/store/findings.ts",
    to: "services/fee/checks/payments.ts",
    text: "../checks/payments.ts",
  },
  {
    rule: "amendments-have-one-entry",
    from: "services/platform/commands/decide.ts",
    to: "services/platform/amendments/correct.ts",
    text: "../amendments/correct.ts",
  },
  {
    rule: "checks-know-only-sql",
    from: "services/fee/checks/payments.ts",
    to: "services/fee/domain/charge.ts",
    text: "../domain/charge.ts",
  },
  {
    rule: "checks-know-only-sql",
    from: "services/fee/checks/runs.ts",
    to: "services/fee/store/charges.ts",
    text: "../store/charges.ts",
  },
  {
    rule: "nats-and-grpc-stay-in-kernel",
    from: "services/funding/commands/deposit.ts",
    to: "node_modules/nats/index.js",
    text: "nats",
  },
  {
    rule: "nats-and-grpc-stay-in-kernel",
    from: "services/funding/queries/get.ts",
    to: "services/kernel/nats/serve.ts",
    text: "#kernel/nats/serve.ts",
  },
  {
    rule: "client-stands-alone",
    from: "services/client/money.ts",
    to: "services/kernel/money.ts",
    text: "../kernel/money.ts",
  },
  { rule: "client-stands-alone", from: "services/client/files.ts", to: "fs", text: "node:fs" },
  {
    rule: "services-meet-only-in-proto",
    from: "services/edge/own-client.ts",
    to: "services/client/client.ts",
    text: "../client/client.ts",
  },
  {
    rule: "console-knows-only-the-client",
    from: "services/console/live.ts",
    to: "services/client/client.ts",
    text: "../client/client.ts",
  },
  {
    rule: "console-knows-only-the-client",
    from: "services/console/sums.tsx",
    to: "services/kernel/money.ts",
    text: "#kernel/money.ts",
  },
  {
    rule: "services-meet-only-in-proto",
    from: "services/edge/page.ts",
    to: "services/console/main.tsx",
    text: "../console/main.tsx",
  },
  {
    rule: "simulator-stands-alone",
    from: "services/simulator/webapi/deal.ts",
    to: "proto/gen/pamm/fee/v1/fee.ts",
    text: "#proto/pamm/fee/v1/fee.ts",
  },
  {
    rule: "production-knows-no-test",
    from: "services/funding/jobs/settle.ts",
    to: "test/support/database.ts",
    text: "#test/support/database.ts",
  },
  { rule: "every-import-resolves", from: "services/funding/queries/list.ts", to: "./nowhere.ts", text: "./nowhere.ts" },
];

async function createTree(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "pamm-rules-"));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const name of ["package.json", "tsconfig.json"]) await copyFile(join(ROOT, name), join(root, name));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

const byRule = (a: { rule: string; from: string; to: string }, b: { rule: string; from: string; to: string }): number =>
  `${a.rule} ${a.from} ${a.to}`.localeCompare(`${b.rule} ${b.from} ${b.to}`);

test("a tree without a violation passes", async () => {
  const { violations, modules } = await checkRules(await createTree(CLEAN_TREE));

  expect(violations).toEqual([]);
  expect(modules).toBeGreaterThanOrEqual(Object.keys(CLEAN_TREE).length - 1);
});

test("each rule reports the violation that was planted for it, and no other", async () => {
  const planted = Object.fromEntries(PLANTED.map(({ from, text }) => [from, `import "${text}";`]));
  const files = {
    ...CLEAN_TREE,
    ...planted,
    ...Object.fromEntries(
      FLOORS_OF_EDGE.map((floor) => [`services/edge/${floor}/floor.ts`, "export const floor = 1;"]),
    ),
    "services/edge/domain/limit.ts": "export const limit = 1;",
    "services/edge/api/withdraw.exchange.ts": "export const exchanges = {};",
    "services/fee/queries/list-fees.ts": "export const listFees = 1;",
    "services/fee/domain/debt.ts": `import { charge } from "./charge.ts"; export const debt = charge;`,
    "services/fee/domain/charge.ts": `import { debt } from "./debt.ts"; export const charge = (): unknown => debt;`,
  };

  const { violations } = await checkRules(await createTree(files));

  // The package in a domain also breaks another rule.
  const further = [
    {
      rule: "nats-and-grpc-stay-in-kernel",
      from: "services/funding/domain/package.ts",
      to: "node_modules/nats/index.js",
    },
  ];
  const expected = [...PLANTED.map(({ rule, from, to }) => ({ rule, from, to })), ...further];
  expect(violations.toSorted(byRule)).toEqual(expected.toSorted(byRule));
});

test("every rule has a planted violation", async () => {
  const config = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as { forbidden: { name: string }[] };

  expect([...new Set(PLANTED.map(({ rule }) => rule))].toSorted()).toEqual(
    [...new Set(config.forbidden.map(({ name }) => name))].toSorted(),
  );
});
