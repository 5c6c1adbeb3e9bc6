import { unlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Points at which a crash leaves a saga incomplete: one step is recorded or sent, and the next one is not. */
export type Failpoint =
  // Every service that publishes or receives events.
  | "after_publish"
  | "after_filing"
  // One send to the trading platform; the detail is the kind of the leg.
  | "after_intent"
  | "after_permit"
  | "after_write"
  | "after_answer"
  | "after_record"
  // Deposits and withdrawals.
  | "after_cashflow"
  | "before_posted"
  // Subscriptions and their pools.
  | "after_assignment"
  | "after_mirror"
  | "after_allocation"
  | "after_posting"
  // Money that leaves an Investor; the detail is the state of its row, or its kind.
  | "before_departure_step"
  | "after_decision"
  | "after_collection"
  | "before_ended"
  // One that waits until its Master is flat.
  | "before_waiting"
  | "after_waiting"
  | "after_queue_start"
  // Fees; for an outcome the detail is its kind.
  | "after_fees_recorded"
  | "before_outcome";

let armed: ((name: Failpoint, detail: string | undefined) => void) | undefined;

/** Does nothing unless the process is armed. The detail distinguishes failpoints of the same name. */
export function failpoint(name: Failpoint, detail?: string): void {
  armed?.(name, detail);
}

/**
 * For crash tests: the process kills itself at a failpoint when the folder contains a file `name` or `name.detail`. It
 * removes the file first, so that one process crashes, and once.
 */
export function armFailpoints(folder: string): void {
  armed = (name, detail) => {
    const isHit = take(join(folder, name)) || (detail !== undefined && take(join(folder, `${name}.${detail}`)));
    if (isHit) process.kill(process.pid, "SIGKILL");
  };
}

function take(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    // The file does not exist, or another process has removed it.
    return false;
  }
}
