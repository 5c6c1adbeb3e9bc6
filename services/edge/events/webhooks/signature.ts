import { createHmac, randomBytes } from "node:crypto";
import { Secret } from "#kernel/values/secret.ts";

const PREFIX = "whsec_";
/** The convention asks for 24 to 64. */
const SECRET_BYTES = 32;

export function makeSecret(): Secret<string> {
  return new Secret(PREFIX + randomBytes(SECRET_BYTES).toString("base64"));
}

/** The headers of Standard Webhooks, with a signature by each secret: during a rotation receivers know one of two. All attempts have one id. */
export function signedHeaders(
  { id, body, sentAt }: { readonly id: string; readonly body: string; readonly sentAt: Date },
  secrets: readonly Secret<string>[],
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
