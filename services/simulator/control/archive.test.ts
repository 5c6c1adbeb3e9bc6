import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../start.ts";
import { compactJournal } from "../store/compact.ts";
import { openBooks } from "../store/open-books.ts";
import { addUser, control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

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
  expect((await client.json(`/api/user/get?login=${login}`)).answer.Group).toBe("real\\yen");
  await expect(startSimulator({ groups: ["real\\cent=?/2"] })).rejects.toThrow("SIM_GROUPS");
});
