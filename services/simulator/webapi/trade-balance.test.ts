import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addFunded, addUser, control } from "../test/fixture.ts";
import { connectAuthenticated, type RawClient } from "../test/raw-client.ts";

const NO_MONEY = "10019 Not enough money";

function balance(client: RawClient, query: string): Promise<string> {
  return client.json(`/api/trade/balance?${query}`, { method: "POST" }).then(({ retcode }) => retcode);
}

async function moneyOf(client: RawClient, login: string): Promise<{ Balance: string; Credit: string }> {
  const { Balance, Credit } = (await client.json(`/api/user/get?login=${login}`)).answer;
  return { Balance, Credit };
}

test("an invalid balance operation is refused with 3", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  for (const type of ["0", "1", "7", "15", "17", "x", ""]) {
    expect([type, await balance(client, `login=${login}&type=${type}&balance=1`)]).toEqual([
      type,
      "3 Invalid parameters",
    ]);
  }
  for (const amount of ["", "0", "0.00", "1,5", "1e3", "abc", "--1"]) {
    const retcode = await balance(client, `login=${login}&type=2&balance=${amount}`);
    expect([amount, retcode]).toEqual([amount, "3 Invalid parameters"]);
  }
  expect(await balance(client, "type=2&balance=1")).toBe("3 Invalid parameters");
  expect(await balance(client, `login=${login}&type=2&balance=%zz`)).toBe("3 Invalid parameters");
  expect(await balance(client, "login=4242&type=2&balance=1")).toBe("13 Not found");
  expect(await moneyOf(client, login)).toEqual({ Balance: "0.00", Credit: "0.00" });
});

test("an amount above a billion is refused with 4005", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  expect(await balance(client, `login=${login}&type=2&balance=1000000000.01`)).toBe("4005 Money limit reached");
  expect(await balance(client, `login=${login}&type=2&balance=-1000000000.01`)).toBe("4005 Money limit reached");
  expect(await balance(client, `login=${login}&type=2&balance=1000000000`)).toBe("0 Done");
});

test("no balance operation makes the balance negative, and credit does not change it", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  for (const type of ["2", "4", "5"]) {
    const login = await addFunded(client, "10.00");
    for (const check of ["", "&check_margin=0", "&check_margin=1"]) {
      expect(await balance(client, `login=${login}&type=${type}&balance=-10.01${check}`)).toBe(NO_MONEY);
    }
    expect(await balance(client, `login=${login}&type=${type}&balance=-10`)).toBe("0 Done");
    expect(await moneyOf(client, login)).toEqual({ Balance: "0.00", Credit: "0.00" });
  }
  for (const type of ["3", "6"]) {
    const login = await addFunded(client, "10.00");
    expect(await balance(client, `login=${login}&type=${type}&balance=100`)).toBe("0 Done");
    expect(await moneyOf(client, login)).toEqual({ Balance: "10.00", Credit: "100.00" });
    expect(await balance(client, `login=${login}&type=${type}&balance=-100.01`)).toBe(NO_MONEY);
    expect(await balance(client, `login=${login}&type=${type}&balance=-40`)).toBe("0 Done");
    const { answer } = await client.json(`/api/user/account/get?login=${login}`);
    expect(answer).toMatchObject({ Balance: "10.00", Credit: "60.00", Equity: "70.00" });
  }
});

test("a withdrawal above the free margin requires check_margin=0, and a correction does not", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addFunded(client, "2000.00");
  // 1 lot at 1.10010 with leverage 100: margin 1100.10; spread of 10 points: floating -10.00.
  await control(simulator, "POST", "positions", { login, symbol: "EURUSD", side: "buy", volume: 1 });
  expect((await client.json(`/api/user/account/get?login=${login}`)).answer).toMatchObject({
    Margin: "1100.10",
    Floating: "-10.00",
    Equity: "1990.00",
    MarginFree: "889.90",
    MarginLevel: "180.89",
  });
  expect(await balance(client, `login=${login}&type=2&balance=-889.91`)).toBe(NO_MONEY);
  expect(await balance(client, `login=${login}&type=2&balance=-889.91&check_margin=1`)).toBe(NO_MONEY);
  expect(await balance(client, `login=${login}&type=2&balance=-889.90`)).toBe("0 Done");
  expect(await balance(client, `login=${login}&type=2&balance=-1&check_margin=0`)).toBe("0 Done");
  expect(await balance(client, `login=${login}&type=5&balance=-1`)).toBe("0 Done");
  expect((await moneyOf(client, login)).Balance).toBe("1108.10");
});

test("comments are cut to 31 characters, and spaces and plus signs are kept", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  const commentOf = async (comment: string): Promise<string> => {
    const target = `/api/trade/balance?login=${login}&type=2&balance=1&comment=${comment}`;
    const { answer } = await client.json(target, { method: "POST" });
    return (await client.json(`/api/deal/get?ticket=${answer.ticket}`)).answer.Comment;
  };
  expect(await commentOf("0123456789012345678901234567890123")).toBe("0123456789012345678901234567890");
  expect(await commentOf("a%20b+c")).toBe("a b+c");
  expect(await commentOf(encodeURIComponent("Перевод €"))).toBe("Перевод €");
  // The 31st character would be half of a surrogate pair.
  expect(await commentOf(encodeURIComponent(`${"x".repeat(30)}😀`))).toBe("x".repeat(30));
  expect(await commentOf("")).toBe("");
});

test("amounts are rounded to the cent, half away from zero", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  expect(await balance(client, `login=${login}&type=2&balance=10.005`)).toBe("0 Done");
  expect(await balance(client, `login=${login}&type=2&balance=-0.004999`)).toBe("3 Invalid parameters");
  expect((await moneyOf(client, login)).Balance).toBe("10.01");
});
