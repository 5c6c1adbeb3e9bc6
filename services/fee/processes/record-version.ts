import assert from "node:assert/strict";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import type { Change } from "../domain/change-timeline.ts";
import { earlier, later, presentOf, type Version } from "../domain/timeline.ts";
import { findVersionByKey, insertVersion, listTerms, lockConfiguration } from "../store/configurations.ts";

type Command = {
  /** A repeated key adds nothing and gets the same answer. */
  readonly key: string;
  readonly investorLogin: string;
  readonly investorId: bigint;
  /** The start that was asked for; from now on when there is none. */
  readonly since: Date | undefined;
  /** The instant of the command is not before this one, which the clock of another service may have set. */
  readonly notBefore?: Date;
};

/** The configuration with the version of the command, and when that one was made. */
export type RecordedVersion = { readonly configuration: FeeConfiguration; readonly madeAt: Date };

/**
 * Adds the version that `decide` makes of the timeline, once per key. It is called under the lock of the configuration, so commands on one
 * Investor have a sequence, and so have their instants. Throws, and adds nothing, when the key was used for another Investor.
 */
export async function recordVersion(
  { pool, now }: Deps,
  { key, investorLogin, investorId, since, notBefore }: Command,
  decide: (versions: readonly Version[], at: Date) => Change,
): Promise<RecordedVersion> {
  return await inTransaction(pool, async (tx) => {
    const configuration = await lockConfiguration(tx, { investorLogin, investorId, at: now() });
    const answer = ({
      ratePpm,
      enabled,
      effectiveSince,
      madeAt,
    }: Omit<Version, "id" | "enabledFrom">): RecordedVersion => {
      const terms = { ratePpm, enabled, effectiveSince, retroactiveSince: undefined };
      return { configuration: { ...configuration, updatedAt: madeAt, ...terms }, madeAt };
    };
    const known = await findVersionByKey(tx, key);
    if (known !== undefined) {
      assert.equal(known.investorLogin, investorLogin, "the key was used for another Investor");
      return answer(known);
    }
    const present = presentOf(configuration, now());
    const madeAt = later(present, notBefore ?? present);
    const terms = await listTerms(tx, [{ investorLogin, since: earlier(since ?? madeAt, madeAt) }]);
    const change = decide(terms.get(investorLogin)?.versions ?? [], madeAt);
    await insertVersion(tx, { key, investorLogin, ...change, madeAt });
    return answer({ ...change.version, madeAt });
  });
}
