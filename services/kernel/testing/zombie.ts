import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 5;

/** A process that was killed and that its parent never collects, so that it still has its process id and the start that it had. */
export async function zombie(): Promise<AsyncDisposable & { readonly pid: number }> {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  // A shell may collect its child; from here on the parent is a program that never does.
  while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") !== "sleep\n") await sleep(POLL_MS);
  process.kill(pid, "SIGKILL");
  while (!readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")) await sleep(POLL_MS);
  return {
    pid,
    async [Symbol.asyncDispose]() {
      parent.kill("SIGKILL");
      await once(parent, "exit");
    },
  };
}
