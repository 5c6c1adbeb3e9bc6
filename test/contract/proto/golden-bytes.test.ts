import { expect, test } from "vitest";
import { asJson, readGolden } from "./golden.ts";
import { generatedMessages } from "./messages.ts";
import { contractMessages } from "./sample.ts";

const FIELD_OF_A_LATER_VERSION = Buffer.from([0xc2, 0xbb, 0x01, 0x03, 0x6e, 0x65, 0x77]); // field 3000, text "new"

const golden = readGolden();
const generated = generatedMessages();

test("every message of the contracts is generated and has golden bytes", () => {
  const names = contractMessages().map(({ typeName }) => typeName);

  expect(names.length).toBeGreaterThan(90);
  expect([...generated.keys()].toSorted()).toEqual(names);
  expect([...golden.keys()].toSorted()).toEqual(names);
});

test.each([...golden])("golden bytes of %s still decode to the recorded value", (type, { bytes, value }) => {
  expect(asJson(decode(type, Buffer.from(bytes, "hex")))).toEqual(value);
});

test.each([...golden])("%s is encoded to the same bytes as by another encoder", (type, { bytes }) => {
  const message = generated.get(type);
  const written = message?.encode(message.decode(Buffer.from(bytes, "hex"))).finish();

  expect(Buffer.from(written ?? []).toString("hex")).toBe(bytes);
});

test.each([...golden])("%s with a field of a later version decodes to the recorded value", (type, { bytes, value }) => {
  const later = Buffer.concat([Buffer.from(bytes, "hex"), FIELD_OF_A_LATER_VERSION]);

  expect(asJson(decode(type, later))).toEqual(value);
});

function decode(type: string, bytes: Uint8Array): unknown {
  return generated.get(type)?.decode(bytes);
}
