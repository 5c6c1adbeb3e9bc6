import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";

/** An open break of the check deal_matching that names no account. */
export function aBreak(id: bigint, own: Partial<Break> = {}): Break {
  return {
    id,
    check: "deal_matching",
    key: `operation:${id}`,
    login: "",
    masterLogin: "",
    atRisk: { currencyCode: "USD", minorUnits: 50_00n },
    operationIds: ["17"],
    dealIds: [4_711n],
    message: "a deal is missing",
    evidence: "{}",
    openedAt: new Date(),
    seenAt: new Date(),
    ...own,
  };
}
