import { expect, test } from "vitest";
import { type CheckName, CHECKS } from "./checks.ts";

const codeOf = (name: CheckName, text: string): string | undefined => CHECKS[name](text)?.code;

const VALID: Readonly<Record<CheckName, readonly string[]>> = {
  login: ["1", "3000001", "9".repeat(19)],
  logins: ["1", "3000003,3000001", Array.from({ length: 100 }, (_, index) => index + 1).join(",")],
  id: ["0", "1", "9223372036854775807"],
  amount: ["0.01", "0.1", "1", "1000000000", "1000000000.00", "000.50"],
  min_deposit: ["0", "0.00", "100", "1000000000.00"],
  currency: ["USD"],
  comment: [
    "CRM-2026-0001",
    "ünï ¢ode 🎉",
    "x".repeat(255),
    "🎉".repeat(255),
    "PD0F7K3M9Q2X1",
    "PD0F7K3M9Q2X1Y",
    "PCBACKPAYMENTS",
    "PROCESSING FEE 1",
  ],
  name: ["A", "  Ада  ", "名前", "x".repeat(255)],
  owner_name: ["A", "  Ада  ", "名前", "Zoë O'Brien-Łuk", '"&%+', "x".repeat(63)],
  external_id: ["CRM-1", "x".repeat(255)],
  metadata_value: ["", "🎉".repeat(500)],
  strategy_name: ["", "Alpha"],
  strategy: ["", "one\ntwo\n\nthree", "x".repeat(2_000)],
  group: ["pamm\\investor", "real"],
  email: [
    "a@b.co",
    "first.last+tag@sub.example.com",
    "UPPER@EXAMPLE.ORG",
    "o'neil@example.com",
    `${"x".repeat(58)}@b.co`,
  ],
  leverage: ["1", "100", "500", "5000"],
  rate: ["0", "0.0", "1", "1.000000", "0.300000", "0.000001"],
  datetime: ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05"],
  day: ["2026-01-31", "2024-02-29"],
  limit_100: ["1", "50", "100"],
  limit_500: ["1", "100", "500"],
  review_id: ["platform-1", "subscription-999999999999999999", "fee-2"],
  review_ids: ["platform-1", "subscription-1,subscription-2"],
  review_group: ["subscription-0123456789abcdef01234567"],
  break_id: ["platform-1", "funding-999999999999999999"],
  key_id: ["4fT9kQ2mZx7B"],
  review_action: ["resume", "compensate_deficit", "withdraw_proposal"],
  note: ["Checked.", "ünï ¢ode 🎉", "x".repeat(1_000)],
  queue_time: ["PT1S", "P7D", "P30D", "P1DT12H"],
  wait: ["0", "30"],
  operation_id: ["0198c0de-0000-7000-8000-000000000001"],
  comment_filter: ["API Deposit", "PD0F7K3M9Q2X1X", "🎉".repeat(255)],
  integer_cursor: ["0", "42", "9223372036854775807"],
  webhook_url: ["https://crm.example.com/pamm/events?tenant=1", "http://127.0.0.1:8080/"],
  event_types: ["deposit.executed", "deposit.*", "*", "exit.pending,fee.executed,exit.pending"],
};

