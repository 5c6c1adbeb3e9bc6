import { followLog } from "./follow-log.ts";
import { keepRunning, type KeptProcess } from "./keep-running.ts";
import type { ProcessRun } from "./service-process.ts";
import { print } from "./terminal.ts";

export type SupervisedProcess = {
  readonly name: string;
  readonly start: () => Promise<ProcessRun>;
  readonly logFile: string;
  /** The text that the terminal shows for a line of the log; undefined when it shows none. */
  readonly show: (line: string) => string | undefined;
};

export type Supervisor = {
  /** Starts the processes together and waits until each was ready. They stop together, before earlier groups. */
  readonly start: (processes: readonly SupervisedProcess[]) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** SIGKILL for every process, in no order. */
  readonly kill: () => void;
};

export function createSupervisor(): Supervisor {
  const groups: KeptProcess[][] = [];
  let isStopping = false;

  async function stop(): Promise<void> {
    isStopping = true;
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      // A process that fails to stop does not keep the others from stopping.
      await Promise.allSettled(group.map((process) => process.stop()));
    }
  }

  return {
    async start(processes) {
      if (isStopping) throw new Error("stopped during the start");
      print("launcher", `starting ${processes.map(({ name }) => name).join(", ")}`);
      const group = processes.map(supervise);
      groups.push(group);
      await Promise.all(group.map(({ ready }) => ready));
    },
    stop,
    kill: () => groups.flat().forEach((process) => process.kill()),
  };
}

function supervise({ name, start, logFile, show }: SupervisedProcess): KeptProcess {
  const log = followLog(logFile, (line) => {
    const text = show(line);
    if (text !== undefined) print(name, text);
  });
  const startFollowed = async (): Promise<ProcessRun> => {
    const run = await start();
    // The last lines of its log appear before the message that it ended.
    const ended = run.ended.then((ending) => {
      log.readNew();
      return ending;
    });
    return { ...run, ended };
  };
  const kept = keepRunning(name, startFollowed, (text) => print("launcher", text));
  return {
    ...kept,
    async stop() {
      await kept.stop();
      log[Symbol.dispose]();
    },
  };
}
