import assert from "node:assert/strict";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { FeeConfiguration } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import type { FeeVersion } from "../domain/version.ts";
import {
  findVersionByKey,
  insertVersion,
  listVersions,
  lockConfiguration,
  type Configuration,
} from "../store/configurations.ts";

type Command = {
  /** A repeated key adds nothing and gets the same answer. */
  readonly key: string;
  readonly investorLogin: string;
  readonly investorId: bigint;
};

/**
 * Adds the version that `decide` derives from the previous ones, once per key; returns the requested configuration.
 * Throws, and adds nothing, when the key was used for another Investor.
 */
export async function addVersion(
  { pool, now }: Deps,
  { key, investorLogin, investorId }: Command,
  decide: (versions: readonly FeeVersion[], at: Date) => FeeVersion,
): Promise<FeeConfiguration> {
  return await inTransaction(pool, async (tx) => {
    const at = now();
    const configuration = await lockConfiguration(tx, { investorLogin, investorId, at });
    const known = await findVersionByKey(tx, key);
    if (known !== undefined) {
      assert.equal(known.investorLogin, investorLogin, "the key was used for another Investor");
      return answer(configuration, known.version, known.madeAt);
    }
    const version = decide(await listVersions(tx, investorLogin), at);
    await insertVersion(tx, key, { investorLogin, version, madeAt: at });
    return answer(configuration, version, at);
  });
}

function answer(configuration: Configuration, version: FeeVersion, updatedAt: Date): FeeConfiguration {
  const { ratePpm, enabled, effectiveSince } = version;
  return { ...configuration, updatedAt, ratePpm, enabled, effectiveSince };
}
