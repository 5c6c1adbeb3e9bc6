import * as account from "#proto/pamm/account/v1/account.ts";
import * as accountEvents from "#proto/pamm/account/v1/events.ts";
import * as error from "#proto/pamm/common/v1/error.ts";
import * as feed from "#proto/pamm/common/v1/feed.ts";
import * as idempotencyKey from "#proto/pamm/common/v1/idempotency_key.ts";
import * as labels from "#proto/pamm/common/v1/labels.ts";
import * as ownership from "#proto/pamm/common/v1/ownership.ts";
import * as votes from "#proto/pamm/common/v1/votes.ts";
import * as reconciliation from "#proto/pamm/common/v1/reconciliation.ts";
import * as review from "#proto/pamm/common/v1/review.ts";
import * as money from "#proto/pamm/common/v1/money.ts";
import * as subjects from "#proto/pamm/common/v1/subjects.ts";
import * as state from "#proto/pamm/common/v1/state.ts";
import * as edgeEvents from "#proto/pamm/edge/v1/events.ts";
import * as fee from "#proto/pamm/fee/v1/fee.ts";
import * as funding from "#proto/pamm/funding/v1/funding.ts";
import * as movement from "#proto/pamm/platform/v1/movement.ts";
import * as platform from "#proto/pamm/platform/v1/platform.ts";
import * as subscriptionEvents from "#proto/pamm/subscription/v1/events.ts";
import * as subscription from "#proto/pamm/subscription/v1/subscription.ts";

const GENERATED = [
  account,
  accountEvents,
  error,
  feed,
  idempotencyKey,
  labels,
  money,
  ownership,
  reconciliation,
  review,
  state,
  subjects,
  votes,
  edgeEvents,
  fee,
  funding,
  movement,
  platform,
  subscriptionEvents,
  subscription,
];

export type GeneratedMessage = {
  readonly $type: string;
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
};

/** Excludes map entries, which are nested messages. */
const TOP_LEVEL = /^pamm\.[a-z]+\.v\d+\.[A-Z]\w*$/;

/** Every message that the services read and write, by full name. */
export function generatedMessages(): ReadonlyMap<string, GeneratedMessage> {
  const exported = GENERATED.flatMap((module) => Object.values(module) as unknown[]);
  return new Map(exported.filter(isMessage).map((message) => [message.$type, message]));
}

function isMessage(value: unknown): value is GeneratedMessage {
  return typeof value === "object" && value !== null && "$type" in value && TOP_LEVEL.test(String(value.$type));
}
