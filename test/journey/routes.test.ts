import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { itemsOf, type JsonObject, textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, clientOf, eventually, minorOf, platformBalanceOf, untilKnown } from "./support/client.ts";
import {
  assign,
  deposit,
  expectDone,
  INVESTOR_GROUP,
  newInvestor,
  newMaster,
  personalFields,
  unassign,
  withdraw,
} from "./support/client-requests.ts";
import { followEvents, newestEvent } from "./support/follow-events.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";
import type { RunningSystem } from "./support/system.ts";
import { bookResult } from "./support/trading.ts";

vi.setConfig({ testTimeout: 180_000 });

let system: RunningSystem;
let client: Client;

beforeAll(async () => {
  system = await sharedSystem();
  client = clientOf(system);
}, START_TIMEOUT_MS);

const LIFE = [
  "deposit.pending",
  "deposit.executed",
  "subscription.active",
  "mirror.pending",
  "mirror.executed",
  "deposit.pending",
  "deposit.executed",
  "mirror.pending",
  "mirror.executed",
  "withdrawal.pending",
  "withdrawal.executed",
  "mirror.pending",
  "mirror.executed",
  "mirror.pending",
  "mirror.executed",
  "fee.executed",
  "subscription.paused",
  "exit.pending",
  "exit.executed",
  "subscription.cancelled",
];

test("each state of a life is one event, in order, and never before its route shows it", async () => {
  const after = await newestEvent(client);
  const { login: master } = await newMaster(client);
  const investor = await newInvestor(client, "150.25");
  const isOwn = (event: JsonObject): boolean => event["login"] === investor;
  // Of two services, whose events come in either order.
  const isOver = (seen: readonly JsonObject[]): boolean =>
    ["subscription.cancelled", "fee.executed"].every((type) =>
      seen.some((event) => textOf(event, "type") === type && isOwn(event)),
    );
  const following = followEvents(client, { after, isOver });
  const untilBalance = (login: string, amount: string) =>
    eventually(async () => expect(await platformBalanceOf(client, login)).toBe(minorOf(amount)));
  await expectDone(assign(client, master, investor));
  await untilBalance(master, "150.25");
  await expectDone(deposit(client, investor, "40.50", "again"));
  await untilBalance(master, "190.75");
  await expectDone(withdraw(client, investor, "20.25"));
  await untilBalance(master, "170.50");
  await bookResult(client, master, "10.00");
  await untilBalance(investor, "180.50");
  await expectDone(unassign(client, master, investor));

  const { seen, compared } = await following;
  const types = seen.filter(isOwn).map((event) => textOf(event, "type"));
  expect(types.toSorted()).toEqual(LIFE.toSorted());
  expect(new Set(seen.filter(isOwn).map((event) => textOf(event, "key"))).size).toBe(LIFE.length);
  // Events of one service are in the order of its commits.
  for (const own of [/^(deposit|withdrawal)/, /^(subscription|exit)/]) {
    expect(types.filter((type) => own.test(type))).toEqual(LIFE.filter((type) => own.test(type)));
  }
  const mirrors = seen.filter((event) => isOwn(event) && textOf(event, "type").startsWith("mirror."));
  for (const part of Map.groupBy(mirrors, (event) => textOf(event, "subject_id")).values()) {
    expect(part.map((event) => textOf(event, "state"))).toEqual(["pending", "executed"]);
  }
  const typesCompared = compared.filter(isOwn).map((event) => textOf(event, "type"));
  const withoutMirrors = (all: readonly string[]) => all.filter((type) => !type.startsWith("mirror.")).toSorted();
  expect(withoutMirrors(typesCompared)).toEqual(withoutMirrors(LIFE));
});

/** The logs of all processes, including the database, the broker and the simulator. */
test("no password, key, query string or body is in any log", async () => {
  const request = { ...personalFields("Sigrid"), platform_group: INVESTOR_GROUP };
  const { body } = await expectDone(client.post("/api/v1/investor/create", request));
  const { login } = await newMaster(client);
  const revealed = await expectDone(client.get(`/api/v1/info/master/${login}`));
  await expectDone(deposit(untilKnown(client), textOf(body, "mt5_login"), "12.34", "CRM-CONFIDENTIAL-1"));

  const secrets = {
    "main password": textOf(body, "password"),
    "investor password": textOf(body, "investor_password"),
    "revealed password": textOf(revealed.body, "mt5_password"),
    "API key": system.info().apiKey,
    "a member of a body": request.username,
    "the comment in a query": "CRM-CONFIDENTIAL-1",
  };
  const folder = join(system.stateDir, "log");
  const files = readdirSync(folder);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    const leaked = Object.entries(secrets).filter(([, secret]) => text.includes(secret));
    expect(leaked.map(([name]) => `${name} is in ${file}`)).toEqual([]);
  }
});

test("a text in another composition is found, and is in ASCII letters at the deal", async () => {
  const login = await newInvestor(client);
  await expectDone(deposit(client, login, "5", encodeURIComponent("De\u0301po\u0302t-№7")));
  const { body } = await client.get(`/api/v1/operations?login=${login}&comment=${encodeURIComponent("Dépôt-№7")}`);
  expect(itemsOf(body["items"])).toMatchObject([{ comment: "Dépôt-№7" }]);
  const deals = itemsOf(await client.control("GET", `accounts/${login}/deals`));
  expect(deals.map((deal) => textOf(deal, "comment").slice(14))).toEqual([" Depot-No7"]);
});

test("the first and the last instant that are taken are no error of any service", async () => {
  const { login: master } = await newMaster(client);
  const investor = await newInvestor(client, "100");
  await expectDone(assign(untilKnown(client), master, investor));
  const [first, last] = ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"];
  const ends = [`from=${first}`, `to=${last}`, `from=${first}&to=${last}`, `from=${last}`];
  const lists = [
    "subscriptions",
    "operations",
    `info/master/${master}/results`,
    `info/investor/${investor}/allocations`,
  ];
  const paths = [
    ...lists.flatMap((list) => ends.map((period) => `${list}?${period}`)),
    ...ends.map((period) => `investors?${period.replaceAll(/(from|to)=/g, "created_$1=")}`),
    `info/master/${master}/performance?from=1970-01-01&to=1970-12-31`,
    `info/master/${master}/performance?from=9999-01-01&to=9999-12-31`,
    `info/investor/${investor}/statement?from=${first}&to=1970-12-31T00:00:00Z`,
    `info/investor/${investor}/statement?from=9999-01-01T00:00:00Z&to=${last}`,
  ];
  for (const path of paths) {
    const { status, text } = await client.get(`/api/v1/${path}`);
    expect([path, status], text).toEqual([path, 200]);
  }
  for (const instant of [first, last]) {
    const update = { investor_login: investor, rate: 0.1, effective_since: instant };
    const { status, text } = await client.post("/api/v1/investor/perf-fee/update", update);
    expect([200, 422], text).toContain(status);
  }
});
