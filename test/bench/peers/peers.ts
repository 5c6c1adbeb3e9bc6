/** The programs that the service is compared to. Each does the durable work of a deposit as the service does, without sets. */
export type PeerName = "one process" | "NestJS" | "Moleculer";

type Peer = {
  /** Part of a database name. */
  readonly slug: string;
  /** Scripts in this folder, by process, in the order in which they are started; the last one answers HTTP. */
  readonly scripts: Readonly<Record<string, string>>;
};

export const PEERS: Readonly<Record<PeerName, Peer>> = {
  "one process": { slug: "one_process", scripts: { process: "one-process/main.ts" } },
  NestJS: { slug: "nest", scripts: { worker: "nest/worker.ts", gateway: "nest/gateway.ts" } },
  Moleculer: { slug: "moleculer", scripts: { worker: "moleculer/worker.ts", gateway: "moleculer/gateway.ts" } },
};
