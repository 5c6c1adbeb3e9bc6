import { moneyFromProto } from "#kernel/contract/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import type { AllocationEntry, AllocationRow } from "#proto/pamm/subscription/v1/subscription.ts";
import type { JournalEntry, JournalPart } from "../domain/journal.ts";

/** Thrown for invalid allocations: nothing more of the Master is read until the manual review is decided. */
export class UnreadableJournal extends Error {
  override readonly name = "UnreadableJournal";
}

/** An entry without a required field is never completed by a guess: it stops its Master. */
export function entryOf({ number, entry }: AllocationEntry): JournalEntry {
  switch (entry?.$case) {
    case "result": {
      const { dealId, dealAt, result } = entry.value;
      if (dealAt === undefined) throw new UnreadableJournal(`entry ${number} has no time`);
      return { kind: "RESULT", number, dealId, dealAt, result: minorOf(number, result) };
    }
    case "week": {
      const { periodStart, cutOff, markedAt } = entry.value;
      if (periodStart === undefined || cutOff === undefined || periodStart >= cutOff) {
        throw new UnreadableJournal(`entry ${number} has no valid period`);
      }
      return { kind: "WEEK", number, periodStart, cutOff, markedAt };
    }
    case undefined:
      throw new UnreadableJournal(`entry ${number} is neither a result nor a week`);
  }
}

export function partOf({ number, subscriptionId, investorLogin, amountMinor, floatingE8 }: AllocationRow): JournalPart {
  return { number, subscriptionId, investorLogin, amount: amountMinor, floating: floatingE8 };
}

function minorOf(number: bigint, money: Parameters<typeof moneyFromProto>[0]): bigint {
  try {
    return moneyFromProto(money).minor;
  } catch (error) {
    throw error instanceof Refusal ? new UnreadableJournal(`entry ${number}: ${error.message}`) : error;
  }
}
