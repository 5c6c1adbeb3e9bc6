import { PERMISSIONS } from "../../../services/platform/permissions.ts";
import { concurrently } from "#kernel/concurrently.ts";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { PlatformServiceService, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { serviceClient } from "../system/services.ts";
import type { System } from "../system/start-system.ts";
import { type LargePool, loginOf } from "./sizes.ts";

/** Transfers of one call, and calls at the same time. */
const BATCH = 500;
const BATCHES_AT_ONCE = 2;
const CALL_MS = 60_000;
const AMOUNT_MINOR = 100n;
const MAX_TRIES = 3;

type Deposits = { readonly pools: readonly LargePool[]; readonly count: number };

/** Deposits to each Master's Investors in turn, through the contract of platform: each with its deal, as funding asks for them. */
export async function depositInBatches(system: System, { pools, count }: Deposits): Promise<void> {
  const key = `bench:deposit:${crypto.randomUUID()}`;
  const target = { contract: PlatformServiceService, permissions: PERMISSIONS } as const;
  using platform = await serviceClient(system, "platform", target);
  const batches = Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => batch);
  await concurrently(batches, BATCHES_AT_ONCE, async (batch) => {
    const size = Math.min(BATCH, count - batch * BATCH);
    const requests = Array.from({ length: size }, (_, offset) => {
      const index = batch * BATCH + offset;
      return requestOf(`${key}:${index}`, investorOf(pools, index));
    });
    await depositAll(platform, requests);
  });
}

/** A permit that a busy machine has not used in time is refused: that deposit is requested again, under a key of its own. */
async function depositAll(
  platform: Client<typeof PlatformServiceService>,
  requests: readonly Request[],
): Promise<void> {
  let waiting = requests;
  for (let tries = 1; waiting.length > 0; tries += 1) {
    const { answers } = await platform.transferBatch({ requests: [...waiting] }, call());
    waiting = waiting.flatMap((request, index) => {
      const { answer } = answers[index] ?? {};
      if (answer?.$case === "result" && answer.value.state === TransferState.APPLIED) return [];
      const isBusy = answer?.$case === "result" && answer.value.refusalCode === "account_busy";
      if (!isBusy || tries === MAX_TRIES) throw new Error(`a deposit was not applied: ${JSON.stringify(answer, text)}`);
      return [{ ...request, key: `${request.key}:${tries}` }];
    });
  }
}

/** Each Master in turn, and each of its Investors in turn. */
function investorOf(pools: readonly LargePool[], index: number): string {
  const { first, last } = pools[index % pools.length] ?? { first: 0, last: 0 };
  return loginOf("investor", first + (Math.floor(index / pools.length) % (last - first + 1)));
}

type Request = ReturnType<typeof requestOf>;

function requestOf(key: string, login: string) {
  return {
    key,
    lockOwner: "",
    legs: [{ login, kind: MovementKind.DEPOSIT, amount: { currencyCode: "USD", minorUnits: AMOUNT_MINOR } }],
    upTo: undefined,
    enqueue: false,
    comment: "backlog",
    sendBefore: undefined,
    releaseLock: false,
  };
}

function call() {
  return callContext({ caller: "bench", withinMs: CALL_MS, commandId: crypto.randomUUID() });
}

function text(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
