import fc from "fast-check";
import { listed } from "../support/fuzz.ts";

/** Bodies of answers to a command that moves money; one character is one byte. */

export type Documented = {
  readonly body: string;
  readonly expected:
    | { readonly kind: "applied"; readonly ticket: bigint }
    | { readonly kind: "refused"; readonly code: number };
};

const TEXTS = [
  "Done",
  "Request executed",
  "Not enough money",
  "Invalid parameters",
  "x",
  "\u041d\u0435\u0442",
  '{"a":1}',
];
const REFUSALS = [3, 8, 12, 13, 1000, 1001, 1002, 1003, 1012, 1020, 1034, 4005, 10019];
const AMBIGUOUS = [1, 2, 4, 5, 6, 7, 9, 10, 11, 14, 15, 16, 17, 1007, 1099, 3002, 10004, 10008, 10010, 12004, 99999];

const text = fc.constantFrom(...TEXTS);
const keyCase = (name: string): fc.Arbitrary<string> => fc.mixedCase(fc.constant(name));
const space = fc.constantFrom("", "", "", " ", "\n\t", "\r\n  ");
const ticket = fc.oneof(
  fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 1n, max: 999_999n }),
  fc.constantFrom(1n, 2n ** 53n + 1n, 2n ** 63n - 1n),
);

/** Answers as the platform documents them, in every spelling that the documentation permits. */
export const documentedBody: fc.Arbitrary<Documented> = fc
  .record({
    refusal: fc.option(fc.constantFrom(...REFUSALS)),
    done: fc.constantFrom(0, 10009),
    ticket,
    text,
    asNumber: fc.boolean(),
    space,
    retcodeKey: keyCase("retcode"),
    answerKey: keyCase("answer"),
    ticketKey: keyCase("ticket"),
    isCodeLast: fc.boolean(),
  })
  .map((own) => {
    const { refusal, space: s, isCodeLast } = own;
    const code = `"${own.retcodeKey}"${s}:${s}${quoted(`${refusal ?? own.done} ${own.text}`)}`;
    if (refusal !== null) return { body: bytes(`{${s}${code}${s}}`), expected: { kind: "refused", code: refusal } };
    const number = own.asNumber ? `${own.ticket}` : `"${own.ticket}"`;
    const answer = `"${own.answerKey}"${s}:${s}{${s}"${own.ticketKey}"${s}:${number}}`;
    const members = isCodeLast ? `${answer}${s},${s}${code}` : `${code},${s}${answer}`;
    return { body: bytes(`{${members}${s}}`), expected: { kind: "applied", ticket: own.ticket } };
  });

const retcode = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...REFUSALS).map((code) => `"${code} No"`) },
  { weight: 4, arbitrary: fc.constantFrom(0, 10009).map((code) => `"${code} Done"`) },
  { weight: 2, arbitrary: fc.constantFrom(...AMBIGUOUS).map((code) => `"${code} Hm"`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...listed(
        String.raw`"0" | "3" | 0 | 3 | "0x3 No" | "03 No" | "3.0 No" | "-3 No" | "+3 No" | " 3 No" | "3\tNo" | "3No"`,
      ),
      ...listed(String.raw`"3 " | "" | null | true | [] | {} | "\u0033 No" | "1e1 No" | "10019\u0000 No" | "3 \u0000"`),
      ...listed(
        String.raw`["3 No"] | {"retcode":"3 No"} | "4294967299 No" | "18446744073709551619 No" | "3  " | "3 \n"`,
      ),
      '"\uff13 No"',
      '"3\u00a0No"',
    ),
  },
);
const ticketValue = fc.oneof(
  { weight: 4, arbitrary: ticket.map((number) => `"${number}"`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...listed(
        String.raw`"0" | 0 | 5 | "5" | "-5" | -5 | 5.0 | 5e3 | "5e3" | "05" | "" | null | true | [] | {} | " 5" | "5 "`,
      ),
      ...listed(
        String.raw`"9223372036854775808" | 9223372036854775808 | "18446744073709551615" | "1e400" | "NaN" | "\u0035"`,
      ),
      '["5"]',
    ),
  },
);

const NAMES = ["retcode", "Retcode", "RETCODE", "ret\\u0063ode", "retcode ", "answer", "Answer", "Ticket", "ticket"];
const MORE_NAMES = ["\\u0054icket", "T\u0131cket", "login", "__proto__", "toString", "constructor", "", "x"];
const name = fc.constantFrom(...NAMES, ...MORE_NAMES);
const scalar = fc.oneof(retcode, ticketValue);

/** JSON with documented names at undocumented depths, counts and types. */
const undocumentedJson: fc.Arbitrary<string> = fc.letrec<{ value: string; members: string }>((recursive) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    recursive("members"),
    fc.array(recursive("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
  ),
  members: fc
    .array(fc.tuple(name, recursive("value")), { maxLength: 4 })
    .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(",")}}`),
})).members;

/** One or two retcodes, an answer with up to two tickets, and up to one other member. */
const nearlyDocumented: fc.Arbitrary<string> = fc
  .tuple(
    retcode,
    fc.option(retcode, { freq: 4 }),
    fc.array(fc.tuple(fc.constantFrom("Ticket", "ticket", "\\u0054icket"), ticketValue), { maxLength: 2 }),
    fc.option(fc.tuple(name, scalar), { freq: 3 }),
    fc.boolean(),
  )
  .map(([code, second, tickets, beside, isNested]) => {
    const inside = tickets.map(([key, value]) => `"${key}":${value}`);
    if (second !== null && isNested) inside.push(`"retcode":${second}`);
    return `{${[
      `"retcode":${code}`,
      ...(second !== null && !isNested ? [`"Retcode":${second}`] : []),
      ...(inside.length > 0 ? [`"answer":{${inside.join(",")}}`] : []),
      ...(beside === null ? [] : [`"${beside[0]}":${beside[1]}`]),
    ].join(",")}}`;
  });

const otherContent = fc.constantFrom(
  "",
  "null",
  "[]",
  '"3 No"',
  "3 No",
  "<html><body>3 Invalid parameters</body></html>",
  '<!-- {"retcode":"3 No"} -->',
  "403 Forbidden",
  '{"retcode":"3 No"}{"retcode":"0 Done"}',
  '{"retcode":"3 No"',
  '{"retcode":"3 No"}\u0000',
  "{'retcode':'3 No'}",
  '{"retcode":"3 No",}',
  '\ufeff{"retcode":"3 No"}',
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  `{"a":${"[".repeat(40)}{"Ticket":"5"}${"]".repeat(40)},"retcode":"3 No"}`,
);

export const anyBody: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: documentedBody.map(({ body }) => body) },
  { weight: 6, arbitrary: nearlyDocumented.map(bytes) },
  { weight: 4, arbitrary: undocumentedJson.map(bytes) },
  { weight: 1, arbitrary: otherContent.map(bytes) },
  { weight: 1, arbitrary: documentedBody.map(({ body }) => Buffer.from(body, "utf16le").toString("latin1")) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((raw) => Buffer.from(raw).toString("latin1")) },
);

function quoted(value: string): string {
  return JSON.stringify(value);
}

function bytes(value: string): string {
  return Buffer.from(value, "utf8").toString("latin1");
}
