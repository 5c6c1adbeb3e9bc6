import { reviewReason } from "../schemas/review-sets.ts";

/** A review, for the examples of the routes that show some. */
export const OPEN_REVIEW = {
  reason: "stopped",
  meaning: reviewReason.meanings.stopped,
  login: "3000001",
  amount: null,
  operation_id: null,
  reference: null,
  deal_id: null,
  group: "subscription-2c26b46b68ffc68ff99b453c",
  cause: null,
  evidence: { why: "deal_gone: deal 77", pool: { holdings: "2" } },
  actions: ["resume", "withdraw_proposal"],
  state: "open",
  opened_at: "2026-01-02T03:04:05.678000",
  decision: null,
} as const;

/** A review about a leg, likewise. */
export const REVIEW_OF_LEG = {
  ...OPEN_REVIEW,
  reason: "candidate_deal",
  meaning: reviewReason.meanings.candidate_deal,
  login: "3000003",
  amount: "250.50",
  operation_id: "4711",
  reference: "PD0F7K3M9Q2X1A",
  deal_id: 1234567,
  group: "platform-2c26b46b68ffc68ff99b453c",
  evidence: { log_before_minor: "0" },
  actions: ["confirm_applied", "confirm_not_applied"],
} as const;

/** A charge of the broker on an Investor, likewise. */
export const REVIEW_OF_CHARGE = {
  ...OPEN_REVIEW,
  reason: "external_funds_on_investor",
  meaning: reviewReason.meanings.external_funds_on_investor,
  login: "3000003",
  amount: "-15.00",
  group: "subscription-0123456789abcdef01234567",
  cause: { action: 4, comment: "Dormant fee", day: "2026-01-31" },
  evidence: { master: "3000001", moved_log_number: "12" },
  actions: ["adopt", "acknowledge"],
} as const;

/** A break, likewise. */
export const OPEN_BREAK = {
  check: "deal_matching",
  key: "operation:4711",
  login: "3000001",
  master_login: "3000001",
  at_risk: 50,
  operation_ids: ["4711"],
  deal_ids: [1234567],
  message: "Leg 4711 is applied, but its deal 1234567 is not in a log.",
  evidence: { booked_minor: "5000", logged_minor: null },
  opened_at: "2026-01-02T03:04:05.678000",
  seen_at: "2026-02-03T04:05:06.789000",
} as const;
