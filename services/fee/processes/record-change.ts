import assert from "node:assert/strict";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import type { NewEntries, NewEntry } from "../domain/change-timeline.ts";
import { later, presentOf, type TimelineEntry } from "../domain/timeline.ts";
import {
  type Configuration,
  findEntryByKey,
  insertEntries,
  listEntries,
  lockConfiguration,
} from "../store/configurations.ts";

type Command = {
  /** A repeated key adds nothing and gets the same answer. */
  readonly key: string;
  readonly investorLogin: string;
  readonly investorId: bigint;
  /** The instant of the command is not before this one, which the clock of another service may have set. */
  readonly notBefore?: Date;
  /** The earliest instant that the decision asks about; the present when it asks about none before the command. */
  readonly asksSince: Date;
};

export type RecordedChange = {
  readonly configuration: Configuration;
  /** The entry of the command itself. */
  readonly entry: NewEntry & Pick<TimelineEntry, "madeAt">;
  /** The timeline, at least what was before the command: what is to be known of the instants that it asks about. */
  readonly entries: readonly TimelineEntry[];
};

/**
 * Adds the entries that `decide` makes of the timeline, once per key. It is called under the lock of the configuration, so commands on one
 * Investor have a sequence, and so have their instants. Throws, and adds nothing, when the key was used for another Investor.
 */
export async function recordChange(
  { pool, now }: Deps,
  { key, investorLogin, investorId, notBefore, asksSince }: Command,
  decide: (entries: readonly TimelineEntry[], at: Date, tx: Transaction) => NewEntries | Promise<NewEntries>,
): Promise<RecordedChange> {
  return await inTransaction(pool, async (tx) => {
    const configuration = await lockConfiguration(tx, { investorLogin, investorId, at: now() });
    const known = await findEntryByKey(tx, key);
    if (known !== undefined) {
      assert.equal(known.investorLogin, investorLogin, "the key was used for another Investor");
    }
    const entries = await listEntries(tx, { investorLogin, since: asksSince });
    if (known !== undefined) return { configuration, entry: known, entries };
    const present = presentOf(entries, now());
    const madeAt = later(present, notBefore ?? present);
    const added = await decide(entries, madeAt, tx);
    await insertEntries(tx, { key, investorLogin, entries: added, madeAt });
    return { configuration, entry: { ...added[0], madeAt }, entries };
  });
}
