import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DemoFailure } from "../demo/wait.ts";
import { createRehearsal, type Rehearsal } from "./rehearsal.ts";

type Resources = { readonly folder: string; readonly stack: AsyncDisposableStack };

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;

/** In a temporary folder, which is removed at the end and at Ctrl-C, after everything on the stack was released. */
export async function runRehearsal(
  title: string,
  rehearse: (rehearsal: Rehearsal, resources: Resources) => Promise<number>,
): Promise<number> {
  const rehearsal = createRehearsal(title);
  const folder = mkdtempSync(join(tmpdir(), "pamm-rehearsal-"));
  // Postgres may have to run as another user.
  chmodSync(folder, 0o711);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const interrupt = (): void => void stack.disposeAsync().finally(() => process.exit(INTERRUPTED));
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    return await rehearse(rehearsal, { folder, stack });
  } catch (error) {
    const reason = error instanceof DemoFailure ? error.message : error instanceof Error ? error.stack : String(error);
    rehearsal.check("the rehearsal reaches its end", false, reason);
    return rehearsal.finish();
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}
