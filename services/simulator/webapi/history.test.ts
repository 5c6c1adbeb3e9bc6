import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addFunded, addUser, pay } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

const ALWAYS = "from=0&to=9999999999";

test("a period includes its first and its last second", async () => {
  let nowMs = Date.UTC(2026, 0, 15, 10, 0, 0, 500);
  await using simulator = await startSimulator({ nowMs: () => nowMs, timeZone: "UTC" });
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  for (let index = 0; index < 4; index += 1) {
    await pay(client, login, String(index + 1));
    nowMs += 1_000;
  }
  const second = Date.UTC(2026, 0, 15, 10, 0, 1) / 1_000;
  const { answer } = await client.json(
    `/api/deal/get_page?login=${login}&from=${second}&to=${second + 1}&offset=0&total=9`,
  );
  expect(answer).toMatchObject([{ Profit: "2.00" }, { Profit: "3.00" }]);
});

test("in the repeated hour of autumn deals show the wall clock, and each is found by its time", async () => {
  let nowMs = Date.UTC(2026, 9, 25, 0, 59, 59);
  await using simulator = await startSimulator({ nowMs: () => nowMs, timeZone: "Europe/Athens" });
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  const [last, first, later] = [
    Date.UTC(2026, 9, 25, 3, 59, 59),
    Date.UTC(2026, 9, 25, 3, 0, 1),
    Date.UTC(2026, 9, 25, 5, 0, 1),
  ];
  await pay(client, login, "1");
  nowMs += 2_000;
  await pay(client, login, "2");
  nowMs += 2 * 3_600_000;
  await pay(client, login, "3");
  const times = async (path: string, fromMs: number, toMs: number) => {
    const period = `from=${fromMs / 1_000}&to=${toMs / 1_000}`;
    const { answer } = await client.json(`/api/deal/${path}&${period}&offset=0&total=9`);
    return answer.map(({ TimeMsc }: { TimeMsc: string }) => Number(TimeMsc));
  };
  for (const path of [`get_page?login=${login}`, "get_batch?group=*"]) {
    expect(await times(path, first - 1_000, later)).toEqual([last, first, later]);
    expect(await times(path, first, first)).toEqual([first]);
    expect(await times(path, last, later)).toEqual([last, later]);
    expect(await times(path, first + 1_000, last)).toEqual([last]);
  }
});

test("a batch requires exactly one of logins, group and tickets", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const first = await addFunded(client, "1.00", { Group: "pamm\\master" });
  const second = await addFunded(client, "2.00");
  const batch = (query: string, body?: object) =>
    client.json(`/api/deal/get_batch?${query}`, body === undefined ? {} : { body });
  const profits = async (request: ReturnType<typeof batch>) =>
    (await request).answer?.map(({ Profit }: { Profit: string }) => Profit);

  expect(await profits(batch(`login=${first},${second}&${ALWAYS}`))).toEqual(["1.00", "2.00"]);
  expect(await profits(batch(`group=pamm%5Cinvestor&${ALWAYS}`))).toEqual(["2.00"]);
  expect(await profits(batch("", { ticket: ["100001", "100002", "5"] }))).toEqual(["1.00", "2.00"]);
  expect(await profits(batch(`login=${first}&symbol=EURUSD&${ALWAYS}`))).toEqual([]);
  expect((await batch(`login=${first}`)).retcode).toBe("3 Invalid parameters");
  expect((await batch(`login=${first}&ticket=1&${ALWAYS}`)).retcode).toBe("3 Invalid parameters");
  expect((await batch(ALWAYS)).retcode).toBe("3 Invalid parameters");
});

test("deals, positions and accounts of several groups are selected by a mask, and those of another group are not", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const [master, investor, other] = [
    await addFunded(client, "1.00", { Group: "pamm\\master" }),
    await addFunded(client, "2.00"),
    await addFunded(client, "3.00", { Group: "demo\\forex" }),
  ];
  const logins = async (command: string, mask: string) => {
    const { answer } = await client.json(`/api/${command}?group=${encodeURIComponent(mask)}&${ALWAYS}`);
    return answer.map(({ Login }: { Login: string }) => Login);
  };

  for (const command of ["deal/get_batch", "user/get_batch"]) {
    expect(await logins(command, "pamm\\*")).toEqual([master, investor]);
    expect(await logins(command, "pamm\\*,!pamm\\master,demo\\*")).toEqual([investor, other]);
    expect(await logins(command, "pamm\\mast")).toEqual([]);
  }
  expect(await logins("position/get_batch", "*")).toEqual([]);
});
