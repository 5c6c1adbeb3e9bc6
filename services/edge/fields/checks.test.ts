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

/** By the code of the mistake. */
const INVALID: Readonly<Record<CheckName, Readonly<Record<string, readonly string[]>>>> = {
  login: {
    malformed: ["", "0", "007", "-1", "1.5", "abc", "1 ", "١٢", "1".repeat(20)],
  },
  logins: {
    malformed: ["", "1,", "1, 2"],
    duplicate: ["1,2,1"],
    out_of_range: [Array.from({ length: 101 }, (_, index) => index + 1).join(",")],
  },
  id: {
    malformed: ["", "-1", "9223372036854775808"],
  },
  amount: {
    malformed: ["", "1".repeat(100), "1.", ".5", "1e3", "1,5", "+1", " 1", "0x10", "Infinity", "NaN", "1.2.3"],
    out_of_range: ["0", "0.00", "-5", "1000000000.01", "1".repeat(60)],
    amount_precision: ["1.001", "1.000"],
  },
  min_deposit: {
    out_of_range: ["-0.01", "1000000000.01"],
    amount_precision: ["1.005"],
    malformed: [""],
  },
  currency: {
    currency_not_supported: ["EUR", "usd", ""],
  },
  comment: {
    empty: ["", " "],
    control_character: ["a\u0000b", "a\nb", "a\u0085b"],
    invisible_character: ["a\u202eb", "a\u200bb", "\ufeffab", "a\u2066b"],
    too_long: ["x".repeat(256)],
    reserved_reference: ["PD0F7K3M9Q2X1X", "PD0F7K3M9Q2X1X CRM-1", "  PD0F7K3M9Q2X1X", "ＰＤ０F7K3M9Q2X1X"],
  },
  name: {
    empty: ["", "   "],
    control_character: ["a\tb"],
    too_long: ["x".repeat(256)],
    malformed: ["\ud800"],
  },
  owner_name: {
    empty: ["", " "],
    invisible_character: ["a\u200Bb"],
    too_long: ["x".repeat(64), "🎉".repeat(32)],
    not_on_platform: ["a=b", "a|b", "a\\b"],
  },
  external_id: {
    empty: [" "],
    too_long: ["x".repeat(256)],
    control_character: ["a\nb"],
  },
  metadata_value: {
    too_long: ["x".repeat(501)],
    invisible_character: ["\u200b"],
  },
  strategy_name: {
    control_character: ["a\u007fb"],
  },
  strategy: {
    control_character: ["a\tb", "a\u0085b"],
    too_long: ["x".repeat(2_001)],
  },
  group: {
    empty: [""],
    control_character: ["a\u0001"],
  },
  email: {
    malformed: ["", "plain", "a@b", "a@@b.co", "a b@c.de", ".a@b.co", "a..b@c.de", "a@-b.co"],
    too_long: [`${"x".repeat(59)}@b.co`, `a@${"x".repeat(250)}.co`],
    not_on_platform: ["a=b@c.de", "a|b@c.de"],
  },
  leverage: {
    out_of_range: ["0", "5001", "-1"],
    malformed: ["1.5", "1:100", ""],
  },
  rate: {
    out_of_range: ["1.000001", "2", "-0.1"],
    rate_precision: ["0.0000001", "0.3000000"],
    malformed: ["1e400"],
  },
  day: {
    malformed: ["2026-02-29", "2026-1-1", "2026-01-01T00:00"],
  },
  datetime: {
    malformed: ["2026-02-30T00:00:00", ""],
  },
  limit_100: {
    out_of_range: ["0", "101", "-1", "99999999999999999999"],
    malformed: ["1.0", ""],
  },
  limit_500: {
    out_of_range: ["501"],
  },
  break_id: {
    malformed: ["5", "account-5"],
  },
  key_id: {
    malformed: ["", "4fT9kQ2mZx7_"],
  },
  review_id: {
    malformed: ["", "5", "platform-0", "funding-5", "platform-5 ", `platform-${"9".repeat(19)}`],
  },
  review_ids: {
    malformed: ["", "platform-1,"],
    duplicate: ["fee-1,fee-1"],
    out_of_range: [Array.from({ length: 101 }, (_, index) => `fee-${index + 1}`).join(",")],
  },
  review_group: {
    malformed: ["", "0123456789abcdef01234567", "fee-0123456789ABCDEF01234567"],
  },
  review_action: {
    malformed: ["", "Resume", "_resume", "a".repeat(65)],
  },
  note: {
    empty: ["", "  "],
    control_character: ["two\nlines"],
    too_long: ["x".repeat(1_001)],
  },
  queue_time: {
    malformed: ["7 days", "P1M"],
    out_of_range: ["PT0.5S", "P31D"],
  },
  wait: {
    out_of_range: ["31", "-1"],
    malformed: ["1.5"],
  },
  operation_id: {
    malformed: ["", "op-1", "0198C0DE-0000-7000-8000-000000000001"],
  },
  comment_filter: {
    empty: [""],
    control_character: ["a\u0000b"],
    too_long: ["x".repeat(256)],
  },
  integer_cursor: {
    invalid_cursor: ["-1", "abc", "", "9223372036854775808"],
  },
  webhook_url: {
    malformed: [
      "",
      "crm.example.com",
      "ftp://crm.example.com/",
      "file:///etc/passwd",
      "https://user:password@crm.example.com/",
      "https://crm.example.com/#part",
    ],
    too_long: [`https://crm.example.com/${"x".repeat(2_000)}`],
  },
  event_types: {
    malformed: ["", "deposit", "deposit.done", "deposit.*,", "deposit.executed, fee.executed"],
  },
};

