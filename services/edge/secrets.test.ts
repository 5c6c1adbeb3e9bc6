import { expect, test } from "vitest";
import { Refusal } from "#kernel/values/refusal.ts";
import { TEST_KEY, testEdge } from "./testing/test-edge.ts";
import { aMaster, anInvestor } from "./api/samples/account.ts";
import { aDeposit } from "./api/samples/funding.ts";

const PASSWORDS = { mainPassword: "PLANTED-main", investorPassword: "PLANTED-investor" };
const NEW_ACCOUNT = {
  first_name: "PLANTED-first",
  last_name: "PLANTED-last",
  name: "PLANTED-name",
  username: "planted@example.com",
  platform_group: "pamm\\master",
  min_deposit: "1",
};

test("no secret, no query and no body is ever logged or audited", async () => {
  const edge = await testEdge({
    accounts: {
      createMaster: async () => ({ master: aMaster(), ...PASSWORDS }),
      createInvestor: async () => ({ investor: anInvestor(), ...PASSWORDS }),
      revealMaster: async () => ({ master: aMaster(), ...PASSWORDS }),
      revealInvestor: () => Promise.reject(new Error("a fault")),
      addInvestor: () =>
        Promise.reject(new Refusal({ code: "login_in_use", status: "conflict", message: "PLANTED-no" })),
    },
    funding: { deposit: async () => aDeposit() },
  });
  const answers = [
    await edge.call({ method: "POST", url: "/api/v1/master/create", payload: NEW_ACCOUNT }),
    await edge.call({ method: "POST", url: "/api/v1/investor/create", payload: NEW_ACCOUNT }),
    await edge.call({ url: "/api/v1/info/master/77001" }),
    await edge.call({ url: "/api/v1/info/investor/77002" }),
    await edge.call({
      method: "POST",
      url: "/api/v1/investor/deposit?login=77003&amount=12345.67&comment=PLANTED-comment",
    }),
    await edge.call({ method: "POST", url: "/api/v1/investor/add", payload: { mt5_login: "77004", name: "PLANTED" } }),
    await edge.call({ method: "POST", url: "/api/v1/investor/add", payload: '{"PLANTED' }),
    await edge.call({ url: "/api/v1/PLANTED-path?PLANTED=1", headers: { authorization: "Bearer PLANTED-key" } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 500, 200, 409, 415, 404]);
  const written = edge.lines.join("") + JSON.stringify(edge.audited);
  expect(written).not.toMatch(/planted/i);
  for (const hidden of [TEST_KEY, "12345.67", "example.com"]) expect(written).not.toContain(hidden);
  // As a token of its own: generated ids contain any digits.
  expect(written).not.toMatch(/(?<![\w-])7700[1-4](?![\w-])/);
  expect(edge.lines.filter((line) => line.includes('"msg":"request"'))).toHaveLength(answers.length);
});

test("only the routes that document passwords return them", async () => {
  const edge = await testEdge({
    accounts: {
      getMaster: async () => ({ ...aMaster(), mainPassword: "PLANTED" }),
      addMaster: async () => ({ ...aMaster(), mainPassword: "PLANTED" }),
    },
  });
  const answers = [
    await edge.call({ url: "/api/v1/master/7" }),
    await edge.call({
      method: "POST",
      url: "/api/v1/master/add",
      payload: { mt5_login: "1", payment_account_login: "2", min_deposit: "1" },
    }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map(({ text }) => text).join("")).not.toContain("PLANTED");
});

test("a secret is returned only when the audit entry of its read was written", async () => {
  const audit = { write: () => Promise.reject(new Error("the database is gone")), note: () => {} };
  const accounts = { revealMaster: async () => ({ master: aMaster(), ...PASSWORDS }) };
  const edge = await testEdge({ accounts, app: { audit } });
  const answer = await edge.call({ url: "/api/v1/info/master/3000001" });

  expect([answer.status, answer.body]).toMatchObject([503, { code: "service_unavailable", retryable: true }]);
  expect(answer.text).not.toContain("PLANTED");
});

test("every command and every read of a secret is audited once, also one that found nothing or was not allowed, and no other read", async () => {
  const notFound = () =>
    Promise.reject(new Refusal({ code: "investor_not_found", status: "not_found", message: "No." }));
  const accounts = { revealMaster: async () => ({ master: aMaster(), ...PASSWORDS }), revealInvestor: notFound };
  const services = { accounts: { ...accounts, getMaster: async () => aMaster() } };
  const edge = await testEdge({ ...services, funding: { deposit: async () => aDeposit() }, app: {} });
  await edge.call({ url: "/api/v1/info/master/3000001", headers: { "x-request-id": "r1" } });
  await edge.call({ url: "/api/v1/info/investor/1" });
  await edge.call({ url: "/api/v1/info/investor/1", headers: { authorization: "Bearer wrong" } });
  await edge.call({ url: "/api/v1/master/7" });
  const command = await edge.call({ method: "POST", url: "/api/v1/investor/deposit?login=1&amount=1" });

  expect(edge.audited).toEqual([
    {
      at: expect.any(Date),
      requestId: "r1",
      keyId: "KeyOfTests01",
      client: "tests",
      address: "127.0.0.1",
      method: "GET",
      route: "/api/v1/info/master/:master_login",
      operationId: null,
      decision: "allowed",
      status: 200,
      code: null,
    },
    expect.objectContaining({
      route: "/api/v1/info/investor/:investor_login",
      decision: "allowed",
      status: 404,
      code: "investor_not_found",
    }),
    expect.objectContaining({ keyId: null, client: null, decision: "denied", status: 401, code: "unauthorized" }),
    expect.objectContaining({
      route: "/api/v1/investor/deposit",
      operationId: command.headers["x-operation-id"],
      decision: "allowed",
      status: 200,
    }),
  ]);
});
