import type { DepartureKind } from "./decide-departure.ts";
import { exitKey } from "./lifecycle.ts";

/** A withdrawal by its operation, or an exit by the subscription that it ends. */
export type Identified = {
  readonly kind: DepartureKind;
  readonly operationId: string;
  readonly subscriptionId?: bigint | null;
};

/** Key of what a departure is to collect and pay: its fees, its reserve and its payout. */
export function departureKey({ kind, operationId, subscriptionId }: Identified): string {
  return kind === "EXIT" ? exitKey(subscriptionId ?? 0n) : withdrawalKey(operationId);
}

export function withdrawalKey(operationId: string): string {
  return `withdrawal:${operationId}`;
}

/** The operation of a key of a withdrawal; undefined for other keys. */
export function operationOfKey(key: string): string | undefined {
  return /^withdrawal:(.+)$/.exec(key)?.[1];
}

/** Last part of the unique keys of the fees that it collects. */
export function feeSuffixOf({ kind, operationId, subscriptionId }: Identified): string {
  return kind === "EXIT" ? `UA${subscriptionId}` : `WD${operationId}`;
}
