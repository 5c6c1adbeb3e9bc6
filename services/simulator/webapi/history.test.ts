import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { addFunded, addUser, control, pay } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

const ALWAYS = "from=0&to=9999999999";

test("pages have at most 100 rows, without gaps or repetitions", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  for (let index = 0; index < 130; index += 1) await pay(client, login, "1");
  const page = (query: string) => client.json(`/api/deal/get_page?login=${login}&${ALWAYS}&${query}`);

  expect((await client.json(`/api/deal/get_total?login=${login}&${ALWAYS}`)).answer).toEqual({ total: "130" });
  const first = (await page("offset=0&total=100")).answer;
  const second = (await page("offset=100&total=100")).answer;
  expect([first.length, second.length, (await page("offset=130&total=100")).answer.length]).toEqual([100, 30, 0]);
  const tickets = [...first, ...second].map(({ Deal }: { Deal: string }) => Number(Deal));
  expect(tickets).toEqual(tickets.toSorted((left, right) => left - right));
  expect(new Set(tickets).size).toBe(130);
  const times = [...first, ...second].map(({ TimeMsc }: { TimeMsc: string }) => Number(TimeMsc));
  expect(times).toEqual(times.toSorted((left, right) => left - right));
  expect((await page("offset=0&total=101")).retcode).toBe("3 Invalid parameters");
  expect((await page("offset=-1&total=10")).retcode).toBe("3 Invalid parameters");
});

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

test("times are the server's wall clock, in winter and in summer", async () => {
  let nowMs = Date.UTC(2026, 0, 15, 10, 0, 0);
  await using simulator = await startSimulator({ nowMs: () => nowMs, timeZone: "Europe/Athens" });
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  await pay(client, login, "1");
  expect((await client.json("/api/time/server")).answer).toEqual({ time: "1768478400 2026.01.15 12:00:00" });
  expect((await client.json("/api/time/get")).answer).toMatchObject({
    Daylight: "1",
    DaylightState: "0",
    TimeZone: "120",
  });

  nowMs = Date.UTC(2026, 6, 15, 10, 0, 0);
  await pay(client, login, "2");
  expect((await client.json("/api/time/server")).answer).toEqual({ time: "1784120400 2026.07.15 13:00:00" });
  expect((await client.json("/api/time/get")).answer).toMatchObject({
    Daylight: "1",
    DaylightState: "1",
    TimeZone: "120",
  });

  const { answer } = await client.json(`/api/deal/get_page?login=${login}&${ALWAYS}&offset=0&total=9`);
  expect(answer).toMatchObject([
    { Profit: "1.00", Time: String(Date.UTC(2026, 0, 15, 12) / 1_000), TimeMsc: String(Date.UTC(2026, 0, 15, 12)) },
    { Profit: "2.00", Time: String(Date.UTC(2026, 6, 15, 13) / 1_000), TimeMsc: String(Date.UTC(2026, 6, 15, 13)) },
  ]);
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

test("deals can be edited and deleted without a change of the balance", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addUser(client);
  const ticket = (await pay(client, login, "5.00")).answer.ticket;
  const edited = await client.json("/api/deal/update", {
    body: { Deal: ticket, Comment: "rewritten", ExternalID: "E1" },
  });
  expect(edited.answer).toMatchObject({
    Comment: "rewritten",
    ExternalID: "E1",
    Profit: "5.00",
    ModificationFlags: "1",
  });
  expect((await client.json(`/api/deal/get?ticket=${ticket}`)).answer.Comment).toBe("rewritten");
  expect(await client.json(`/api/deal/delete?ticket=${ticket}`, { method: "POST" })).toEqual({ retcode: "0 Done" });
  expect((await client.json(`/api/deal/get?ticket=${ticket}`)).retcode).toBe("13 Not found");
  expect((await client.json(`/api/user/get?login=${login}`)).answer.Balance).toBe("5.00");
  expect((await client.json("/api/deal/update", { body: { Deal: ticket } })).retcode).toBe("13 Not found");
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

  for (const command of ["deal/get_batch", "user/get_batch", "user/account/get_batch"]) {
    expect(await logins(command, "pamm\\*")).toEqual([master, investor]);
    expect(await logins(command, "pamm\\*,!pamm\\master,demo\\*")).toEqual([investor, other]);
    expect(await logins(command, "pamm\\mast")).toEqual([]);
  }
  expect(await logins("position/get_batch", "*")).toEqual([]);
});

test("a server that refuses the selection by group answers the selection by login", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const login = await addFunded(client, "1.00");
  const fault = { command: "deal/get_batch", parameter: "group", effect: "retcode:3", times: 2 };
  await control(simulator, "POST", "faults", fault);

  const byGroup = () => client.json(`/api/deal/get_batch?group=pamm%5Cinvestor&${ALWAYS}`);
  expect((await byGroup()).retcode).toBe("3 Invalid parameters");
  expect((await client.json(`/api/deal/get_batch?login=${login}&${ALWAYS}`)).answer).toHaveLength(1);
  expect((await client.json("/api/deal/get_batch", { body: { Group: "*", From: "0", To: "9" } })).retcode).toBe(
    "3 Invalid parameters",
  );
  expect((await byGroup()).answer).toHaveLength(1);
  expect((await control(simulator, "POST", "faults", { ...fault, parameter: "a b" })).body).toMatchObject({
    errors: [{ field: "parameter", message: "must be the name of a parameter, for example group" }],
  });
});

test("deals of a group are those of the period in the order of their tickets, also after one was deleted", async () => {
  let nowMs = Date.UTC(2026, 0, 15, 12);
  await using simulator = await startSimulator({ nowMs: () => nowMs, timeZone: "UTC" });
  await using client = await connectAuthenticated(simulator);
  const [first, second] = [await addUser(client), await addUser(client)];
  const tickets: string[] = [];
  for (const login of [second, first, second, first, second]) {
    tickets.push((await pay(client, login, "1.00")).answer.ticket);
    nowMs += 1_000;
  }
  await client.json(`/api/deal/delete?ticket=${tickets[2]}`, { method: "POST" });
  const at = (index: number): number => Date.UTC(2026, 0, 15, 12) / 1_000 + index;
  const found = async (from: number, to: number) => {
    const { answer } = await client.json(`/api/deal/get_batch?group=pamm%5Cinvestor&from=${from}&to=${to}`);
    return answer.map(({ Deal }: { Deal: string }) => Deal);
  };

  expect(await found(at(1), at(3))).toEqual([tickets[1], tickets[3]]);
  expect(await found(at(0), at(9))).toEqual([tickets[0], tickets[1], tickets[3], tickets[4]]);
  expect(await found(at(5), at(9))).toEqual([]);
});
