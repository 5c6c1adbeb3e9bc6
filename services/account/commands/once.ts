import type { CallContext } from "#kernel/contract/contract.ts";
import type { Deps } from "../deps.ts";
import { findAnsweredSubject } from "../store/answered-commands.ts";

type Once<T> = {
  /** Carries the command out, and puts it on record in the same commit. */
  readonly work: () => Promise<T>;
  /** Answers a command that was carried out before, with what has become of its subject. */
  readonly again: (subjectId: bigint) => Promise<T>;
};

/** However often a command is given, it is carried out once. A copy that comes too late finds that the other one was faster. */
export async function once<T>({ pool }: Deps, { commandId }: CallContext, { work, again }: Once<T>): Promise<T> {
  const before = await findAnsweredSubject(pool, commandId);
  if (before !== undefined) return await again(before);
  try {
    return await work();
  } catch (error) {
    const meanwhile = await findAnsweredSubject(pool, commandId);
    if (meanwhile !== undefined) return await again(meanwhile);
    throw error;
  }
}
