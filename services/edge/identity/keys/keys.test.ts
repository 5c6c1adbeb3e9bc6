import { expect, test } from "vitest";
import { isAddressOrNetwork, allows } from "./addresses.ts";
import { mintKey, readKeyId } from "./api-key.ts";
import { parseCommand } from "./command-line.ts";
import { KeyCommandError } from "./manage-keys.ts";
import { SCOPES } from "../../wire/scopes.ts";

const NOW = new Date("2026-01-01T00:00:00Z");

test("a key contains its environment and its id, and its checksum detects every changed character", () => {
  const { id, text } = mintKey("live");

  expect(text).toMatch(/^pamm_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  expect(readKeyId(text)).toBe(id);
  expect(readKeyId(mintKey("test").text)).toBeDefined();
  for (let index = 0; index < text.length; index += 1) {
    const other = text[index] === "a" ? "b" : "a";
    expect(readKeyId(text.slice(0, index) + other + text.slice(index + 1)), `changed at ${index}`).toBeUndefined();
  }
});

test("an address list allows its addresses and networks only", () => {
  const isAllowed = allows(["10.0.0.0/8", "192.168.1.7", "2001:db8::/32"]);
  const addresses = [
    "10.1.2.3",
    "192.168.1.7",
    "2001:db8::1",
    "::ffff:10.0.0.1",
    "11.0.0.1",
    "192.168.1.8",
    "::1",
    "nonsense",
  ];

  expect(addresses.filter(isAllowed)).toEqual(["10.1.2.3", "192.168.1.7", "2001:db8::1", "::ffff:10.0.0.1"]);
  expect(allows([])("203.0.113.9")).toBe(true);
  const texts = ["10.0.0.0/8", "::1", "1.2.3.4/32", "::1/128", "1.2.3.4/33", "::1/129", "host", "1.2.3/8"];
  expect(texts.filter(isAddressOrNetwork)).toEqual(["10.0.0.0/8", "::1", "1.2.3.4/32", "::1/128"]);
});

test("a command is parsed with all its options", () => {
  const line =
    "create --name CRM --scopes masters:read,funds:deposit,masters:read --expires P90D --allow 10.0.0.0/8,::1 --duplicate-comment reject --by ann";

  expect(parseCommand(line.split(" "), NOW)).toEqual({
    kind: "create",
    by: "ann",
    request: {
      environment: undefined,
      name: "CRM",
      scopes: ["masters:read", "funds:deposit"],
      allowedAddresses: ["10.0.0.0/8", "::1"],
      duplicateComment: "reject",
      expiresAt: new Date("2026-04-01T00:00:00Z"),
    },
  });
  expect(parseCommand(["list"], NOW)).toEqual({ kind: "list" });
  expect(parseCommand(["revoke", "abcdefABCD12"], NOW)).toEqual({
    kind: "revoke",
    id: "abcdefABCD12",
    by: undefined,
  });
  expect(parseCommand(["rotate", "abcdefABCD12", "--overlap", "PT1H"], NOW)).toEqual({
    kind: "rotate",
    id: "abcdefABCD12",
    overlapMs: 3_600_000,
    by: undefined,
  });
});

test.each([
  ["", "A command is required."],
  ["destroy", "Command 'destroy' does not exist."],
  ["create --name CRM --scopes masters:read --scope x", "Unknown option '--scope'."],
  ["create --name", "Option '--name <value>' argument missing."],
  ["list --all", "Unknown option '--all'."],
  ["list extra", "Unexpected argument: extra."],
  ["revoke", "The id of the key is required: 12 letters and digits."],
  ["revoke short", "The id of the key is required: 12 letters and digits."],
  [`revoke abcdefABCD12 --by ${"x".repeat(101)}`, "--by must have 1 to 100 characters."],
  [
    "create --name A\u200bnn --scopes ops",
    '--name must be written without spaces at its ends, repeated spaces and characters that are not shown: "Ann".',
  ],
  [
    "revoke abcdefABCD12 --by Ann\u00a0Lee",
    '--by must be written without spaces at its ends, repeated spaces and characters that are not shown: "Ann Lee".',
  ],
  ["rotate abcdefABCD12 --overlap P8D", "--overlap must be a duration of at most P7D."],
  [
    "create --scopes masters:all --expires 2020-01-01T00:00:00Z --allow nowhere --environment prod --duplicate-comment warn",
    `--name must have 1 to 100 characters.\n--scopes: unknown masters:all. Allowed: ${SCOPES.join(", ")}.\n--allow: not an address or network: nowhere.\n--environment must be live or test.\n--duplicate-comment must be allow or reject.\n--expires must be a duration such as P90D or an instant in the future.`,
  ],
])("%s is refused with a message", (line, message) => {
  expect(() => parseCommand(line.split(" ").filter(Boolean), NOW)).toThrow(new KeyCommandError(message));
});
