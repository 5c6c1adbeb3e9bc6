import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { callContext } from "#kernel/contract/context.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { PlatformServiceService, type TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import { recordedProcess } from "../../../deploy/local/process-id.ts";
import { pidFile } from "../../../deploy/local/state.ts";
import { environmentOfProcess } from "../../bench/system/environment.ts";
import type { RunningSystem } from "./system.ts";

/** The variables of a running process of the system, as root of its machine reads them. */
function environmentOf({ stateDir }: RunningSystem, name: string): Readonly<Record<string, string>> {
  return environmentOfProcess(name, recordedProcess(pidFile(stateDir, name)));
}

type Forged = {
  readonly as: ServiceName;
  readonly key: string;
  readonly login: string;
  readonly minor: bigint;
  readonly kind?: MovementKind;
};

/** A client of platform with the certificate of a service. */
function platformAs(system: RunningSystem, name: ServiceName) {
  const file = (suffix: string): string => readFileSync(join(system.stateDir, "secret/tls", suffix), "utf8");
  const identity = { name, ca: file("ca.pem"), cert: file(`${name}.pem`), key: file(`${name}-key.pem`) };
  const address = `127.0.0.1:${environmentOf(system, "platform")["GRPC_PORT"]}`;
  return grpcClient(address, { contract: PlatformServiceService, service: "platform", identity });
}

/** Requests a transfer, by default a deposit, from platform with the certificate of a service, which knows nothing of it. */
export async function forgeTransfer(
  system: RunningSystem,
  { as, key, login, minor, kind = MovementKind.DEPOSIT }: Forged,
): Promise<TransferResult> {
  using platform = platformAs(system, as);
  const amount = { currencyCode: "USD", minorUnits: minor };
  const request = {
    key,
    lockOwner: "",
    legs: [{ login, kind, amount }],
    upTo: undefined,
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
  return await platform.transfer(request, callContext({ caller: as, withinMs: 10_000 }));
}

/** Runs a statement in the schema of a service, with its own role. */
export async function changeTables(system: RunningSystem, service: ServiceName, statement: string): Promise<void> {
  const connectionString = environmentOf(system, service)[`${service.toUpperCase()}_DATABASE_URL`];
  const client = new pg.Client({ connectionString, options: `-c search_path=${service}` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