const INVALID: Readonly<Record<CheckName, readonly (readonly [text: string, code: string])[]>> = {
  login: [
    ["", "malformed"],
    ["0", "malformed"],
    ["007", "malformed"],
    ["-1", "malformed"],
    ["1.5", "malformed"],
    ["abc", "malformed"],
    ["1 ", "malformed"],
    ["١٢", "malformed"],
    ["1".repeat(20), "malformed"],
  ],
  logins: [
    ["", "malformed"],
    ["1,", "malformed"],
    ["1, 2", "malformed"],
    ["1,2,1", "duplicate"],
    [Array.from({ length: 101 }, (_, index) => index + 1).join(","), "out_of_range"],
  ],
  id: [
    ["", "malformed"],
    ["-1", "malformed"],
    ["9223372036854775808", "malformed"],
  ],
  amount: [
    ["", "malformed"],
    ["0", "out_of_range"],
    ["0.00", "out_of_range"],
    ["-5", "out_of_range"],
    ["1000000000.01", "out_of_range"],
    ["1".repeat(60), "out_of_range"],
    ["1".repeat(100), "malformed"],
    ["1.001", "amount_precision"],
    ["1.000", "amount_precision"],
    ["1.", "malformed"],
    [".5", "malformed"],
    ["1e3", "malformed"],
    ["1,5", "malformed"],
    ["+1", "malformed"],
    [" 1", "malformed"],
    ["0x10", "malformed"],
    ["Infinity", "malformed"],
    ["NaN", "malformed"],
    ["1.2.3", "malformed"],
  ],
  min_deposit: [
    ["-0.01", "out_of_range"],
    ["1000000000.01", "out_of_range"],
    ["1.005", "amount_precision"],
    ["", "malformed"],
  ],
  currency: [
    ["EUR", "currency_not_supported"],
    ["usd", "currency_not_supported"],
    ["", "currency_not_supported"],
  ],
  comment: [
    ["", "empty"],
    [" ", "empty"],
    ["a\u0000b", "control_character"],
    ["a\nb", "control_character"],
    ["a\u0085b", "control_character"],
    ["a\u202eb", "invisible_character"],
    ["a\u200bb", "invisible_character"],
    ["\ufeffab", "invisible_character"],
    ["a\u2066b", "invisible_character"],
    ["x".repeat(256), "too_long"],
    ["PD0F7K3M9Q2X1X", "reserved_reference"],
    ["PD0F7K3M9Q2X1X CRM-1", "reserved_reference"],
    ["  PD0F7K3M9Q2X1X", "reserved_reference"],
    ["ＰＤ０F7K3M9Q2X1X", "reserved_reference"],
  ],
  name: [
    ["", "empty"],
    ["   ", "empty"],
    ["a\tb", "control_character"],
    ["x".repeat(256), "too_long"],
    ["\ud800", "malformed"],
  ],
  owner_name: [
    ["", "empty"],
    [" ", "empty"],
    ["a\u200Bb", "invisible_character"],
    ["x".repeat(64), "too_long"],
    ["🎉".repeat(32), "too_long"],
    ["a=b", "not_on_platform"],
    ["a|b", "not_on_platform"],
    ["a\\b", "not_on_platform"],
  ],
  external_id: [
    [" ", "empty"],
    ["x".repeat(256), "too_long"],
    ["a\nb", "control_character"],
  ],
  metadata_value: [
    ["x".repeat(501), "too_long"],
    ["\u200b", "invisible_character"],
  ],
  strategy_name: [["a\u007fb", "control_character"]],
  strategy: [
    ["a\tb", "control_character"],
    ["a\u0085b", "control_character"],
    ["x".repeat(2_001), "too_long"],
  ],
  group: [
    ["", "empty"],
    ["a\u0001", "control_character"],
  ],
  email: [
    ["", "malformed"],
    ["plain", "malformed"],
    ["a@b", "malformed"],
    ["a@@b.co", "malformed"],
    ["a b@c.de", "malformed"],
    [".a@b.co", "malformed"],
    ["a..b@c.de", "malformed"],
    ["a@-b.co", "malformed"],
    [`${"x".repeat(59)}@b.co`, "too_long"],
    [`a@${"x".repeat(250)}.co`, "too_long"],
    ["a=b@c.de", "not_on_platform"],
    ["a|b@c.de", "not_on_platform"],
  ],
  leverage: [
    ["0", "out_of_range"],
    ["5001", "out_of_range"],
    ["-1", "out_of_range"],
    ["1.5", "malformed"],
    ["1:100", "malformed"],
    ["", "malformed"],
  ],
  rate: [
    ["1.000001", "out_of_range"],
    ["2", "out_of_range"],
    ["-0.1", "out_of_range"],
    ["0.0000001", "rate_precision"],
    ["0.3000000", "rate_precision"],
    ["1e400", "malformed"],
  ],
  day: [
    ["2026-02-29", "malformed"],
    ["2026-1-1", "malformed"],
    ["2026-01-01T00:00", "malformed"],
  ],
  datetime: [
    ["2026-02-30T00:00:00", "malformed"],
    ["", "malformed"],
  ],
  limit_100: [
    ["0", "out_of_range"],
    ["101", "out_of_range"],
    ["-1", "out_of_range"],
    ["99999999999999999999", "out_of_range"],
    ["1.0", "malformed"],
    ["", "malformed"],
  ],
  limit_500: [["501", "out_of_range"]],
  break_id: [
    ["5", "malformed"],
    ["account-5", "malformed"],
  ],
  key_id: [
    ["", "malformed"],
    ["4fT9kQ2mZx7_", "malformed"],
  ],
  review_id: [
    ["", "malformed"],
    ["5", "malformed"],
    ["platform-0", "malformed"],
    ["funding-5", "malformed"],
    ["platform-5 ", "malformed"],
    [`platform-${"9".repeat(19)}`, "malformed"],
  ],
  review_ids: [
    ["", "malformed"],
    ["platform-1,", "malformed"],
    ["fee-1,fee-1", "duplicate"],
    [Array.from({ length: 101 }, (_, index) => `fee-${index + 1}`).join(","), "out_of_range"],
  ],
  review_group: [
    ["", "malformed"],
    ["0123456789abcdef01234567", "malformed"],
    ["fee-0123456789ABCDEF01234567", "malformed"],
  ],
  review_action: [
    ["", "malformed"],
    ["Resume", "malformed"],
    ["_resume", "malformed"],
    ["a".repeat(65), "malformed"],
  ],
  note: [
    ["", "empty"],
    ["  ", "empty"],
    ["two\nlines", "control_character"],
    ["x".repeat(1_001), "too_long"],
  ],
  queue_time: [
    ["7 days", "malformed"],
    ["P1M", "malformed"],
    ["PT0.5S", "out_of_range"],
    ["P31D", "out_of_range"],
  ],
  wait: [
    ["31", "out_of_range"],
    ["-1", "out_of_range"],
    ["1.5", "malformed"],
  ],
  operation_id: [
    ["", "malformed"],
    ["op-1", "malformed"],
    ["0198C0DE-0000-7000-8000-000000000001", "malformed"],
  ],
  comment_filter: [
    ["", "empty"],
    ["a\u0000b", "control_character"],
    ["x".repeat(256), "too_long"],
  ],
  integer_cursor: [
    ["-1", "invalid_cursor"],
    ["abc", "invalid_cursor"],
    ["", "invalid_cursor"],
    ["9223372036854775808", "invalid_cursor"],
  ],
  webhook_url: [
    ["", "malformed"],
    ["crm.example.com", "malformed"],
    ["ftp://crm.example.com/", "malformed"],
    ["file:///etc/passwd", "malformed"],
    ["https://user:password@crm.example.com/", "malformed"],
    ["https://crm.example.com/#part", "malformed"],
    [`https://crm.example.com/${"x".repeat(2_000)}`, "too_long"],
  ],
  event_types: [
    ["", "malformed"],
    ["deposit", "malformed"],
    ["deposit.done", "malformed"],
    ["deposit.*,", "malformed"],
    ["deposit.executed, fee.executed", "malformed"],
  ],
};

