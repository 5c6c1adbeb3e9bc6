import { expect, test } from "vitest";
import { Mt5Error } from "./errors.ts";
import { type ReceivedRequest, type Script, startScriptedServer } from "./testing/scripted-server.ts";
import { aClient } from "./testing/test-client.ts";

const period = { from: new Date(0), to: new Date("2026-01-02T00:00:00Z") };
const done = (answer: unknown) => JSON.stringify({ retcode: "0 Done", answer });
const NOT_FOUND = '{"retcode":"13 Not found"}';
const userOf = (login: string, own: object = {}) => {
  return { Login: login, Group: "g", Rights: "355", Leverage: "100", Balance: "5.00", Credit: "0.00", ...own };
};
const dealOf = (login: string) => {
  return { Deal: `50${login}`, Login: login, Action: "2", Time: "1767225600", Profit: "5.00", Comment: "x" };
};
const stateOf = (login: string, own: object = {}) => {
  const zeros = { Balance: "0.00", Credit: "0.00", Equity: "0.00", Margin: "0.00", MarginFree: "0.00" };
  return { Login: login, ...zeros, Floating: "0.00", ...own };
};

async function answering(script: Script) {
  const server = await startScriptedServer(script);
  const client = aClient(server, { timeZone: "UTC", maxSessions: 1 });
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
const byPath = (answers: Readonly<Record<string, string>>) => answering(({ path }: ReceivedRequest) => answers[path]);

/** Each way in which servers write a list without rows. */
const EMPTY = [
  done([]),
  done({}),
  done(null),
  done(""),
  '{"retcode":"0 Done"}',
  '{"retcode":"1 None"}',
  '{"retcode":"1 None","answer":[]}',
  '{"retcode":"1 None","answer":{}}',
];

test("an empty list is read in every form", async () => {
  for (const empty of EMPTY) {
    for (const total of [...EMPTY.slice(1), done({ Total: "0" }), done({ total: "0" })]) {
      if (total === '{"retcode":"1 None","answer":[]}') continue;
      await using platform = await byPath({ "deal/get_total": total, "deal/get_page": empty });
      expect(await platform.client.readDeals("1", period), `${total} ${empty}`).toEqual([]);
    }
    await using platform = await byPath({
      "deal/get_batch": empty,
      "position/get_batch": empty,
      "user/logins": empty,
    });
    const { client } = platform;
    expect(await client.findDeals(["1"], period)).toEqual([]);
    expect(await client.findGroupDeals("g", period, { isAskedFor: () => true })).toMatchObject({ rows: 0 });
    expect(await client.findPositions(["1"])).toEqual(new Map([["1", []]]));
    expect(await client.listGroupLogins("g")).toEqual([]);
  }
});

test("a list of an account that the platform shows is empty when it is not found, and of any other account it is unknown", async () => {
  const answers = { "user/get": done(userOf("1")) };
  await using shown = await byPath(answers);
  expect(await shown.client.readDeals("1", period)).toEqual([]);
  expect(await shown.client.readPositions("1")).toEqual([]);
  await using hidden = await byPath({});
  await expect(hidden.client.readDeals("1", period)).rejects.toMatchObject({ retcode: 13 });
  await expect(hidden.client.readPositions("1")).rejects.toMatchObject({ retcode: 13 });
});

test("rows contradict a total of zero, so no list is read", async () => {
  for (const total of [done({ Total: "0" }), '{"retcode":"1 None"}', NOT_FOUND]) {
    const answers = { "user/get": done(userOf("1")), "deal/get_total": total, "deal/get_page": done([dealOf("1")]) };
    await using platform = await byPath(answers);
    await expect(platform.client.readDeals("1", period), total).rejects.toMatchObject({ problem: "incomplete" });
  }
});

const LOGINS = Array.from({ length: 10 }, (_, index) => String(index + 1));

/** Single accounts and pages as documented; the answers to batches by `batch`. */
function withoutBatches(batch: (request: ReceivedRequest) => ReturnType<Script>): Script {
  return (request) => {
    const { path, query } = request;
    const login = query["login"] ?? "";
    if (path.endsWith("get_batch")) return batch(request);
    if (path === "user/get") return LOGINS.includes(login) ? done(userOf(login)) : NOT_FOUND;
    if (path === "deal/get_total") return done({ Total: "1" });
    return path === "deal/get_page" ? done([dealOf(login)]) : undefined;
  };
}

test("a server without batches is read account by account, and never as if it had no deals or accounts", async () => {
  const answers = [3, 8, 13, 12_000, 12_002].map((code) => `{"retcode":"${code} No"}`);
  const statuses = [400, 403, 404, 405, 501].map((status) => ({ status, body: "no" }));
  for (const answer of [...answers, ...statuses]) {
    await using platform = await answering(withoutBatches(() => answer));
    const { client } = platform;
    const deals = await client.findDeals(LOGINS, period);
    expect(deals.map(({ login }) => login).toSorted(), JSON.stringify(answer)).toEqual(LOGINS.toSorted());
    expect([...(await client.getUsers([...LOGINS, "11"])).keys()].toSorted()).toEqual(LOGINS.toSorted());
    expect(await client.findPositions(LOGINS)).toBeUndefined();
  }
});

test("a failing batch is an error, and no batch of single accounts", async () => {
  for (const answer of ['{"retcode":"10 No connection"}', { status: 500, body: "no" }]) {
    await using platform = await answering(withoutBatches(() => answer));
    await expect(platform.client.findDeals(LOGINS, period)).rejects.toBeInstanceOf(Mt5Error);
    await expect(platform.client.getUsers(LOGINS)).rejects.toBeInstanceOf(Mt5Error);
    expect(platform.server.paths()).not.toContain("deal/get_total");
  }
});

test("a batch that is not found because of one unknown account is read without it", async () => {
  await using platform = await answering(
    withoutBatches(({ path, query }) => {
      const logins = query["login"]?.split(",") ?? [];
      if (logins.includes("11")) return NOT_FOUND;
      return done(logins.map((login) => (path.startsWith("user") ? userOf(login) : dealOf(login))));
    }),
  );
  const { client, server } = platform;
  // The server has shown that it answers for several accounts.
  await client.findDeals(LOGINS, period);
  const deals = await client.findDeals([...LOGINS, "11"], period);
  expect(deals.map(({ login }) => login).toSorted()).toEqual(LOGINS.toSorted());
  expect(server.paths()).not.toContain("deal/get_total");
});

test("on a server that answers for several accounts, a batch of existing accounts that is not found has no deals", async () => {
  let isEmpty = false;
  await using platform = await answering(
    withoutBatches(({ path, query }) => {
      const logins = query["login"]?.split(",") ?? [];
      if (path.startsWith("user")) return done(logins.map((login) => userOf(login)));
      return isEmpty ? NOT_FOUND : done(logins.map(dealOf));
    }),
  );
  await platform.client.findDeals(LOGINS, period);
  isEmpty = true;
  expect(await platform.client.findDeals(LOGINS, period)).toEqual([]);
  expect(platform.server.paths()).not.toContain("deal/get_total");
});

test("an account that a batch leaves out is asked for alone before it counts as missing", async () => {
  for (const empty of [done([]), '{"retcode":"1 None"}', NOT_FOUND]) {
    await using platform = await answering(
      withoutBatches(({ path, query }) => {
        if (!path.startsWith("user")) return undefined;
        return query["login"]?.split(",").includes("1") === true ? done([userOf("1")]) : empty;
      }),
    );
    const users = await platform.client.getUsers(["1", "2", "3", "11"]);
    expect([...users.keys()].toSorted(), empty).toEqual(["1", "2", "3"]);
  }
});

test("an account without money in one answer and with money in another is an error", async () => {
  const empty = userOf("1", { Balance: "0.00" });
  await using contradicted = await byPath({
    "user/get": done(empty),
    "user/account/get": done(stateOf("1", { Balance: "7.00", Equity: "7.00" })),
  });
  await expect(contradicted.client.getUser("1")).rejects.toThrow("without money in one answer");
  for (const state of [done(stateOf("1")), NOT_FOUND, '{"retcode":"8 No"}', { status: 403, body: "no" }]) {
    await using platform = await answering(({ path }) => {
      if (path === "user/account/get") return state;
      return path === "user/get" ? done(empty) : undefined;
    });
    expect(await platform.client.getUser("1"), JSON.stringify(state)).toMatchObject({ balanceMinor: 0n });
  }
});

test("an answer without a record is no account without money", async () => {
  for (const answer of [done({}), done([]), done({ Login: "1" }), '{"retcode":"0 Done"}', '{"retcode":"1 None"}']) {
    await using platform = await byPath({ "user/get": answer });
    await expect(platform.client.getUser("1"), answer).rejects.toBeInstanceOf(Mt5Error);
  }
});
