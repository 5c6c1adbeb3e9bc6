import { concurrently } from "#kernel/batches/concurrently.ts";
import { callContext } from "#kernel/contract/context.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { type Identity, readIdentity } from "#kernel/certificates/identity.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type PlatformServiceService, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { owningClient } from "#test/support/owning-client.ts";
import { environmentOf } from "../system/environment.ts";
import type { System } from "../system/start-system.ts";
import { type LargePool, loginOf } from "./sizes.ts";

/** Half of what one process of platform has in progress. */
const CALLS_AT_ONCE = 128;
const CALL_MS = 60_000;
const AMOUNT_MINOR = 100n;
const MAX_TRIES = 3;

type Deposits = { readonly pools: readonly LargePool[]; readonly count: number };

/** Deposits to each Master's Investors in turn, through the contract of platform: each with its deal, as funding asks for them. */
export async function depositMany(system: System, { pools, count }: Deposits): Promise<void> {
  const key = `funding:deposit:${crypto.randomUUID()}`;
  using platform = await owningPlatform(system);
  const indexes = Array.from({ length: count }, (_, index) => index);
  await concurrently(indexes, CALLS_AT_ONCE, (index) =>
    deposit(platform, requestOf(`${key}:${index}`, investorOf(pools, index))),
  );
}

/** A client of platform, as the other services have: it calls as the service that may. The service must run. */
async function owningPlatform(system: System): Promise<Client<PlatformServiceService> & Disposable> {
  const { GRPC_HOST: host, GRPC_PORT: port } = environmentOf(system, "platform");
  return await owningClient(`${host}:${port}`, (name: ServiceName): Identity => {
    const { PAMM_TLS_CA_FILE = "", PAMM_TLS_CERT_FILE = "", PAMM_TLS_KEY_FILE = "" } = environmentOf(system, name);
    return readIdentity(name, { PAMM_TLS_CA_FILE, PAMM_TLS_CERT_FILE, PAMM_TLS_KEY_FILE });
  });
}

/** A permit that a busy machine has not used in time is refused: the deposit is requested again, under a key of its own. */
async function deposit(platform: Client<PlatformServiceService>, request: Request): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const key = tries === 1 ? request.key : `${request.key}:${tries}`;
    const result = await platform.transfer({ ...request, key }, call());
    if (result.state === TransferState.APPLIED) return;
    if (result.refusalCode !== "account_busy" || tries === MAX_TRIES) {
      throw new Error(`a deposit was not applied: ${JSON.stringify(result, text)}`);
    }
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
