import { parseCommand, USAGE } from "./command-line.ts";
import {
  createKey,
  type KeyAdministration,
  KeyCommandError,
  listKeys,
  revokeKey,
  rotateKey,
  type ShownKey,
} from "./manage-keys.ts";
import { printKeys } from "./print-keys.ts";

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
        out(printKeys(await listKeys(admin), admin.now()));
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
