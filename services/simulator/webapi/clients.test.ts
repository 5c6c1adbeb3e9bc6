import { expect, test } from "vitest";
import { startSimulator, type Simulator } from "../start.ts";
import { control } from "../test/fixture.ts";
import { type CallOptions, connectRaw, handshakeAnswer, type RawClient } from "../test/raw-client.ts";

/** How clients in production write their requests. */
type Habits = {
  /** Commands with fields: in the query, or as JSON in the body. */
  readonly fieldsIn: "query" | "body";
  readonly contentType: string;
  readonly method: "GET" | "POST";
};

const path = (name: string) => `/api/${name}`;
const FORM = "application/x-www-form-urlencoded";
const CLIENTS: readonly (Habits & { readonly what: string })[] = [
  { what: "the vendor's sample: JSON in a form", fieldsIn: "body", contentType: FORM, method: "POST" },
  { what: "JSON bodies", fieldsIn: "body", contentType: "application/json", method: "POST" },
  { what: "all in the query", fieldsIn: "query", contentType: "application/json", method: "GET" },
];

/** With the names that each place has: `pass_main` in a query, `PassMain` in a body. */
function request(habits: Habits, name: string, fields: Readonly<Record<string, string>>): [string, CallOptions] {
  const { fieldsIn, contentType: type, method } = habits;
  if (fieldsIn === "body") return [path(name), { method, type, body: fields }];
  const query = Object.entries(fields).map(([field, value]) => {
    return `${field.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase()}=${encodeURIComponent(value)}`;
  });
  return [`${path(name)}?${query.join("&")}`, { method, type }];
}

async function signIn(simulator: Simulator, client: RawClient): Promise<void> {
  const { managerLogin, managerPassword } = simulator;
  const start = `${path("auth/start")}?version=484&agent=WebAPI&login=${managerLogin}&type=manager`;
  const { srv_rand: random } = await client.json(start);
  const proof = handshakeAnswer(managerPassword, random);
  const answer = await client.json(`${path("auth/answer")}?srv_rand_answer=${proof}&cli_rand=${"ab".repeat(16)}`);
  expect(answer["cli_rand_answer"]).toBe(handshakeAnswer(managerPassword, "ab".repeat(16)));
}

const ACCOUNT = {
  PassMain: "Abcdef1!",
  PassInvestor: "Ghijkl2?",
  Group: String.raw`pamm\investor`,
  Name: "Ann Other",
  Leverage: "100",
  Email: "ann@example.com",
};

test.each(CLIENTS)("a client with the habits of $what does its daily work", async (habits) => {
  await using simulator = await startSimulator();
  await using client = await connectRaw(simulator);
  await signIn(simulator, client);
  expect(await client.json(path("test/access"))).toEqual({ retcode: "0 Done" });
  const { answer: clock } = await client.json(path("time/server"));
  expect(clock.time).toMatch(/^\d+ \d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d$/);

  const added = await client.json(...request(habits, "user/add", ACCOUNT));
  const { login } = added;
  expect(added).toMatchObject({ retcode: "0 Done", answer: { Login: login, Email: "ann@example.com" } });
  const password = { Login: login, Type: "main", Password: ACCOUNT.PassMain };
  expect(await client.json(...request(habits, "user/check_password", password))).toEqual({ retcode: "0 Done" });

  const tickets: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { answer } = await client.json(
      `${path("trade/balance")}?login=${login}&type=2&balance=1.00&comment=CRM%20${count}`,
    );
    tickets.push(answer.ticket);
  }
  const period = `login=${login}&from=0&to=9999999999`;
  const { answer: total } = await client.json(`${path("deal/get_total")}?${period}`);
  const found: string[] = [];
  for (let offset = 0; offset < Number(total.total); offset += 100) {
    const { answer } = await client.json(`${path("deal/get_page")}?${period}&offset=${offset}&total=100`);
    found.push(...answer.map((deal: { Deal: string }) => deal.Deal));
  }
  expect(found).toEqual(tickets);
  expect((await client.json(`${path("user/get")}?login=${login}`)).answer).toMatchObject({ Balance: "5.00" });
  const refused = await client.json(`${path("trade/balance")}?login=${login}&type=2&balance=-500&comment=CRM`);
  expect(refused).toEqual({ retcode: "10019 Not enough money" });
});

