import { resolve } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { launcherOf } from "./state.ts";

const POLL_MS = 100;
/** The launcher stops its five groups of processes one after the other; each takes 17 s at most. */
const TIMEOUT_MS = 90_000;

const stateDir = resolve(process.env["PAMM_STATE_DIR"] ?? ".state");
const pid = launcherOf(stateDir);
if (pid === undefined) {
  process.stdout.write(`found no launcher that runs on ${stateDir}: nothing to stop\n`);
} else {
  process.kill(pid, "SIGTERM");
  const until = Date.now() + TIMEOUT_MS;
  while (launcherOf(stateDir) === pid && Date.now() < until) await sleep(POLL_MS);
  const hasEnded = launcherOf(stateDir) !== pid;
  process.stdout.write(
    hasEnded
      ? "stopped all processes\n"
      : `process ${pid} still runs after ${TIMEOUT_MS / 1_000} s: see its terminal\n`,
  );
  if (!hasEnded) process.exitCode = 1;
}
