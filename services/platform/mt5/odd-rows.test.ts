import { expect, test } from "vitest";
import type { Deal } from "./deals.ts";
import { answering } from "./testing/answering.ts";

const period = { from: new Date(0), to: new Date("2026-01-02T00:00:00Z") };

const tradeOf = (login: string): Record<string, unknown> => ({
  Deal: `50${login}`,
  Login: login,
  Action: "0",
  Entry: "1",
  PositionID: "77",
  Symbol: "EURUSD",
  Volume: "10000",
  VolumeClosed: "5000",
  Time: "1767225600",
  Profit: "5.00",
  Comment: "x",
});
const balanceOf = (login: string) => ({ ...tradeOf(login), Action: "2", Entry: undefined, PositionID: undefined });
const odd = (own: object, row = tradeOf("2")) => JSON.stringify({ ...row, ...own });

/** What servers, dealers and other programs put into a history; text with one character per byte. */
const READ: readonly { what: string; row: string; deal: Partial<Deal> }[] = [
  { what: "a TAB in a comment", row: odd({ Comment: "a~b" }).replace("~", "\t"), deal: { comment: "a b" } },
  { what: "a line feed in a comment", row: odd({ Comment: "a~b" }).replace("~", "\n"), deal: { comment: "a b" } },
  { what: "NUL in a comment", row: odd({ Comment: "a\u0000b" }), deal: { comment: "a b" } },
  { what: "a raw NUL in a comment", row: odd({ Comment: "a~b" }).replace("~", "\u0000"), deal: { comment: "a b" } },
  {
    what: "a byte that is not UTF-8",
    row: odd({ Comment: "a~b" }).replace("~", "\u00e9"),
    deal: { comment: "a\uFFFDb" },
  },
  {
    what: "half of a pair in a comment",
    row: odd({ Comment: "a~" }).replace("~", "\\ud800"),
    deal: { comment: "a\ud800" },
  },
  { what: "a brace in a comment", row: odd({ Comment: "a}b{" }), deal: { comment: "a}b{" } },
  { what: "no comment", row: odd({ Comment: null }), deal: { comment: "" } },
  {
    what: "numbers that are not text",
    row: odd({ Login: 2, Profit: 5.5, Volume: 10_000 }),
    deal: { profitMinor: 5_50n },
  },
  {
    what: "no VolumeClosed of a deal out",
    row: odd({ VolumeClosed: undefined }),
    deal: { volumeClosed: 100_000_000n },
  },
  {
    what: "no VolumeClosed of a deal in",
    row: odd({ VolumeClosed: undefined, Entry: "0" }),
    deal: { volumeClosed: 0n },
  },
  { what: "finer digits that are zero", row: odd({ Profit: "5.000000" }), deal: { profitMinor: 5_00n } },
  { what: "no swap, commission and fee", row: odd({ Storage: undefined }), deal: { swapMinor: 0n, feeMinor: 0n } },
  {
    what: "a balance operation without trade fields",
    row: odd({}, balanceOf("2")),
    deal: { positionId: 0n, entry: 0 },
  },
  { what: "an unknown action", row: odd({ Action: "99", Entry: "255" }), deal: { action: 99, entry: 255 } },
  { what: "both spellings of the flags", row: odd({ ModifyFlags: "1", ModificationFlags: "1" }), deal: {} },
];

const NOT_READ: readonly { what: string; row: string }[] = [
  { what: "money finer than a cent", row: odd({ Profit: "0.005" }) },
  { what: "money that is not a number", row: odd({ Profit: "nan" }) },
  { what: "money with an exponent", row: odd({ Profit: "1e2" }) },
  { what: "money with a comma", row: odd({ Profit: "5,00" }) },
  { what: "no money", row: odd({ Profit: undefined }) },
  { what: "PositionID 0 of a trade", row: odd({ PositionID: "0" }) },
  { what: "no volume", row: odd({ Volume: undefined }) },
  { what: "no VolumeClosed of a reversal", row: odd({ VolumeClosed: undefined, Entry: "2" }) },
  { what: "no entry of a trade", row: odd({ Entry: undefined }) },
  { what: "no time", row: odd({ Time: undefined }) },
  { what: "ticket 0", row: odd({ Deal: "0" }) },
  { what: "two tickets", row: odd({}).replace("{", '{"deal":"7",') },
  { what: "a structure in the place of text", row: odd({ Comment: {} }) },
  ...[
    { Deal: "-5" },
    { Deal: "9223372036854775808" },
    { Action: "balance" },
    { Action: "40000" },
    { Time: "soon" },
    { Time: "-1" },
    { Time: "8640000000000001" },
    { TimeMsc: "9007199254740991" },
    { Entry: "in" },
    { Profit: "99999999999999999.00" },
    { Volume: "999999999999999999" },
  ].map((own) => ({ what: JSON.stringify(own), row: odd(own) })),
];

/** A platform with one deal of each of three accounts; the deal of account 2 is odd. */
function platformOf(row: string) {
  const rows = new Map([
    ["1", JSON.stringify(tradeOf("1"))],
    ["2", row],
    ["3", JSON.stringify(tradeOf("3"))],
  ]);
  return answering(({ path, query }) => {
    const logins = query?.["login"]?.split(",") ?? [...rows.keys()];
    const shown = logins.flatMap((login) => rows.get(login) ?? []);
    const answer = path === "deal/get_total" ? `{"Total":"${shown.length}"}` : `[${shown.join(",")}]`;
    return `{"retcode":"0 Done","answer":${answer}}`;
  });
}

const loginsOf = (deals: readonly Deal[]) => deals.map(({ login }) => login);

test.each(READ)("a deal with $what is read, by group and by login", async ({ row, deal }) => {
  const client = platformOf(row);
  const group = await client.findGroupDeals("g", period, { isAskedFor: () => true });
  if (group.kind !== "read") throw new Error(group.kind);
  expect([loginsOf(group.deals), [...group.unreadable]]).toEqual([["1", "2", "3"], []]);
  for (const deals of [
    group.deals,
    await client.findDeals(["1", "2", "3"], period),
    await client.readDeals("2", period),
  ]) {
    expect(deals.find(({ login }) => login === "2")).toMatchObject({ ticket: 502n, ...deal });
  }
});

test.each(NOT_READ)("a deal with $what fails its own account only", async ({ row }) => {
  const client = platformOf(row);
  const group = await client.findGroupDeals("g", period, { isAskedFor: () => true });
  if (group.kind !== "read") throw new Error(group.kind);
  expect([loginsOf(group.deals), [...group.unreadable]]).toEqual([["1", "3"], ["2"]]);
  // Pages of accounts are read again in halves, down to the account.
  for (const read of [client.findDeals(["1", "2"], period), client.readDeals("2", period)]) {
    await expect(read).rejects.toMatchObject({ problem: "bad_answer" });
  }
  expect(loginsOf(await client.findDeals(["1", "3"], period))).toEqual(["1", "3"]);
});

test("rows that name no account fail the group, and by login their own account only", async () => {
  for (const row of [odd({ Login: undefined }), odd({ Login: "x" }), odd({ Login: "0" }), '"none"', "null", "7"]) {
    const client = platformOf(row);
    const group = client.findGroupDeals("g", period, { isAskedFor: () => true });
    await expect(group, row).rejects.toMatchObject({ problem: "bad_answer" });
    await expect(client.findDeals(["2"], period), row).rejects.toMatchObject({ problem: "bad_answer" });
    expect(loginsOf(await client.findDeals(["1", "3"], period))).toEqual(["1", "3"]);
  }
});
