import type { Finding } from "#kernel/reconcile/check.ts";
import type { LegRow } from "./find-transfers.ts";

type Forged = {
  readonly id: bigint;
  readonly key: string;
  readonly legs: readonly LegRow[];
  readonly problem: string;
};

/** The evidence has what is needed to stop every account that the transfer concerns. */
export function ownershipFinding(prefix: string, { id, key, legs, problem }: Forged): Finding {
  const [first] = legs;
  const master = legs.find(({ role }) => role === "master");
  return {
    key: `${prefix}:${id}`,
    login: first?.login ?? "",
    masterLogin: master?.login ?? "",
    atRiskMinor: legs.map(sizeOf).reduce((largest, size) => (size > largest ? size : largest), 0n),
    operationIds: legs.map(({ number }) => String(number)),
    dealIds: legs.flatMap(({ dealId }) => dealId ?? []),
    message: `Transfer ${id}: ${problem}.`,
    evidence: {
      transfer_id: String(id),
      key,
      legs: legs.map(({ ordinal, login, kind, requestedMinor }) => ({
        leg: ordinal,
        login,
        kind,
        requested_minor: String(requestedMinor),
      })),
    },
  };
}

function sizeOf({ requestedMinor }: LegRow): bigint {
  return requestedMinor < 0n ? -requestedMinor : requestedMinor;
}
