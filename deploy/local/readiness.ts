import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Answers 200 as soon as the process can do its work. */
export type Readiness = { readonly host: string; readonly port: number; readonly path: string };

const POLL_MS = 50;
const ANSWER_TIMEOUT_MS = 3_000;

/** False when it was aborted before. */
export async function isReadyAt(readiness: Readiness, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await answersOk(readiness)) return true;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function answersOk({ host, port, path }: Readiness): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host, port, path, agent: false, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}
