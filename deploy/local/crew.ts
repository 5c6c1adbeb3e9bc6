import { followLog } from "./follow-log.ts";
import { keepRunning, type Kept } from "./keep-running.ts";
import type { Life } from "./life.ts";
import { say } from "./terminal.ts";

export type Member = {
  readonly name: string;
  readonly start: () => Promise<Life>;
  readonly logFile: string;
  /** What of a line of the log is for the terminal, if anything. */
  readonly show: (line: string) => string | undefined;
};

export type Crew = {
  /** Starts all at once and waits until each was ready. They are stopped together, before those that came earlier. */
  readonly start: (members: readonly Member[]) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** When there is no time for order. */
  readonly kill: () => void;
};

export function createCrew(): Crew {
  const groups: Kept[][] = [];
  let isStopping = false;

  async function stop(): Promise<void> {
    isStopping = true;
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      // Whatever one of them ends with, the others are stopped too.
      await Promise.allSettled(group.map((member) => member.stop()));
    }
  }

  return {
    async start(members) {
      if (isStopping) throw new Error("told to stop during the start");
      const group = members.map(keep);
      groups.push(group);
      await Promise.all(group.map(({ ready }) => ready));
    },
    stop,
    kill: () => groups.flat().forEach((member) => member.kill()),
  };
}

function keep({ name, start, logFile, show }: Member): Kept {
  const log = followLog(logFile, (line) => {
    const text = show(line);
    if (text !== undefined) say(name, text);
  });
  const startFollowed = async (): Promise<Life> => {
    const life = await start();
    // What it said last comes before the news that it ended.
    const ended = life.ended.then((ending) => {
      log.look();
      return ending;
    });
    return { ...life, ended };
  };
  const kept = keepRunning(name, startFollowed, (text) => say("launcher", text));
  return {
    ...kept,
    async stop() {
      await kept.stop();
      log[Symbol.dispose]();
    },
  };
}
