import { unlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Places at which a crash leaves a saga half told: something is on record or on its way, and the next step is not. */
export type Failpoint =
  // Every service that tells of something, or hears of it.
  | "after_publish"
  | "after_filing"
  // One send to the trading platform; the detail is the kind of the operation.
  | "after_intent"
  | "after_permit"
  | "after_write"
  | "after_answer"
  | "after_record"
  // Deposits and withdrawals; of a withdrawal the detail is the state of its row.
  | "after_cashflow"
  | "before_withdrawal_step"
  | "before_posted"
  // Subscriptions and their pools.
  | "after_assignment"
  | "after_mirror"
  | "after_allocation"
  | "after_posting"
  | "after_place"
  | "after_leave"
  // Fees.
  | "after_crystallisation"
  | "before_outcome";

let armed: ((name: Failpoint, detail: string | undefined) => void) | undefined;

/** Nothing happens here, unless this process was armed. The detail tells several of the same name apart. */
export function failpoint(name: Failpoint, detail?: string): void {
  armed?.(name, detail);
}

/**
 * For rehearsals: the process kills itself at a place when the folder has a file of that name, `name` or `name.detail`. It
 * removes the file first, so that it happens once, and to one process.
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
    // It was never there, or another process was faster.
    return false;
  }
}
