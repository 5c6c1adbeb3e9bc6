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

/** A key goes to standard output alone, so that a script can take it; everything that is said about it goes elsewhere. */
export type Terminal = { readonly out: (line: string) => void; readonly note: (line: string) => void };

const HELP = new Set(["help", "--help", "-h"]);

/** Carries one command out and says so. The answer is the exit code; `open` is called only for a command that is right. */
export async function runCommand(
  args: readonly string[],
  open: () => Promise<KeyAdministration>,
  { out, note }: Terminal,
): Promise<number> {
  if (HELP.has(args[0] ?? "")) {
    out(USAGE);
    return 0;
  }
  try {
    const command = parseCommand(args, new Date());
    const admin = await open();
    switch (command.kind) {
      case "create":
        show(await createKey(admin, command.wish), { out, note });
        break;
      case "rotate": {
        const made = await rotateKey(admin, command.id, command.overlapMs);
        show(made, { out, note });
        note(`${command.id} stays good until ${made.oldExpiresAt.toISOString()} at the latest.`);
        break;
      }
      case "revoke":
        await revokeKey(admin, command.id);
        note(`${command.id} is revoked.`);
        break;
      case "list":
        out(printKeys(await listKeys(admin), admin.now()));
        break;
    }
    return 0;
  } catch (error) {
    if (!(error instanceof KeyCommandError)) throw error;
    for (const line of error.message.split("\n")) note(`keys: ${line}`);
    note("keys: see npm run keys -- help");
    return 2;
  }
}

function show({ id, text }: ShownKey, { out, note }: Terminal): void {
  note(`Key ${id} is made. It is shown now and never again:`);
  out(text);
}