test("the logins of all groups are listed for clients that name no group", async () => {
  await using simulator = await startSimulator({ managerGroups: String.raw`pamm\*` });
  await using client = await connectRaw(simulator);
  await signIn(simulator, client);
  await control(simulator, "POST", "accounts", { login: 7001, group: String.raw`pamm\master`, name: "Ann" });
  await control(simulator, "POST", "accounts", { login: 7002, group: String.raw`pamm\investor`, name: "Bob" });
  await control(simulator, "POST", "accounts", { login: 7003, group: String.raw`demo\forex`, name: "Cyd" });
  for (const asked of ["/api/user/logins", "/api/user/logins?group="]) {
    expect(await client.json(asked), asked).toEqual({ retcode: "0 Done", answer: ["7001", "7002"] });
  }
});

test("an empty list as the body, as PHP writes an empty array, is a body without fields", async () => {
  await using simulator = await startSimulator();
  await using client = await connectRaw(simulator);
  await signIn(simulator, client);
  await control(simulator, "POST", "accounts", { login: 7001, group: String.raw`pamm\investor`, name: "Ann" });
  const post = (call: string, body: object) => client.json(call, { method: "POST", type: FORM, body });
  const paid = await post("/api/trade/balance?login=7001&type=2&balance=33.30&comment=CRM", []);
  expect(paid).toMatchObject({ retcode: "0 Done", answer: { ticket: expect.any(String) as string } });
  expect((await post("/api/user/get_batch?login=7001", [])).answer).toMatchObject([
    { Login: "7001", Balance: "33.30" },
  ]);
  expect(await post("/api/user/get_batch?login=7001", [7001])).toEqual({ retcode: "3 Invalid parameters" });
});

test("an unknown path is not found, and none is allowed without a session", async () => {
  await using simulator = await startSimulator();
  await using client = await connectRaw(simulator);
  for (const asked of ["/api/user/nothing", "/", "/api"]) expect((await client.call(asked)).status).toBe(403);
  await signIn(simulator, client);
  for (const asked of ["/api/user/nothing", "/user/total", "/api/user_total"]) {
    expect((await client.call(asked)).status, asked).toBe(404);
  }
});

test("records have both names of the flags and all cells of other programs", async () => {
  await using simulator = await startSimulator();
  await using client = await connectRaw(simulator);
  await signIn(simulator, client);
  const { login } = await client.json(...request(CLIENTS[1]!, "user/add", ACCOUNT));
  const { answer } = await client.json(`/api/trade/balance?login=${login}&type=2&balance=1000.00&comment=x`);
  await control(simulator, "POST", "positions", {
    login: Number(login),
    symbol: "EURUSD",
    side: "buy",
    volume: "0.01",
  });
  await control(simulator, "POST", `deals/${answer.ticket}/edit`, { comment: "edited" });
  const records = [
    (await client.json(`/api/deal/get?ticket=${answer.ticket}`)).answer,
    (await client.json(`/api/position/get_page?login=${login}&offset=0&total=1`)).answer[0],
    (await client.json(`/api/user/get?login=${login}`)).answer,
  ];
  const cell = { AppID: "0", ID: "0", ValueInt: "0", ValueUInt: "0", ValueDouble: "0.00" };
  for (const { ApiData } of records) expect(ApiData).toEqual(Array.from({ length: 16 }, () => cell));
  expect(records[0]).toMatchObject({ ModificationFlags: "1", ModifyFlags: "1" });
  expect(records[1]).toMatchObject({ ModificationFlags: "0", ModifyFlags: "0" });
});

test("a price that was never set has the time of the start", async () => {
  await using simulator = await startSimulator({ timeZone: "UTC" });
  await using client = await connectRaw(simulator);
  await signIn(simulator, client);
  const { answer } = await client.json("/api/tick/last?symbol=EURUSD&trans_id=0");
  expect(Math.abs(Number(answer[0].Datetime) - Date.now() / 1_000)).toBeLessThan(60);
  expect(answer[0].Datetime).toBe(String(Math.floor(Number(answer[0].DatetimeMsc) / 1_000)));
});
