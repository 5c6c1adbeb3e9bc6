import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { recordedProcess } from "../../../deploy/local/process-id.ts";
import { pidFile } from "../../../deploy/local/state.ts";
import { environmentOfProcess } from "../../bench/system/environment.ts";
import { run, type Running } from "../../journey/support/running.ts";

export type SecondEdge = AsyncDisposable & { readonly kill: () => Promise<void> };

const MAIN = join(import.meta.dirname, "../../../services/edge/main.ts");
const IS_LISTENING = '"msg":"listening"';
const BETWEEN_STARTS_MS = 250;

/** Another replica of the edge of a system, at ports of its own; it is started again whenever it ends. */
export async function startSecondEdge(stateDir: string): Promise<SecondEdge> {
  const env = { ...environmentOf(stateDir), PAMM_HTTP_PORT: "0", PAMM_METRICS_PORT: "0" };
  const start = (): Running => run([process.execPath, MAIN], env);
  let isOver = false;
  let running = start();
  const restarts = (async () => {
    while (!isOver) {
      await running.ended;
      if (isOver) return;
      await sleep(BETWEEN_STARTS_MS);
      running = start();
    }
  })();
  await running.waitFor(IS_LISTENING);
  return {
    async kill() {
      const killed = running;
      killed.signal("SIGKILL");
      await killed.ended;
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      running.signal("SIGTERM");
      await restarts;
    },
  };
}

/** What the launcher has given the first one, without the channel between the two. */
function environmentOf(stateDir: string): NodeJS.ProcessEnv {
  const variables = environmentOfProcess("edge", recordedProcess(pidFile(stateDir, "edge")));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !name.startsWith("NODE_CHANNEL")));
}
