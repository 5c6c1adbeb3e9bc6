import type { IncomingMessage } from "node:http";
import { v7 as uuidv7 } from "uuid";

const VALID_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id that the caller sent, if it has a valid form. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && VALID_ID.test(sent) ? sent : uuidv7();
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function traceparentOf({ headers }: Pick<IncomingMessage, "headers">): string | undefined {
  const sent = headers["traceparent"];
  return typeof sent === "string" && TRACEPARENT.test(sent) ? sent : undefined;
}
