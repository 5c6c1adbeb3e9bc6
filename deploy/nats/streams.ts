import { setTimeout as sleep } from "node:timers/promises";
import streams from "#streams" with { type: "json" };
import { integer, optional, secretUrls, text } from "#kernel/config-variables.ts";
import { type Environment, readConfig } from "#kernel/config.ts";
import { createLog } from "#kernel/log.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { setUpStreams } from "#kernel/nats/set-up-streams.ts";
import { readCertificates } from "#kernel/read-certificates.ts";

export const settings = {
  /** Of a user who may create and change streams: no service knows it. */
  NATS_SETUP_URL: optional(secretUrls(["nats", "tls"])),
  NATS_CA_FILE: optional(text("a file with certificates in PEM")),
  /** 3 on a cluster, 1 on a single server. */
  NATS_STREAM_REPLICAS: integer(1, 5, { whenMissing: "1" }),
};

export type SetUpTarget = {
  readonly url: string;
  /** PEM of the authorities that may have issued the broker's certificate; the system's authorities when absent. */
  readonly ca?: string | undefined;
  readonly replicas: number;
  /** How long to wait for a broker that does not answer yet; 0 when not given. */
  readonly withinMs?: number;
};

const CONNECT_AGAIN_MS = 500;

/** Creates every stream and durable consumer of the services, or repairs them. Returns a line for each. */
export async function setUpAllStreams(target: SetUpTarget): Promise<string[]> {
  await using broker = await connectWithin(target);
  return await setUpStreams(broker, Object.values(streams), { replicas: target.replicas });
}

async function connectWithin({ url, ca, withinMs = 0 }: SetUpTarget): Promise<Broker> {
  const log = createLog({ service: "set-up-streams", level: "warn" });
  for (const deadline = Date.now() + withinMs; ; await sleep(CONNECT_AGAIN_MS)) {
    try {
      return await connectNats({ url, ca, name: "set-up-streams", log });
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
  }
}

/** The broker that the operator names; undefined without NATS_SETUP_URL. */
export function readSetUpTarget(env: Environment): SetUpTarget | undefined {
  const { NATS_SETUP_URL, NATS_CA_FILE, NATS_STREAM_REPLICAS: replicas } = readConfig(settings, env);
  if (NATS_SETUP_URL === undefined) return undefined;
  return { url: NATS_SETUP_URL.reveal(), ca: readCertificates("NATS_CA_FILE", NATS_CA_FILE), replicas };
}