const names = Object.keys(CHECKS) as CheckName[];

test.each(names)("a valid %s passes its check", (name) => {
  expect(VALID[name].map((text) => [text, codeOf(name, text)])).toEqual(VALID[name].map((text) => [text, undefined]));
});

test.each(names)("an invalid %s is reported with its own code", (name) => {
  expect(INVALID[name].map(([text]) => [text, codeOf(name, text)])).toEqual(INVALID[name]);
});

/** Fillers, blanks, hyphens and notes that show nothing; tags; what is no character. */
const UNSEEN = [
  0xfff9, 0xfffb, 0x3164, 0x2800, 0xad, 0x180e, 0x115f, 0x1160, 0xffa0, 0x34f, 0xe0000, 0xe0001, 0xe0041, 0xe007f,
  0x61c, 0x200b, 0x200e, 0x2060, 0x1d159, 0xfffe, 0xffff,
].map((code) => String.fromCodePoint(code));
const NAMES = [
  "name",
  "owner_name",
  "strategy_name",
  "strategy",
  "external_id",
  "metadata_value",
  "note",
  "comment",
  "group",
] as const;

test.each(NAMES)("no character that shows nothing is taken in a text of kind %s, alone or between others", (name) => {
  for (const unseen of UNSEEN) {
    const code = `U+${unseen.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
    for (const text of [unseen, `${unseen}Ada`, `A${unseen}da`, `Ada${unseen}`]) {
      expect(CHECKS[name](text), code).toMatchObject({
        code: "invisible_character",
        text: expect.stringContaining(code),
      });
    }
  }
});

test.each(["می‌خواهم", "CD‌ها", "क्‍ष", "👩‍🚀", "👩🏽‍🚀", "❤️‍🔥", "❤\uFE0E", "🏴‍☠️", "Fund ™️", "1️⃣ Fund", "葛󠄀城", "ᠠ\u180B"])(
  "joiners and variation selectors stay where they change what is seen: %s",
  (text) => {
    expect(codeOf("name", text)).toBeUndefined();
  },
);

test.each(["‌", "‍", "️", "️‍", "‍‍"])(
  "joiners and variation selectors that join nothing visible are refused (%j)",
  (joiner) => {
    for (const text of [joiner, `${joiner}Ada`, `Ada ${joiner}B`, `Ada${joiner}${joiner}`]) {
      expect([text, codeOf("name", text)]).toEqual([text, "invisible_character"]);
    }
  },
);

test.each([
  ["a\uFE0F", "U+FE0F"],
  ["Ada\uFE0F Byron", "U+FE0F"],
  ["Fund 1\uFE0F", "U+FE0F"],
  ["❤️\uFE0F", "U+FE0F"],
  ["名\uFE0F", "U+FE0F"],
  ["a\uFE0E", "U+FE0E"],
  ["a\uFE00", "U+FE00"],
  ["a\u{E0100}", "U+E0100"],
  ["A\u200Dda", "U+200D"],
  ["A\u200Cda", "U+200C"],
  ["А\u200Dда", "U+200D"],
  ["1\u200D2", "U+200D"],
  ["👩\u200D1", "U+200D"],
  ["👩\u200C🚀", "U+200C"],
])("no joiner or variation selector makes a second spelling that looks the same: %j has %s", (text, code) => {
  expect(CHECKS.name(text)).toEqual({
    code: "invisible_character",
    text: `must not contain the invisible character ${code}`,
  });
});

test("the message about types of events names the kinds", () => {
  expect(CHECKS.event_types("deposits.*")?.text).toBe(
    "must be types of events such as deposit.executed, deposit.*, withdrawal.*, subscription.*, unassign.*, mirror.*, exit.*, fee.*, account.*, break.*, review.* or *, separated by commas without spaces",
  );
});

test("the message about the address of a webhook says that a system with test keys takes http", () => {
  expect(CHECKS.webhook_url("ftp://crm.example.com/")?.text).toBe(
    "must be a URL that begins with https (or with http, where keys are test), without a user, password or fragment",
  );
});
