import process from "node:process";
import { StartupError } from "#kernel/process/startup-error.ts";

/** Runs the task of a container that then ends: Compose starts its dependents only when the exit code is 0. */
export async function runOnce(name: string, work: (env: NodeJS.ProcessEnv) => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${name}: ${await work(process.env)}\n`);
  } catch (error) {
    process.exitCode = 1;
    for (const line of explain(error).split("\n")) process.stderr.write(`${name} failed: ${line}\n`);
  }
}

/** A mistake that an operator can correct is plain lines; any other error is a defect and keeps its stack. */
function explain(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  return error instanceof Error ? String(error.stack) : String(error);
}
