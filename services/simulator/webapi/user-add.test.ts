import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addUser, PASSWORDS } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

const COMPLETE = { ...PASSWORDS, Group: "pamm\\master", Name: "Ann Other", Leverage: "100" };

test("an account is added from query and body, and the body takes precedence", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const added = await client.json(
    "/api/user/add?login=3000001&group=pamm%5Cinvestor&name=Query&leverage=50&comment=tag-1&id=X7&zipcode=123",
    { body: { ...PASSWORDS, Name: "Body", Rights: "355", Email: "a@example.com", LeadCampaign: "spring" } },
  );
  expect(added).toMatchObject({
    retcode: "0 Done",
    login: "3000001",
    answer: {
      Login: "3000001",
      Group: "pamm\\investor",
      Name: "Body",
      Leverage: "50",
      Rights: "355",
      Comment: "tag-1",
      ID: "X7",
      ZipCode: "123",
      Email: "a@example.com",
      LeadCampaign: "spring",
      Balance: "0.00",
      Credit: "0.00",
    },
  });
  expect(await client.json("/api/user/get?login=3000001")).toEqual({ retcode: "0 Done", answer: added.answer });
});

test("both content types are accepted, and escapes of the four special characters are removed", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const body = { ...PASSWORDS, Name: "Zoë" };
  const type = "application/x-www-form-urlencoded";
  const escaped = encodeURIComponent(String.raw`demo\\forex`);
  const plain = encodeURIComponent(String.raw`demo\forex`);
  const comment = encodeURIComponent(String.raw`a\=b\|c\\d\e`);
  const add = (group: string) =>
    client.json(`/api/user/add?leverage=1&group=${group}&comment=${comment}`, { body, type });
  for (const group of [escaped, plain]) {
    expect((await add(group)).answer).toMatchObject({
      Group: "demo\\forex",
      Name: "Zoë",
      Comment: String.raw`a=b|c\d\e`,
    });
  }
});

test("an incomplete or malformed account is refused with 3, a weak password with 3006", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const add = async (body: object | string) => (await client.json("/api/user/add", { body })).retcode;
  for (const body of [
    {},
    { ...COMPLETE, PassMain: undefined },
    { ...COMPLETE, PassInvestor: undefined },
    { ...COMPLETE, Group: undefined },
    { ...COMPLETE, Name: undefined },
    { ...COMPLETE, Leverage: undefined },
    { ...COMPLETE, Leverage: "0" },
    { ...COMPLETE, Leverage: "5001" },
    { ...COMPLETE, Company: { name: "x" } },
    { ...COMPLETE, PassMain: undefined, pass_main: "Abcdef1!" },
    "PassMain=Abcdef1!&PassInvestor=Abcdef1!",
  ]) {
    expect(await add(body), JSON.stringify(body)).toBe("3 Invalid parameters");
  }
  for (const weak of ["Abc1!", "abcdefg1!", "ABCDEFG1!", "Abcdefgh!", "Abcdefg1", "Abcdefgh1!Abcdefgh1!"]) {
    expect(await add({ ...COMPLETE, PassMain: weak }), weak).toBe("3006 Invalid account password");
    expect(await add({ ...COMPLETE, PassInvestor: weak }), weak).toBe("3006 Invalid account password");
  }
});

test("groups that do not exist, differ in case or are not the manager's are refused with 8", async () => {
  await using simulator = await startSimulator({ managerGroups: "pamm\\*,managers" });
  await using client = await connectAuthenticated(simulator);
  for (const Group of ["pamm\\nowhere", "PAMM\\master", "demo\\forex"]) {
    const { retcode } = await client.json("/api/user/add", { body: { ...COMPLETE, Group } });
    expect([Group, retcode]).toEqual([Group, "8 Not enough permissions"]);
  }
});

test("logins that exist are refused with 3004, those of other servers with 3003, and 3002 means that no login is left", async () => {
  await using simulator = await startSimulator({
    loginRange: { first: 1, last: 1010 },
    reservedLogins: { first: 2, last: 1008 },
  });
  await using client = await connectAuthenticated(simulator);
  const add = async (login: string) => {
    const { retcode, login: given } = await client.json("/api/user/add", { body: { ...COMPLETE, Login: login } });
    return [retcode, given];
  };
  expect(await add("5")).toEqual(["0 Done", "5"]);
  expect(await add("5")).toEqual(["3004 Login already exists", undefined]);
  expect(await add("1011")).toEqual(["3003 Login is reserved on another server", undefined]);
  expect([await add("0"), await add("0"), await add("0")].map(([, login]) => login)).toEqual(["1", "1009", "1010"]);
  expect(await add("0")).toEqual(["3002 All logins are used", undefined]);
});

test("texts are cut to their limits without an error", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client, { Name: "n".repeat(200), Company: "c".repeat(99), Comment: "x".repeat(99) });
  const { answer } = await client.json(`/api/user/get?login=${login}`);
  expect([answer.Name.length, answer.Company.length, answer.Comment.length]).toEqual([127, 63, 63]);
});
