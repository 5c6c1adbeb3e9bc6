import assert from "node:assert/strict";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type {
  CancelVersionRequest,
  ConfigureRequest,
  FeeConfiguration,
  FeeVersion,
  UpdateConfigurationRequest,
} from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { type Change, type FeeChange, versionOfAssignment, versionOfChange } from "../domain/change-timeline.ts";
import { earlier, later, presentOf, shownAt, stateOf, type Version, checkRate } from "../domain/timeline.ts";
import { refuse } from "../refusals.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import {
  cancelScheduled,
  findVersion,
  findVersionByKey,
  insertVersion,
  listTerms,
  lockConfiguration,
} from "../store/configurations.ts";
import { versionMessage } from "../messages/calculation.ts";

/** Begins a new timeline with the terms of an assignment: rate and switch are valid from the start of the subscription. */
export async function configure(deps: Deps, request: ConfigureRequest): Promise<FeeConfiguration> {
  const { key, investorLogin, investorId, ratePpm, enabled, effectiveSince } = request;
  checkRate(ratePpm);
  assert(effectiveSince !== undefined, "a subscription has a start");
  const command = { key, investorLogin, investorId, since: effectiveSince, notBefore: effectiveSince };
  const { configuration } = await recordVersion(deps, command, (versions) =>
    versionOfAssignment(versions, { ratePpm, enabled, effectiveSince }),
  );
  return configuration;
}

/** Makes a version of an Investor's configuration. Executed fees and the high-water mark do not change. */
export async function updateConfiguration(
  deps: Deps,
  request: UpdateConfigurationRequest,
  context: CallContext,
): Promise<FeeConfiguration> {
  const { investorLogin, ratePpm, enabled, effectiveSince, upsert } = request;
  if (ratePpm !== undefined) {
    checkRate(ratePpm);
  }
  const investor = await deps.accounts.findInvestor({ login: investorLogin }, childContext(context));
  const change: FeeChange = { ratePpm, enabled, effectiveSince };
  const command = { key: context.commandId, investorLogin, investorId: investor.id, since: effectiveSince };
  const { configuration, madeAt } = await recordVersion(deps, command, (versions, at) => {
    if (!upsert && shownAt(versions, at) === undefined) {
      throw refuse("fee_configuration_not_found", `Investor ${investorLogin} has no fee configuration.`);
    }
    return versionOfChange(versions, change, at);
  });
  const { effectiveSince: start = madeAt } = configuration;
  return { ...configuration, retroactiveSince: start < madeAt ? start : undefined };
}

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
type RecordedVersion = { readonly configuration: FeeConfiguration; readonly madeAt: Date };

/**
 * Adds the version that `decide` makes of the timeline, once per key. It is called under the lock of the configuration, so commands on one
 * Investor have a sequence, and so have their instants. Throws, and adds nothing, when the key was used for another Investor.
 */
async function recordVersion(
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

/** Cancels a version before it begins; the version before it then stays in force. */
export async function cancelVersion(
  { pool, accounts, now }: Deps,
  { investorLogin, versionId }: CancelVersionRequest,
  context: CallContext,
): Promise<FeeVersion> {
  const { commandId: key } = context;
  const { id: investorId } = await accounts.findInvestor({ login: investorLogin }, childContext(context));
  return await inTransaction(pool, async (tx) => {
    const configuration = await lockConfiguration(tx, { investorLogin, investorId, at: now() });
    const version = await findVersion(tx, { investorLogin, versionId });
    if (version === undefined) throw refuse("fee_version_not_found", `The Investor has no fee version ${versionId}.`);
    if (version.endedBy !== key) {
      const at = presentOf(configuration, now());
      const terms = await listTerms(tx, [{ investorLogin, since: at }]);
      const state = stateOf(terms.get(investorLogin)?.versions ?? [], version, at);
      if (state !== "scheduled") {
        const message = `Fee version ${versionId} is not scheduled any more: its state is ${state}.`;
        throw refuse("fee_version_not_scheduled", message, { details: { state } });
      }
      await cancelScheduled(tx, { investorLogin, versionId, key, at });
    }
    return versionMessage(version, "cancelled");
  });
}
