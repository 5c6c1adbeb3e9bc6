import { expect, test } from "vitest";
import { MANAGER_RIGHT } from "../settings.ts";
import { startSimulator } from "../start.ts";
import { addFunded, addUser, control, pay, PASSWORDS } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

test("an update changes valid members, ignores invalid ones and never changes the balance", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addFunded(client, "10.00", { Comment: "kept" });
  const { retcode, answer } = await client.json(`/api/user/update?login=${login}&leverage=9999&rights=5`, {
    body: { Name: "New", Group: "no\\such", Balance: "1000000", ZIPCode: "77" },
  });
  expect(retcode).toBe("0 Done");
  expect(answer).toMatchObject({
    Name: "New",
    Group: "pamm\\investor",
    Leverage: "100",
    Rights: "5",
    Balance: "10.00",
    Comment: "kept",
    ZipCode: "77",
  });
  const moved = await client.json(`/api/user/update?login=${login}&group=${encodeURIComponent("pamm\\master")}`);
  expect(moved.answer.Group).toBe("pamm\\master");
  expect((await client.json("/api/user/update?login=4242")).retcode).toBe("13 Not found");
});

test("passwords are checked by type", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  const check = (Type: string, Password: string) =>
    client.json("/api/user/check_password", { body: { Login: login, Type, Password } }).then(({ retcode }) => retcode);
  expect(await check("main", PASSWORDS.PassMain)).toBe("0 Done");
  expect(await check("investor", PASSWORDS.PassMain)).toBe("3006 Invalid account password");
  expect(await check("Main", PASSWORDS.PassMain)).toBe("3 Invalid parameters");
  expect(await check("investor", PASSWORDS.PassInvestor)).toBe("0 Done");
});

test("a command that needs a right which the manager lacks is answered with 8, and personal data is empty", async () => {
  const { manager, readAccounts, editAccounts } = MANAGER_RIGHT;
  await using simulator = await startSimulator({ managerRights: [manager, readAccounts, editAccounts] });
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client, { Comment: "secret", Company: "shown" });
  const { answer } = await client.json(`/api/user/get?login=${login}`);
  expect(answer).toMatchObject({ Name: "", Comment: "", Company: "shown", Group: "pamm\\investor" });
  expect((await pay(client, login, "1")).retcode).toBe("8 Not enough permissions");
  expect((await client.json("/api/deal/get?ticket=1")).retcode).toBe("8 Not enough permissions");
});

test("an idle account has no state, and a restart makes accounts idle", async () => {
  await using simulator = await startSimulator();
  const { login, waiting } = await (async () => {
    await using client = await connectAuthenticated(simulator);
    const idle = await addUser(client);
    expect((await client.json(`/api/user/account/get?login=${idle}`)).retcode).toBe("13 Not found");
    const active = await addFunded(client, "250.00");
    expect((await client.json(`/api/user/account/get?login=${active}`)).answer).toMatchObject({
      Login: active,
      Balance: "250.00",
      Equity: "250.00",
      MarginFree: "250.00",
      CurrencyDigits: "2",
    });
    return { login: active, waiting: client.closed };
  })();
  await control(simulator, "POST", "restart");
  await waiting;
  await using again = await connectAuthenticated(simulator);
  expect((await again.json(`/api/user/account/get?login=${login}`)).retcode).toBe("13 Not found");
  expect((await again.json(`/api/user/get?login=${login}`)).answer.Balance).toBe("250.00");
});
