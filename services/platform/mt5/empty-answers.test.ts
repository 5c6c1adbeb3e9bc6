import { expect, test } from "vitest";
import { Mt5Error } from "./errors.ts";
import { type Answers, answering, byPath, done, NOT_FOUND } from "./testing/answering.ts";

const period = { from: new Date(0), to: new Date("2026-01-02T00:00:00Z") };
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
      const client = byPath({ "deal/get_total": total, "deal/get_page": empty });
      expect(await client.readDeals("1", period), `${total} ${empty}`).toEqual([]);
    }
    const client = byPath({
      "deal/get_batch": empty,
      "position/get_batch": empty,
      "user/logins": empty,
    });
    expect(await client.findDeals(["1"], period)).toEqual([]);
    expect(await client.findGroupDeals("g", period, { isAskedFor: () => true })).toMatchObject({ rows: 0 });
    expect(await client.findPositions(["1"])).toEqual(new Map([["1", []]]));
    expect(await client.listGroupLogins("g")).toEqual([]);
  }
});

test("a list of an account that the platform shows is empty when it is not found, and of any other account it is unknown", async () => {
  const answers = { "user/get": done(userOf("1")) };
  const shown = byPath(answers);
  expect(await shown.readDeals("1", period)).toEqual([]);
  expect(await shown.readPositions("1")).toEqual([]);
  const hidden = byPath({});
  await expect(hidden.readDeals("1", period)).rejects.toMatchObject({ retcode: 13 });
  await expect(hidden.readPositions("1")).rejects.toMatchObject({ retcode: 13 });
});

test("rows contradict a total of zero, so no list is read", async () => {
  for (const total of [done({ Total: "0" }), '{"retcode":"1 None"}', NOT_FOUND]) {
    const answers = { "user/get": done(userOf("1")), "deal/get_total": total, "deal/get_page": done([dealOf("1")]) };
    const client = byPath(answers);
    await expect(client.readDeals("1", period), total).rejects.toMatchObject({ problem: "incomplete" });
  }
});

const LOGINS = Array.from({ length: 10 }, (_, index) => String(index + 1));

/** Single accounts and pages as documented; the answers to batches by `batch`. */
function withoutBatches(batch: Answers): Answers {
  return (request) => {
    const { path, query } = request;
    const login = query?.["login"] ?? "";
    if (path.endsWith("get_batch")) return batch(request);
    if (path === "user/get") return LOGINS.includes(login) ? done(userOf(login)) : NOT_FOUND;
    if (path === "deal/get_total") return done({ Total: "1" });
    return path === "deal/get_page" ? done([dealOf(login)]) : undefined;
  };
}

test("a server without batches is read account by account, and never as if it had no deals or accounts", async () => {
  const answers = [3, 8, 13, 12_000, 12_002].map((code) => `{"retcode":"${code} No"}`);
  const statuses = [400, 403, 404, 405, 501].map((status) => ({ status }));
  for (const answer of [...answers, ...statuses]) {
    const client = answering(withoutBatches(() => answer));
    const deals = await client.findDeals(LOGINS, period);
    expect(deals.map(({ login }) => login).toSorted(), JSON.stringify(answer)).toEqual(LOGINS.toSorted());
    expect([...(await client.getUsers([...LOGINS, "11"])).keys()].toSorted()).toEqual(LOGINS.toSorted());
    expect(await client.findPositions(LOGINS)).toBeUndefined();
  }
});

test("a failing batch is an error, and no batch of single accounts", async () => {
  for (const answer of ['{"retcode":"10 No connection"}', { status: 500 }]) {
    const client = answering(withoutBatches(() => answer));
    await expect(client.findDeals(LOGINS, period)).rejects.toBeInstanceOf(Mt5Error);
    await expect(client.getUsers(LOGINS)).rejects.toBeInstanceOf(Mt5Error);
    expect(client.paths).not.toContain("deal/get_total");
  }
});

test("a batch that is not found because of one unknown account is read without it", async () => {
  const client = answering(
    withoutBatches(({ path, query }) => {
      const logins = query?.["login"]?.split(",") ?? [];
      if (logins.includes("11")) return NOT_FOUND;
      return done(logins.map((login) => (path.startsWith("user") ? userOf(login) : dealOf(login))));
    }),
  );
  // The server has shown that it answers for several accounts.
  await client.findDeals(LOGINS, period);
  const deals = await client.findDeals([...LOGINS, "11"], period);
  expect(deals.map(({ login }) => login).toSorted()).toEqual(LOGINS.toSorted());
  expect(client.paths).not.toContain("deal/get_total");
});

test("on a server that answers for several accounts, a batch of existing accounts that is not found has no deals", async () => {
  let isEmpty = false;
  const client = answering(
    withoutBatches(({ path, query }) => {
      const logins = query?.["login"]?.split(",") ?? [];
      if (path.startsWith("user")) return done(logins.map((login) => userOf(login)));
      return isEmpty ? NOT_FOUND : done(logins.map(dealOf));
    }),
  );
  await client.findDeals(LOGINS, period);
  isEmpty = true;
  expect(await client.findDeals(LOGINS, period)).toEqual([]);
  expect(client.paths).not.toContain("deal/get_total");
});

test("an account that a batch leaves out is asked for alone before it counts as missing", async () => {
  for (const empty of [done([]), '{"retcode":"1 None"}', NOT_FOUND]) {
    const client = answering(
      withoutBatches(({ path, query }) => {
        if (!path.startsWith("user")) return undefined;
        return query?.["login"]?.split(",").includes("1") === true ? done([userOf("1")]) : empty;
      }),
    );
    const users = await client.getUsers(["1", "2", "3", "11"]);
    expect([...users.keys()].toSorted(), empty).toEqual(["1", "2", "3"]);
  }
});

test("an account without money in one answer and with money in another is an error", async () => {
  const empty = userOf("1", { Balance: "0.00" });
  const contradicted = byPath({
    "user/get": done(empty),
    "user/account/get": done(stateOf("1", { Balance: "7.00", Equity: "7.00" })),
  });
  await expect(contradicted.getUser("1")).rejects.toThrow("without money in one answer");
  for (const state of [done(stateOf("1")), NOT_FOUND, '{"retcode":"8 No"}', { status: 403 }]) {
    const client = answering(({ path }) => {
      if (path === "user/account/get") return state;
      return path === "user/get" ? done(empty) : undefined;
    });
    expect(await client.getUser("1"), JSON.stringify(state)).toMatchObject({ balanceMinor: 0n });
  }
});

test("an answer without a record is no account without money", async () => {
  for (const answer of [done({}), done([]), done({ Login: "1" }), '{"retcode":"0 Done"}', '{"retcode":"1 None"}']) {
    const client = byPath({ "user/get": answer });
    await expect(client.getUser("1"), answer).rejects.toBeInstanceOf(Mt5Error);
  }
});
