import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addFunded, control, pay } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

async function stateFolder(): Promise<{ stateDir: string; journal: string }> {
  const stateDir = await mkdtemp(join(tmpdir(), "simulator-test-"));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  return { stateDir, journal: join(stateDir, "simulator", "journal.log") };
}

async function snapshot(simulator: { controlUrl: string }, login: string) {
  const { body: account } = await control(simulator, "GET", `accounts/${login}`);
  const { body: deals } = await control(simulator, "GET", `accounts/${login}/deals`);
  return { account, deals };
}

test("all data is kept after a stop and a start", async () => {
  const { stateDir } = await stateFolder();
  const { login, before, ca } = await (async () => {
    await using simulator = await startSimulator({ stateDir });
    await using client = await connectAuthenticated(simulator);
    const funded = await addFunded(client, "5000.00", { Comment: "tag", Name: "Zoë" });
    await control(simulator, "POST", "positions", { login: funded, symbol: "EURUSD", side: "buy", volume: "0.1" });
    await control(simulator, "POST", "prices", { symbol: "EURUSD", bid: "1.25", ask: "1.2501" });
    const edited = (await pay(client, funded, "1.00")).answer.ticket;
    await control(simulator, "POST", `deals/${edited}/edit`, { comment: "5" });
    const removed = (await pay(client, funded, "2.00")).answer.ticket;
    await control(simulator, "DELETE", `deals/${removed}`);
    await control(simulator, "POST", `accounts/${funded}/fix`);
    return { login: funded, before: await snapshot(simulator, funded), ca: simulator.ca };
  })();
  await using simulator = await startSimulator({ stateDir });
  expect(await snapshot(simulator, login)).toEqual(before);
  expect(before.account).toMatchObject({ balance: "5001.00", name: "Zoë" });
  expect(simulator.ca).toBe(ca);
  await using client = await connectAuthenticated(simulator);
  const user = (await client.json(`/api/user/get?login=${login}`)).answer;
  expect(user).toMatchObject({ Comment: "tag", Balance: "5001.00" });
  const check = await client.json("/api/user/check_password", {
    body: { Login: login, Type: "main", Password: "Abcdef1!" },
  });
  expect(check.retcode).toBe("0 Done");
});

test.each([
  ["half a line", '0000abcd {"kind":"acc'],
  ["a line whose checksum is wrong", '00000000 {"kind":"forgotten","fromTicket":1}\n'],
  ["zeros", "\0".repeat(700)],
])(
  "%s at the end of the journal is an incomplete write: it is removed, and all earlier changes are kept",
  async (_case, tail) => {
    const { stateDir, journal } = await stateFolder();
    const login = await (async () => {
      await using simulator = await startSimulator({ stateDir });
      await using client = await connectAuthenticated(simulator);
      return await addFunded(client, "12.00");
    })();
    const whole = await readFile(journal, "utf8");
    await appendFile(journal, tail);
    {
      await using simulator = await startSimulator({ stateDir });
      expect((await control(simulator, "GET", `accounts/${login}`)).body.balance).toBe("12.00");
      expect(await readFile(journal, "utf8")).toBe(whole);
      await using client = await connectAuthenticated(simulator);
      await pay(client, login, "1.00");
    }
    await using simulator = await startSimulator({ stateDir });
    expect((await control(simulator, "GET", `accounts/${login}`)).body.balance).toBe("13.00");
  },
);

test("damage in the middle of the journal prevents the start, and the file is not changed", async () => {
  const { stateDir, journal } = await stateFolder();
  {
    await using simulator = await startSimulator({ stateDir });
    await using client = await connectAuthenticated(simulator);
    await addFunded(client, "12.00");
  }
  const damaged = (await readFile(journal, "utf8")).replace("Ann Other", "Bob Other");
  await writeFile(journal, damaged);
  await expect(startSimulator({ stateDir })).rejects.toThrow(/journal .* is damaged at byte 0/);
  expect(await readFile(journal, "utf8")).toBe(damaged);
});

test("a journal with many outdated entries is rewritten at start", async () => {
  const { stateDir, journal } = await stateFolder();
  const login = await (async () => {
    await using simulator = await startSimulator({ stateDir });
    await using client = await connectAuthenticated(simulator);
    const funded = await addFunded(client, "5000.00");
    await control(simulator, "POST", "positions", { login: funded, symbol: "EURUSD", side: "sell", volume: "0.3" });
    await pay(client, funded, "3.00");
    return funded;
  })();
  const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
  const account = lines.findIndex((line) => line.includes('"kind":"account"'));
  await writeFile(
    journal,
    `${Array(25_000).fill(lines[account]).join("\n")}\n${lines.slice(account + 1).join("\n")}\n`,
  );
  const bytesBefore = (await stat(journal)).size;
  const before = await (async () => {
    await using simulator = await startSimulator({ stateDir });
    return await snapshot(simulator, login);
  })();
  expect((await stat(journal)).size).toBeLessThan(bytesBefore / 100);
  await using simulator = await startSimulator({ stateDir });
  expect(await snapshot(simulator, login)).toEqual(before);
  expect(before.account).toMatchObject({ balance: "5003.00", open_positions: [{ volume: "0.30" }] });
  await using client = await connectAuthenticated(simulator);
  expect(Number((await pay(client, login, "1")).answer.ticket)).toBe(before.deals.at(-1).deal + 1);
});

test("the manager cannot take the login of a stored account", async () => {
  const { stateDir } = await stateFolder();
  {
    await using simulator = await startSimulator({ stateDir });
    await control(simulator, "POST", "accounts", { login: 2000, group: "demo\\forex", name: "x" });
  }
  await expect(startSimulator({ stateDir, managerLogin: 2000 })).rejects.toThrow("MT5_LOGIN");
});
