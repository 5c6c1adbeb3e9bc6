import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { MINUTE_MS } from "#kernel/duration.ts";
import type { Log } from "#kernel/log.ts";

/** A caller that has not read its answer by then is cut off: it holds a slot. */
const READ_WITHIN_MS = 2 * MINUTE_MS;

type Work = {
  readonly request: Pick<FastifyRequest, "id" | "routeOptions">;
  readonly log: Log;
  readonly leave: () => void;
};

/** An answer that is written while its caller reads it. */
export function streamAnswer(parts: AsyncGenerator<string>, { request, log, leave }: Work): Readable {
  const text = Readable.from(parts, { objectMode: false });
  const timer = setTimeout(() => text.destroy(new Error("the caller reads too slowly")), READ_WITHIN_MS);
  text.once("close", () => {
    clearTimeout(timer);
    leave();
  });
  // The status has left already; the connection is cut, so that the caller does not take a part for the whole.
  text.on("error", (error) => {
    log.warn("answer aborted, connection closed", { request_id: request.id, route: request.routeOptions.url, error });
  });
  return text;
}
