import { fork } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { setPriority } from "node:os";
import type { FromGenerator, Job, Load } from "./job.ts";

const GENERATOR = join(import.meta.dirname, "generator.ts");
/** The servers under test go first when all processors are busy. */
const NICENESS = 10;
/** Beyond the job itself: the start of the process, and the last answers. */
const MAX_EXTRA_MS = 60_000;
/** Of a job that ends with its last request. */
const MAX_ONCE_MS = 1_200_000;

/** Processor seconds since some moment, by process. */
type Usage = ReadonlyMap<string, number>;

export type Generated = Load & {
  /** Processor seconds that each process used in the measured time. */
  readonly used: Usage;
};

/** Runs a job in a process of its own. `usage` is read when the measured time begins and ends. */
export function generate(job: Job, usage: () => Usage): Promise<Generated> {
  const child = fork(GENERATOR, { serialization: "advanced", execArgv: [], env: { PATH: process.env["PATH"] } });
  setPriority(child.pid ?? 0, NICENESS);
  let before: Usage = new Map();
  let after: Usage = new Map();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        child.kill("SIGKILL");
        reject(new Error("the load generator did not end"));
      },
      job.warmUpMs + job.measureMs + (job.shape.kind === "once" ? MAX_ONCE_MS : MAX_EXTRA_MS),
    );
    child.on("message", (message: FromGenerator) => {
      if (message.kind === "measuring") before = usage();
      else if (message.kind === "measured") after = usage();
      else resolve({ ...message.load, used: difference(after, before) });
    });
    child.once("error", reject);
    // Unlike "exit", it comes after the last message.
    child.once("disconnect", () => {
      clearTimeout(timer);
      reject(new Error("the load generator ended without a report"));
    });
    child.send(job);
  });
}

function difference(after: Usage, before: Usage): Usage {
  return new Map(Array.from(after, ([name, seconds]) => [name, seconds - (before.get(name) ?? 0)]));
}
