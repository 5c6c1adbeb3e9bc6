import { parseArgs } from "node:util";
import { parseDuration } from "#kernel/duration.ts";
import { isScope, SCOPES, type Scope } from "./scopes.ts";
import { parseTimestamp } from "../wire/timestamp.ts";
import { isAddressOrNetwork } from "./addresses.ts";
import { KeyCommandError, type KeyWish } from "./manage-keys.ts";

export const USAGE = `Usage: npm run keys -- <command>

  create --name NAME --scopes A,B [--expires WHEN] [--allow ADDRESS,NETWORK] [--environment live|test]
         [--duplicate-comment allow|reject]
  list
  rotate ID [--overlap DURATION]
  revoke ID

  WHEN is a duration such as P90D or an instant such as 2027-01-01T00:00:00Z.
  The old key of a rotation stays good for P7D, or for DURATION when it is shorter.
  --duplicate-comment reject refuses a deposit or withdrawal that equals one executed within 24 hours, comment and all.
  Scopes: ${SCOPES.join(" ")}`;

export type KeyCommand =
  | { readonly kind: "create"; readonly wish: KeyWish }
  | { readonly kind: "list" }
  | { readonly kind: "rotate"; readonly id: string; readonly overlapMs: number }
  | { readonly kind: "revoke"; readonly id: string };

export const LONGEST_OVERLAP_MS = 7 * 24 * 60 * 60 * 1_000;
const LONGEST_NAME = 100;
const ID = /^[0-9A-Za-z]{12}$/;
const text = { type: "string" } as const;

/** Knows every option or refuses; all that is wrong with a command is told at once. */
export function parseCommand([kind, ...rest]: readonly string[], now: Date): KeyCommand {
  switch (kind) {
    case "create":
      return { kind, wish: readWish(rest, now) };
    case "list":
      options(rest, {}, 0);
      return { kind };
    case "rotate": {
      const { values, id } = options(rest, { overlap: text }, 1);
      return { kind, id, overlapMs: readOverlap(values["overlap"]) };
    }
    case "revoke":
      return { kind, id: options(rest, {}, 1).id };
    default:
      throw new KeyCommandError(kind === undefined ? "a command is missing" : `there is no command ${kind}`);
  }
}

function readWish(rest: readonly string[], now: Date): KeyWish {
  const known = { name: text, scopes: text, expires: text, allow: text, environment: text, "duplicate-comment": text };
  const { values } = options(rest, known, 0);
  const name = values["name"] ?? "";
  const environment = values["environment"] ?? "live";
  const duplicateComment = values["duplicate-comment"] ?? "allow";
  const [scopes, allowedAddresses] = [listOf(values["scopes"]), listOf(values["allow"])];
  const expiresAt = values["expires"] === undefined ? null : readInstant(values["expires"], now);
  const strangeScopes = scopes.filter((scope) => !isScope(scope));
  const strangeAddresses = allowedAddresses.filter((address) => !isAddressOrNetwork(address));
  complain([
    [name.trim() === "" || name.length > LONGEST_NAME, `--name is missing or longer than ${LONGEST_NAME} characters`],
    [scopes.length === 0, "--scopes is missing"],
    [strangeScopes.length > 0, `there is no scope ${strangeScopes.join(", ")}`],
    [strangeAddresses.length > 0, `not an address or network: ${strangeAddresses.join(", ")}`],
    [environment !== "live" && environment !== "test", "--environment is live or test"],
    [duplicateComment !== "allow" && duplicateComment !== "reject", "--duplicate-comment is allow or reject"],
    [expiresAt === undefined, "--expires is a duration such as P90D or an instant in the future"],
  ]);
  return {
    name,
    environment: environment === "test" ? "test" : "live",
    scopes: [...new Set(scopes)] as readonly Scope[],
    allowedAddresses,
    duplicateComment: duplicateComment === "reject" ? "reject" : "allow",
    expiresAt: expiresAt ?? null,
  };
}

type Known = Readonly<Record<string, typeof text>>;

function options(rest: readonly string[], known: Known, ids: 0 | 1) {
  const { values, positionals } = parse(rest, known);
  const [id = ""] = positionals;
  complain([
    [positionals.length > ids, `not understood: ${positionals.slice(ids).join(" ")}`],
    [ids === 1 && !ID.test(id), "the 12 characters of a key's id are missing"],
  ]);
  return { values: values as Readonly<Record<string, string | undefined>>, id };
}

function parse(rest: readonly string[], known: Known) {
  try {
    return parseArgs({ args: [...rest], options: known, allowPositionals: true, strict: true });
  } catch (error) {
    const [sentence = ""] = error instanceof Error ? error.message.split(". ") : [];
    throw new KeyCommandError(sentence);
  }
}

function complain(mistakes: readonly (readonly [boolean, string])[]): void {
  const made = mistakes.filter(([isMade]) => isMade).map(([, message]) => message);
  if (made.length > 0) throw new KeyCommandError(made.join("\n"));
}

function listOf(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function readInstant(value: string, now: Date): Date | undefined {
  const durationMs = parseDuration(value);
  const instant = durationMs === undefined ? parseTimestamp(value) : new Date(now.getTime() + durationMs);
  return instant !== undefined && instant.getTime() > now.getTime() ? instant : undefined;
}

function readOverlap(value: string | undefined): number {
  const overlapMs = value === undefined ? LONGEST_OVERLAP_MS : parseDuration(value);
  if (overlapMs === undefined || overlapMs > LONGEST_OVERLAP_MS) {
    throw new KeyCommandError("--overlap is a duration of at most P7D");
  }
  return overlapMs;
}
