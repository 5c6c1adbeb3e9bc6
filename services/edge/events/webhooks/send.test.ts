import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";
import { readRetryAfter, send } from "./send.ts";
import { signedHeaders } from "./signature.ts";
import { Secret } from "#kernel/values/secret.ts";
import { pauseMs, retryMs } from "./deliver.ts";

test("an address is public unless it is of this machine, of a network, reserved, or IPv4 in another form", () => {
  const v4 =
    "127.0.0.1 0.0.0.0 10.1.2.3 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 224.0.0.1 255.255.255.255";
  const v6 = ":: ::1 fe80::1 fd00::1 ff02::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 2002:a00:1:: 2001:db8::1";
  expect([...v4.split(" "), ...v6.split(" "), "not an address"].filter(isPublicAddress)).toEqual([]);
  const open = ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"];
  expect(open.filter(isPublicAddress)).toEqual(open);
});

test.each([
  "https://127.0.0.1/",
  "https://[::1]:8443/",
  "https://0x7f.1/",
  "https://2130706433/",
  "https://[::ffff:127.0.0.1]/",
  // A name that leads to this machine is found out when it is resolved for the connection.
  "https://localhost/",
  "http://8.8.8.8/",
])("nothing is sent to %s where real money is moved", async (url) => {
  const attempt = await send({
    url,
    headers: {},
    body: "{}",
    isRehearsal: false,
    signal: new AbortController().signal,
    withinMs: 15_000,
  });
  expect(attempt).toEqual({ kind: "failed", status: undefined, error: "address_not_allowed" });
});

test("the signature is that of the example of the convention, and one for each secret", () => {
  const [known, other] = [
    new Secret("whsec_plJ3nmyCDGBKInavdOK15jsl"),
    new Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
  ];
  const message = {
    id: "msg_loFOjxBNrRLzqYUf",
    body: '{"event_type":"ping","data":{"success":true}}',
    sentAt: new Date(1_731_705_121_900),
  };
  const signature = "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=";
  expect(signedHeaders(message, [known])).toEqual({
    "webhook-id": "msg_loFOjxBNrRLzqYUf",
    "webhook-timestamp": "1731705121",
    "webhook-signature": signature,
  });
  expect(signedHeaders(message, [other, known])["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44}$/);
  expect(signedHeaders(message, [other, known])["webhook-signature"]?.split(" ")[1]).toBe(signature);
});

test("pauses grow up to an hour for an event and up to five minutes for an endpoint, and are spread", () => {
  expect([1, 2, 3, 20].map((attempts) => retryMs(attempts, 1))).toEqual([5_000, 10_000, 20_000, 3_600_000]);
  expect([1, 2, 3, 20].map((attempts) => retryMs(attempts, 0))).toEqual([2_500, 5_000, 10_000, 1_800_000]);
  expect([1, 2, 3, 4, 40].map((failures) => pauseMs(failures, 1))).toEqual([0, 0, 5_000, 10_000, 300_000]);
});

const NOW = Date.parse("2026-01-02T03:04:05Z");
const DAY_MS = 86_400_000;

test.each([
  ["120", 120_000],
  [" 120 ", 120_000],
  ["Fri, 02 Jan 2026 03:06:05 GMT", 120_000],
  ["Friday, 02-Jan-26 03:06:05 GMT", 120_000],
  ["Fri Jan  2 03:06:05 2026", 120_000],
  // It is not asked again at once.
  ["0", 5_000],
  ["Fri, 02 Jan 2026 03:04:05 GMT", 5_000],
  ["Mon, 01 Jan 1990 00:00:00 GMT", 5_000],
  ["86400", DAY_MS],
  ["86401", DAY_MS],
  ["9".repeat(400), DAY_MS],
  ["Fri, 31 Dec 9999 23:59:59 GMT", DAY_MS],
])("Retry-After %j is a wait of %i ms", (text, ms) => {
  expect(readRetryAfter(text, NOW)).toBe(ms);
});

test("other texts are no Retry-After", () => {
  const numbers = ["", "-120", "+120", "1.5", "1e3", "0x10", "120 s", "120, 240", "٣"];
  const dates = ["soon", "2026-01-02T03:06:05Z", "Fri, 02 Foo 2026 03:06:05 GMT", "Fri, 02 Jan 2026 03:06:05"];
  for (const text of [undefined, ...numbers, ...dates]) expect(readRetryAfter(text, NOW), text).toBeUndefined();
});