const names = Object.keys(CHECKS) as CheckName[];

test.each(names)("a valid %s passes its check, and an invalid one is reported with its own code", (name) => {
  expect(VALID[name].map((text) => [text, codeOf(name, text)])).toEqual(VALID[name].map((text) => [text, undefined]));
  for (const [code, texts] of Object.entries(INVALID[name])) {
    expect(texts.map((text) => [text, codeOf(name, text)])).toEqual(texts.map((text) => [text, code]));
  }
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

test("joiners and variation selectors stay where they change what is seen", () => {
  const seen = ["می‌خواهم", "CD‌ها", "क्‍ष", "👩‍🚀", "👩🏽‍🚀", "❤️‍🔥", "❤\uFE0E", "🏴‍☠️", "Fund ™️", "1️⃣ Fund", "葛󠄀城", "ᠠ\u180B"];
  expect(seen.map((text) => [text, codeOf("name", text)])).toEqual(seen.map((text) => [text, undefined]));
});

test("joiners and variation selectors that join nothing visible are refused", () => {
  for (const joiner of ["\u200C", "\u200D", "\uFE0F", "\uFE0F\u200D", "\u200D\u200D"]) {
    for (const text of [joiner, `${joiner}Ada`, `Ada ${joiner}B`, `Ada${joiner}${joiner}`]) {
      expect([text, codeOf("name", text)]).toEqual([text, "invisible_character"]);
    }
  }
});

test("no joiner or variation selector makes a second spelling that looks the same", () => {
  const spellings = {
    "U+FE0F": ["a\uFE0F", "Ada\uFE0F Byron", "Fund 1\uFE0F", "❤️\uFE0F", "名\uFE0F"],
    "U+FE0E": ["a\uFE0E"],
    "U+FE00": ["a\uFE00"],
    "U+E0100": ["a\u{E0100}"],
    "U+200D": ["A\u200Dda", "А\u200Dда", "1\u200D2", "👩\u200D1"],
    "U+200C": ["A\u200Cda", "👩\u200C🚀"],
  };
  for (const [code, texts] of Object.entries(spellings)) {
    const mistake = { code: "invisible_character", text: `must not contain the invisible character ${code}` };
    expect(texts.map((text) => [text, CHECKS.name(text)])).toEqual(texts.map((text) => [text, mistake]));
  }
});
