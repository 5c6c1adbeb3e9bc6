import type { AccountBooks } from "../checks/violations.ts";
import type { Endpoint, RequestTemplate } from "../load/job.ts";

/** A program that executes deposits over HTTP: the service, or a peer that does the same durable work. */
export type Contestant = AsyncDisposable & {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Ids of the processes whose processor time is reported, by name. */
  readonly processes: () => ReadonlyMap<string, number>;
  /** Stops its programs with SIGSTOP while another contestant is measured, so that they use no processor time. */
  readonly pause: () => void;
  /** Resolves when it works again. */
  readonly resume: () => Promise<void>;
  /** A deposit for each account. */
  readonly deposits: readonly RequestTemplate[];
  /** The books of its accounts, once they rest. */
  readonly books: (logins: readonly string[]) => Promise<AccountBooks[]>;
  /** What is wrong with it beyond the accounts, such as open breaks of its own checks. */
  readonly findings: () => Promise<string[]>;
};

/** Pauses all, then lets one at a time work. */
export async function oneAtATime(contestants: readonly Contestant[], current: Contestant): Promise<void> {
  for (const other of contestants) if (other !== current) other.pause();
  await current.resume();
}
