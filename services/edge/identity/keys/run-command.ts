import { findKeySystem, type KeySystem, listAllKeys, type StoredKey } from "../store/api-keys.ts";
import { stateOf } from "./api-key.ts";
import { BOOTSTRAP_ID } from "./caller.ts";
import { parseCommand, USAGE } from "./command-line.ts";
import {
  createKey,
  type KeyAdministration,
  KeyCommandError,
  revokeKey,
  rotateKey,
  type ShownKey,
} from "./manage-keys.ts";
import { SCOPES } from "../../wire/scopes.ts";

/** Only the key goes to standard output, so that a script can read it; messages go to standard error. */
export type Terminal = { readonly out: (line: string) => void; readonly note: (line: string) => void };

const HELP = new Set(["help", "--help", "-h"]);

/** Runs one command and returns the exit code; `open` is called only for a valid command, with the name of who runs it, if given. */
export async function runCommand(
  args: readonly string[],
  open: (actor: string | undefined) => Promise<KeyAdministration>,
  { out, note }: Terminal,
): Promise<number> {
  if (HELP.has(args[0] ?? "")) {
    out(USAGE);
    return 0;
  }
  try {
    const command = parseCommand(args, new Date());
    const admin = await open(command.kind === "list" ? undefined : command.by);
    switch (command.kind) {
      case "create":
        show(await createKey(admin, command.request), { out, note });
        break;
      case "rotate": {
        const made = await rotateKey(admin, command.id, command.overlapMs);
        show(made, { out, note });
        note(`Key ${command.id} stays valid until ${made.oldExpiresAt.toISOString()} at the latest.`);
        break;
      }
      case "revoke":
        await revokeKey(admin, command.id);
        note(`Key ${command.id} revoked.`);
        break;
      case "list":
        out(printKeys(await listAllKeys(admin.pool), await findKeySystem(admin.pool), admin.now()));
        break;
    }
    return 0;
  } catch (error) {
    if (!(error instanceof KeyCommandError)) throw error;
    for (const line of error.message.split("\n")) note(`keys: ${line}`);
    note("keys: for usage, run: npm run keys -- help");
    return 2;
  }
}

function show({ id, text }: ShownKey, { out, note }: Terminal): void {
  note(`Key ${id} created. Copy it now; it will not be shown again.`);
  out(text);
}

const HEADINGS = ["ID", "NAME", "ENV", "STATE", "CREATED", "EXPIRES", "LAST USED", "SCOPES", "DUPLICATES", "ADDRESSES"];

/** One line for each key, without its secret; the bootstrap key, which is no row of the database, is the first. */
export function printKeys(keys: readonly StoredKey[], system: KeySystem | undefined, at: Date): string {
  const stored = keys.map((key) => [
    key.id,
    key.name,
    key.environment,
    stateOf(key, at),
    minute(key.createdAt),
    minute(key.expiresAt),
    minute(key.lastUsedAt),
    key.scopes.join(","),
    key.duplicateComment,
    key.allowedAddresses.join(",") || "any",
  ]);
  const rows = system?.hasBootstrapKey === true ? [bootstrapRow(system), ...stored] : stored;
  const widths = HEADINGS.map((heading, column) => {
    return Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0));
  });
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [HEADINGS, ...rows].map(line).join("\n");
}

function bootstrapRow({ environment, bootstrapUsedAt }: KeySystem): string[] {
  const about = [BOOTSTRAP_ID, BOOTSTRAP_ID, environment, "active", "at start", "never", minute(bootstrapUsedAt)];
  return [...about, SCOPES.join(","), "allow", "any"];
}

function minute(date: Date | null): string {
  return date === null ? "never" : `${date.toISOString().slice(0, 16)}Z`;
}
