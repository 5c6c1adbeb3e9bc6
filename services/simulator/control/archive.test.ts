import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../start.ts";
import { compactJournal } from "../store/compact.ts";
import { openBooks } from "../store/open-books.ts";
import { addFunded, addUser, control, pay, PASSWORDS } from "../test/fixture.ts";
import { connectAuthenticated, type RawClient } from "../test/raw-client.ts";

const PERIOD = "from=0&to=9999999999";

/** What the commands that show accounts and deals answer. */
async function seen(client: RawClient, login: string, deal: string) {
  const [user, batch, state, byLogin, byGroup, byTicket, payment, password] = await Promise.all([
    client.json(`/api/user/get?login=${login}`),
    client.json(`/api/user/get_batch?login=${login}`),
    client.json(`/api/user/account/get?login=${login}`),
    client.json(`/api/deal/get_total?login=${login}&${PERIOD}`),
    client.json(`/api/deal/get_batch?group=pamm%5Cinvestor&${PERIOD}`),
    client.json(`/api/deal/get?ticket=${deal}`),
    pay(client, login, "0.01"),
    client.json(`/api/user/check_password?login=${login}&type=main&password=${PASSWORDS.PassMain}`, { method: "POST" }),
  ]);
  const { answer: logins } = await client.json("/api/user/logins?group=pamm%5Cinvestor");
  const codes = [user, batch, state, byLogin, byTicket, payment, password].map(({ retcode }) => retcode);
  const deals = byGroup.answer.filter(({ Login }: { Login: string }) => Login === login);
  return { codes: [...new Set(codes)], isListed: logins.includes(login), deals: deals.length };
}

test("an archived account and its deals are in no answer, its login stays taken, and it comes back with its deals", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  await addFunded(client, "1.00");
  const login = await addFunded(client, "10.00");
  const deals = (await control(simulator, "GET", `accounts/${login}/deals`)).body;
  const deal = String(deals[0].deal);

  const registration = async () => (await client.json(`/api/user/get?login=${login}`)).answer.Registration;
  const registered = await registration();
  const archived = await control(simulator, "POST", `accounts/${login}/archive`);
  expect(archived.body).toMatchObject({ archived: true, balance: "10.00" });
  const gone = await seen(client, login, deal);
  expect(gone).toEqual({ codes: ["13 Not found"], isListed: false, deals: 0 });
  const again = { ...PASSWORDS, Login: login, Group: "pamm\\investor", Name: "Ann", Leverage: "100" };
  expect((await client.json("/api/user/add", { body: again })).retcode).toBe("3004 Login already exists");

  await control(simulator, "POST", `accounts/${login}/restore`);
  expect(await seen(client, login, deal)).toMatchObject({ isListed: true, deals: 1 });
  expect((await client.json(`/api/user/get?login=${login}`)).answer.Balance).toBe("10.01");
  expect(await registration()).toBe(registered);
});

test("what is archived, and a group that was added, are so after a start, also of a rewritten journal", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "archive-"));
  onTestFinished(() => rm(stateDir, { recursive: true }));
  const investor = { group: "pamm\\investor", name: "Ann", balance: "5" };
  const archived = await (async () => {
    await using simulator = await startSimulator({ stateDir });
    const { body } = await control(simulator, "POST", "accounts", investor);
    await control(simulator, "POST", "groups", { group: "real\\yen", currency: "JPY", digits: 0 });
    return (await control(simulator, "POST", `accounts/${body.login}/archive`)).body;
  })();
  const { books, journal } = await openBooks(join(stateDir, "simulator"), 1);
  await compactJournal(join(stateDir, "simulator", "journal.log"), books);
  await journal[Symbol.asyncDispose]();
  await using simulator = await startSimulator({ stateDir });
  expect((await control(simulator, "GET", `accounts/${archived.login}`)).body).toEqual(archived);
  const yen = { group: "real\\yen", currency: "JPY", digits: 0 };
  expect((await control(simulator, "GET", "groups")).body).toContainEqual(yen);
});

test("an account with a position is neither archived nor deleted", async () => {
  await using simulator = await startSimulator();
  const { body } = await control(simulator, "POST", "accounts", { group: "pamm\\master", name: "M", balance: "1000" });
  await control(simulator, "POST", "positions", { login: body.login, symbol: "EURUSD", side: "buy", volume: "0.01" });
  const refused = { status: 409, body: { code: "has_trades" } };
  expect(await control(simulator, "POST", `accounts/${body.login}/archive`)).toMatchObject(refused);
  expect(await control(simulator, "DELETE", `accounts/${body.login}`)).toMatchObject(refused);
});

test("an account that is deleted for good is gone with its deals, and its login is free", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addFunded(client, "10.00");
  expect(await control(simulator, "DELETE", `accounts/${login}`)).toMatchObject({ status: 200 });
  expect(await control(simulator, "POST", `accounts/${login}/restore`)).toMatchObject({ status: 404 });
  const fresh = { login: Number(login), group: "pamm\\investor", name: "Ann" };
  expect((await control(simulator, "POST", "accounts", fresh)).body).toMatchObject({ balance: "0.00" });
  expect((await control(simulator, "GET", `accounts/${login}/deals`)).body).toEqual([]);
});

test("groups have a currency and digits, by their setting or by a call, and no account changes its currency by user/update", async () => {
  await using simulator = await startSimulator({ groups: ["real\\cent=USC/2"] });
  await using client = await connectAuthenticated(simulator);
  const group = async (name: string) => (await client.json(`/api/group/get?group=${encodeURIComponent(name)}`)).answer;
  expect(await group("real\\cent")).toMatchObject({ Currency: "USC", CurrencyDigits: "2" });
  await control(simulator, "POST", "groups", { group: "real\\yen", currency: "JPY", digits: 0 });
  expect(await group("real\\yen")).toMatchObject({ Currency: "JPY", CurrencyDigits: "0" });
  expect((await control(simulator, "GET", "groups")).body).toContainEqual({
    group: "pamm\\payment",
    currency: "USD",
    digits: 2,
  });
  const login = await addUser(client);
  const update = await client.json(`/api/user/update?login=${login}&group=real%5Cyen`, { method: "POST" });
  expect(update.retcode).toBe("3010 Different currency");
  await control(simulator, "POST", `accounts/${login}/group`, { group: "real\\yen" });
  expect((await client.json(`/api/user/group?login=${login}`)).answer).toEqual({ group: "real\\yen" });
  await expect(startSimulator({ groups: ["real\\cent=?/2"] })).rejects.toThrow("SIM_GROUPS");
});
