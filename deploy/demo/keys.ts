import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { withoutSettings } from "./temporary-system.ts";
import { DemoFailure } from "./wait.ts";

const KEYS = join(import.meta.dirname, "../../services/edge/keys.ts");

/** `make keys what="..."`; what it prints, and the notes beside it. */
export async function keys(stateDir: string, ...args: readonly string[]): Promise<string> {
  const env = { ...withoutSettings(process.env), PAMM_STATE_DIR: stateDir };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [KEYS, ...args], { env });
  return `${stdout}${stderr}`;
}

/** The first API key in what the command printed. */
export function keyIn(printed: string): string {
  const [key] = /pamm_\S+/.exec(printed) ?? [];
  if (key === undefined) throw new DemoFailure(`no key was printed: ${printed}`);
  return key;
}
