import { resolve } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { launcherOf } from "./state.ts";

const POLL_MS = 100;
/** Every service may take 15 s to drain. */
const TIMEOUT_MS = 90_000;

const stateDir = resolve(process.env["PAMM_STATE_DIR"] ?? ".state");
const pid = launcherOf(stateDir);
if (pid === undefined) {
  process.stdout.write(`nothing runs on ${stateDir}\n`);
} else {
  process.kill(pid, "SIGTERM");
  const until = Date.now() + TIMEOUT_MS;
  while (launcherOf(stateDir) === pid && Date.now() < until) await sleep(POLL_MS);
  const hasEnded = launcherOf(stateDir) !== pid;
  process.stdout.write(hasEnded ? "stopped\n" : `process ${pid} is still stopping\n`);
  if (!hasEnded) process.exitCode = 1;
}
