import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type Attempt, AttemptState } from "#proto/pamm/platform/v1/platform.ts";
import { AT, cents, LATER, sample } from "./values.ts";

const after = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

export const anAttempt = sample<Attempt>({
  transferId: 4711n,
  key: "funding:deposit:17",
  login: "3000003",
  kind: MovementKind.DEPOSIT,
  amount: cents(250_50n),
  number: 2,
  reference: "PD0F7K3M9Q2X2B",
  comment: "PD0F7K3M9Q2X2B CRM-2026-0001",
  state: AttemptState.APPLIED,
  grantedAt: LATER,
  permitExpiresAt: after(LATER, 5_000),
  endedAt: after(LATER, 1_000),
  answerCode: 0,
  answer: "",
  dealId: 1_234_567n,
  searches: 0,
  searchedAt: undefined,
});

/** Its answer was lost, and two readings of the history had no deal of it. */
export function anAbsentAttempt(): Attempt {
  return anAttempt({
    number: 1,
    reference: "PD0F7K3M9Q2X1A",
    comment: "PD0F7K3M9Q2X1A CRM-2026-0001",
    state: AttemptState.ABSENT,
    grantedAt: AT,
    permitExpiresAt: after(AT, 5_000),
    endedAt: after(AT, 2_000),
    answerCode: undefined,
    answer: "connection_lost",
    dealId: 0n,
    searches: 2,
    searchedAt: after(AT, 307_000),
  });
}
