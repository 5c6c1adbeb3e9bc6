import { useEffect, useRef, useState } from "preact/hooks";
import type { Client, Models } from "../../../client/index.ts";
import { aFewAtATime } from "../../data/a-few-at-a-time.ts";
import { type Read, useRead } from "../../data/use-read.ts";
import { throttled } from "../../data/throttle.ts";
import { listen } from "../../live/topics.ts";
import { clientOfSession } from "../../session/session.ts";

type Master = Models["MasterProfile"];
export type Proof = Models["Proof"];
export type MasterProof = { readonly master: Master; readonly proof: Proof | undefined; readonly problem: unknown };

export type Proofs = {
  readonly masters: Read<{ readonly items: readonly Master[]; readonly has_more: boolean }>;
  readonly rows: readonly MasterProof[];
};

const MASTERS = 100;
/** Money that is in flight arrives, and prices move, without an event. */
const UNSETTLED_EVERY_MS = 15_000;

/** The proof of each Master, and again when an event is about it. Undefined when the key may not see them. */
export function useProofs(isPermitted: boolean): Proofs | undefined {
  const masters = useRead(
    (client, signal) => client.query("listMasterProfiles", { query: { limit: MASTERS } }, { signal }),
    { keys: [], topics: ["masters"], isPermitted },
  );
  const [proofs, setProofs] = useState<ReadonlyMap<string, Pick<MasterProof, "proof" | "problem">>>(new Map());
  const latest = useRef(proofs);
  latest.current = proofs;
  const logins = masters.data?.items.map(({ mt5_login: login }) => login) ?? [];

  useEffect(() => {
    if (logins.length === 0) return undefined;
    const controller = new AbortController();
    const client = clientOfSession();
    const note = (login: string, found: Pick<MasterProof, "proof" | "problem">): void =>
      setProofs((before) => new Map(before).set(login, found));
    const read = (some: Iterable<string>): void => void readAll(client, [...some], note, controller.signal);
    const later = throttled((some: ReadonlySet<string>) => read(some));
    const ignore = listen(["mirrors", "subscriptions", "operations", "fees"], (events) => {
      const named = events.flatMap(({ master_login: login }) => (login === null ? [] : [login]));
      const shown = events.length === 0 ? logins : named.filter((login) => logins.includes(login));
      if (shown.length > 0) later.call(new Set(shown), (all) => new Set(all.flatMap((one) => [...one])));
    });
    const timer = setInterval(
      () => read(logins.filter((login) => latest.current.get(login)?.proof?.converged !== true)),
      UNSETTLED_EVERY_MS,
    );
    read(logins);
    return () => {
      controller.abort();
      clearInterval(timer);
      later.stop();
      ignore();
    };
  }, [logins.join()]);

  if (!isPermitted) return undefined;
  const rows = (masters.data?.items ?? []).map((master) => ({
    master,
    proof: proofs.get(master.mt5_login)?.proof,
    problem: proofs.get(master.mt5_login)?.problem,
  }));
  return { masters, rows };
}

async function readAll(
  client: Client,
  logins: readonly string[],
  note: (login: string, found: Pick<MasterProof, "proof" | "problem">) => void,
  signal: AbortSignal,
): Promise<void> {
  await aFewAtATime(logins, async (login) => {
    if (signal.aborted) return;
    // The sums cover all Investors on each page, so one is enough.
    const input = { path: { master_login: login }, query: { limit: 1 } };
    const found = await client.query("getProof", input, { signal }).then(
      (proof) => ({ proof, problem: undefined }),
      (problem: unknown) => ({ proof: undefined, problem }),
    );
    if (!signal.aborted) note(login, found);
  });
}
