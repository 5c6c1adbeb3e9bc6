import { expect, test } from "vitest";
import { classifyCommand, classifyCommandAnswer, type MoneyOutcome } from "./classify.ts";
import type { Exchanged } from "./http/http-answer.ts";
import { MONEY_RETCODES, USER_RETCODES } from "./retcodes.ts";

const answered = (body: string | Uint8Array, status = 200): Exchanged => ({
  kind: "answered",
  answer: { status, headers: new Map(), body: typeof body === "string" ? Buffer.from(body) : body, keepsAlive: true },
});
const classify = (body: string, status = 200): MoneyOutcome => classifyCommandAnswer(answered(body, status));

test("either success code with a ticket is applied, in any key case", () => {
  expect(classify('{"retcode":"0 Done","answer":{"Ticket":"136623"}}')).toEqual({ kind: "applied", ticket: 136623n });
  expect(classify('{"retcode":"10009 Request executed","answer":{"ticket":"7"}}')).toEqual({
    kind: "applied",
    ticket: 7n,
  });
  expect(classify('{"retcode":"0 Done","answer":{"TICKET":9223372036854775807}}')).toEqual({
    kind: "applied",
    ticket: 9223372036854775807n,
  });
});

test("a return code that is not in the table is ambiguous", () => {
  const refused = [
    3, 8, 12, 13, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1010, 1011, 1012, 1018, 1020, 1024, 1026, 1027, 1028, 1034,
    4005, 10019,
  ];
  const codes = [...Array.from({ length: 13_000 }, (_, code) => code), 99_999, 999_999_999];
  const kinds = codes.map((code) => [code, classify(`{"retcode":"${code} Some text"}`)] as const);
  expect(kinds.filter(([, { kind }]) => kind === "refused").map(([code]) => code)).toEqual(refused);
  expect(kinds.filter(([, { kind }]) => kind === "applied")).toEqual([]);
  for (const [code, outcome] of kinds) {
    if (code === 0 || code === 10009) expect(outcome).toEqual({ kind: "unknown", reason: "no_ticket" });
    else if (refused.includes(code)) expect(outcome).toEqual({ kind: "refused", code });
    else expect(outcome).toEqual({ kind: "unknown", reason: "ambiguous_code", code });
  }
});

test("a command is not_sent only when no byte was written; otherwise a command without an answer is unknown", () => {
  for (const reason of ["closed", "unauthenticated", "not_permitted"] as const) {
    expect(classifyCommandAnswer({ kind: "not_sent", reason })).toEqual({ kind: "not_sent", reason });
  }
  for (const reason of ["timeout", "connection_lost", "protocol_violation"] as const) {
    expect(classifyCommandAnswer({ kind: "lost", reason })).toEqual({ kind: "unknown", reason });
  }
});

test("every HTTP status except 200 is unknown, with any body", () => {
  for (const status of [201, 204, 301, 302, 400, 403, 404, 429, 500, 502, 503]) {
    for (const body of [
      '{"retcode":"3 Invalid parameters"}',
      '{"retcode":"0 Done","answer":{"Ticket":"5"}}',
      "403 Forbidden",
    ]) {
      expect(classify(body, status)).toEqual({ kind: "unknown", reason: "http_status", code: status });
    }
  }
});

test("a contradictory answer is unknown", () => {
  const contradictory = [
    '{"retcode":"0 Done","retcode":"3 Invalid parameters","answer":{"Ticket":"5"}}',
    '{"retcode":"3 Invalid parameters","retcode":"0 Done","answer":{"Ticket":"5"}}',
    '{"retcode":"0 Done","answer":{"Ticket":"5","Ticket":"6"}}',
    '{"retcode":"0 Done","answer":{"Ticket":"5","ticket":"6"}}',
    '{"retcode":"0 Done","Ticket":"6","answer":{"Ticket":"5"}}',
    '{"retcode":"0 Done","Ticket":"5"}',
    '{"retcode":"0 Done","answer":[{"Ticket":"5"}]}',
    '{"retcode":"0 Done","answer":{"deal":{"Ticket":"5"}}}',
    '{"retcode":"10019 Not enough money","answer":{"Ticket":"5"}}',
    '{"retcode":"3 Invalid parameters","Ticket":"5"}',
    '{"retcode":"3 Invalid parameters","answer":{"retcode":"0 Done"}}',
    '{"retcode":"0 Done","answer":{"Ticket":"5","Retcode":"10019 Not enough money"}}',
    '{"retcode":"0","answer":{"Ticket":"5"}}',
    '{"retcode":0,"answer":{"Ticket":"5"}}',
    '{"answer":{"Ticket":"5"}}',
  ];
  for (const body of contradictory) {
    expect(classify(body), body).toMatchObject({ kind: "unknown", reason: "contradictory" });
  }
});

test("success without a valid ticket is unknown", () => {
  for (const ticket of ['"0"', "0"]) {
    expect(classify(`{"retcode":"0 Done","answer":{"Ticket":${ticket}}}`)).toEqual({
      kind: "unknown",
      reason: "no_ticket",
    });
  }
  for (const ticket of [
    '""',
    '"-5"',
    '"5.0"',
    '"5e3"',
    '"05"',
    '" 5"',
    "null",
    "true",
    "[]",
    '"9223372036854775808"',
    "1e3",
  ]) {
    expect(classify(`{"retcode":"0 Done","answer":{"Ticket":${ticket}}}`), ticket).toMatchObject({ kind: "unknown" });
  }
  for (const body of [
    '{"retcode":"0 Done"}',
    '{"retcode":"0 Done","answer":{}}',
    '{"retcode":"0 Done","answer":"5"}',
  ]) {
    expect(classify(body)).toEqual({ kind: "unknown", reason: "no_ticket" });
  }
});

test("a refusal without a ticket or with ticket zero is a refusal", () => {
  expect(classify('{"retcode":"10019 Not enough money"}')).toEqual({ kind: "refused", code: 10019 });
  expect(classify('{"retcode":"3 Invalid parameters","answer":{"Ticket":"0"}}')).toEqual({ kind: "refused", code: 3 });
});

test("an existing login is a refusal for account commands and ambiguous for money commands", () => {
  const exists = answered('{"retcode":"3004 Login already exists"}');
  expect(classifyCommand(exists, USER_RETCODES)).toMatchObject({ kind: "refused", code: 3004 });
  expect(classifyCommand(exists, MONEY_RETCODES)).toMatchObject({ kind: "unknown", reason: "ambiguous_code" });
});
