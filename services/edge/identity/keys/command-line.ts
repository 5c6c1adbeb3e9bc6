import { parseArgs } from "node:util";
import { parseDuration, DAY_MS } from "#kernel/values/duration.ts";
import { writtenName } from "#kernel/review/owner.ts";
import { isScope, SCOPES, type Scope } from "../../wire/scopes.ts";
import { parseTimestamp } from "../../wire/timestamp.ts";
import { isAddressOrNetwork } from "./addresses.ts";
import { KeyCommandError, type KeyRequest } from "./manage-keys.ts";

export const USAGE = `Usage: npm run keys -- <command>

  create --name NAME --scopes A,B [--expires WHEN] [--allow ADDRESS,NETWORK] [--environment live|test]
         [--duplicate-comment allow|reject] [--by NAME]
  list
  rotate ID [--overlap DURATION] [--by NAME]
  revoke ID [--by NAME]

  --by is the name that the audit keeps of who changes a key; the user of the operating system without it.
  A key is of the environment of its system: test where PAMM_REHEARSAL is true, live elsewhere. --environment is needed before the first start.
  WHEN is a duration such as P90D or an instant such as 2027-01-01T00:00:00Z.
  The old key of a rotation stays valid for P7D, or for DURATION when it is shorter.
  --duplicate-comment reject refuses a deposit or withdrawal that equals one executed within 24 hours, including its comment.
  Scopes: ${SCOPES.join(" ")}`;

export type KeyCommand =
  | { readonly kind: "create"; readonly request: KeyRequest; readonly by: string | undefined }
  | { readonly kind: "list" }
  | { readonly kind: "rotate"; readonly id: string; readonly overlapMs: number; readonly by: string | undefined }
  | { readonly kind: "revoke"; readonly id: string; readonly by: string | undefined };

/** Long enough for a client to change its key, short enough that the old key is not forgotten. */
export const MAX_OVERLAP_MS = 7 * DAY_MS;
/** Each entry of the audit has the name of the key. */
const MAX_NAME_LENGTH = 100;
const ID = /^[0-9A-Za-z]{12}$/;
const text = { type: "string" } as const;

/** Refuses unknown options; all mistakes of a command are reported at once. */
export function parseCommand([kind, ...rest]: readonly string[], now: Date): KeyCommand {
  switch (kind) {
    case "create":
      return { kind, ...readRequest(rest, now) };
    case "list":
      options(rest, {}, 0);
      return { kind };
    case "rotate":
    case "revoke": {
      const { values, id } = options(rest, kind === "rotate" ? { overlap: text, by: text } : { by: text }, 1);
      const by = values["by"];
      rejectMistakes([wrongName("--by", by)]);
      return kind === "rotate" ? { kind, id, overlapMs: readOverlap(values["overlap"]), by } : { kind, id, by };
    }
    default:
      throw new KeyCommandError(kind === undefined ? "A command is required." : `Command '${kind}' does not exist.`);
  }
}

function readRequest(rest: readonly string[], now: Date): { request: KeyRequest; by: string | undefined } {
  const about = { name: text, scopes: text, expires: text, allow: text, environment: text, "duplicate-comment": text };
  const known = { ...about, by: text };
  const { values } = options(rest, known, 0);
  const name = values["name"] ?? "";
  const environment = values["environment"];
  const duplicateComment = values["duplicate-comment"] ?? "allow";
  const [scopes, allowedAddresses] = [listOf(values["scopes"]), listOf(values["allow"])];
  const expiresAt = values["expires"] === undefined ? null : readInstant(values["expires"], now);
  const unknownScopes = scopes.filter((scope) => !isScope(scope));
  const wrongAddresses = allowedAddresses.filter((address) => !isAddressOrNetwork(address));
  rejectMistakes([
    wrongName("--name", name),
    wrongName("--by", values["by"]),
    [scopes.length === 0, `--scopes is required. Allowed: ${SCOPES.join(", ")}.`],
    [unknownScopes.length > 0, `--scopes: unknown ${unknownScopes.join(", ")}. Allowed: ${SCOPES.join(", ")}.`],
    [wrongAddresses.length > 0, `--allow: not an address or network: ${wrongAddresses.join(", ")}.`],
    [
      environment !== undefined && environment !== "live" && environment !== "test",
      "--environment must be live or test.",
    ],
    [duplicateComment !== "allow" && duplicateComment !== "reject", "--duplicate-comment must be allow or reject."],
    [expiresAt === undefined, "--expires must be a duration such as P90D or an instant in the future."],
  ]);
  const request: KeyRequest = {
    name,
    environment: environment === undefined ? undefined : environment === "test" ? "test" : "live",
    scopes: [...new Set(scopes)] as readonly Scope[],
    allowedAddresses,
    duplicateComment: duplicateComment === "reject" ? "reject" : "allow",
    expiresAt: expiresAt ?? null,
  };
  return { request, by: values["by"] };
}

/** The mistake of a name that is given and is empty, too long, or looks like another one. */
function wrongName(option: string, name: string | undefined): readonly [boolean, string] {
  const written = writtenName(name ?? "");
  if (name !== undefined && (written === "" || name.length > MAX_NAME_LENGTH)) {
    return [true, `${option} must have 1 to ${MAX_NAME_LENGTH} characters.`];
  }
  const why = "without spaces at its ends, repeated spaces and characters that are not shown";
  return [name !== undefined && name !== written, `${option} must be written ${why}: ${JSON.stringify(written)}.`];
}

type Known = Readonly<Record<string, typeof text>>;

function options(rest: readonly string[], known: Known, ids: 0 | 1) {
  const { values, positionals } = parse(rest, known);
  const [id = ""] = positionals;
  rejectMistakes([
    [positionals.length > ids, `Unexpected argument: ${positionals.slice(ids).join(" ")}.`],
    [ids === 1 && !ID.test(id), "The id of the key is required: 12 letters and digits."],
  ]);
  return { values: values as Readonly<Record<string, string | undefined>>, id };
}

function parse(rest: readonly string[], known: Known) {
  try {
    return parseArgs({ args: [...rest], options: known, allowPositionals: true, strict: true });
  } catch (error) {
    const [sentence = ""] = error instanceof Error ? error.message.split(". ") : [];
    throw new KeyCommandError(`${sentence.replace(/\.$/, "")}.`);
  }
}

function rejectMistakes(mistakes: readonly (readonly [boolean, string])[]): void {
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
  const overlapMs = value === undefined ? MAX_OVERLAP_MS : parseDuration(value);
  if (overlapMs === undefined || overlapMs > MAX_OVERLAP_MS) {
    throw new KeyCommandError("--overlap must be a duration of at most P7D.");
  }
  return overlapMs;
}
